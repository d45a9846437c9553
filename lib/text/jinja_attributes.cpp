// SPDX-License-Identifier: Apache-2.0
// Attributes, items and slices.
#include <algorithm>

#include "base/error.h"
#include "text/jinja_chars.h"
#include "text/jinja_engine.h"
#include "text/jinja_loop.h"
#include "text/jinja_operators.h"
#include "text/unicode.h"

namespace netcl::text::jinja {

namespace {

using Call = std::function<Value(Engine&, Arguments&)>;

Value method(const Value& self, std::string_view name, Call call) {
  return make_function(std::string(name), std::move(call), self.level() + 1);
}

// index() and count() of lists and tuples.
std::optional<Value> sequence_method(const Value& self, std::string_view name) {
  if (self.as_sequence().is_group && (name == "grouper" || name == "list")) {
    return self.items()[name == "list" ? 1 : 0];
  }
  if (name == "index") {
    return method(self, name, [self](Engine& engine, Arguments& arguments) {
      const Bound bound = bind("index", arguments, {"value", "start", "stop"}, 1);
      const std::vector<Value>& items = self.items();
      const Int count = static_cast<Int>(items.size());
      const auto border = [&](size_t i, Int otherwise) {
        const Int at = bound[i] ? index_of(*bound[i], "an index") : otherwise;
        return std::clamp(at < 0 ? at + count : at, Int{0}, count);
      };
      const Int stop = border(2, count);
      for (Int i = border(1, 0); i < stop; ++i) {
        if (equal(items[static_cast<size_t>(i)], *bound[0], engine.budget)) {
          return Value::integer(i);
        }
      }
      throw Failure("the value is not in the " + type_name(self));
    });
  }
  if (name == "count") {
    return method(self, name, [self](Engine& engine, Arguments& arguments) {
      const Bound bound = bind("count", arguments, {"value"}, 1);
      Int count = 0;
      for (const Value& item : self.items()) {
        count += equal(item, *bound[0], engine.budget) ? 1 : 0;
      }
      return Value::integer(count);
    });
  }
  if (name == "copy" && self.is(Kind::kList)) {
    return method(self, name, [self](Engine&, Arguments&) { return self; });
  }
  return std::nullopt;
}

std::optional<Value> dict_method(const Value& self, std::string_view name) {
  if (name == "get") {
    return method(self, name, [self](Engine& engine, Arguments& arguments) {
      const Bound bound = bind("get", arguments, {"key", "default"}, 1);
      const Value* found = self.as_dict().find(*bound[0], engine.budget);
      return found != nullptr ? *found : bound[1].value_or(Value::none());
    });
  }
  if (name == "items" || name == "keys" || name == "values") {
    const View::What what = name == "items"  ? View::What::kItems
                            : name == "keys" ? View::What::kKeys
                                             : View::What::kValues;
    return method(self, name, [self, what](Engine&, Arguments& arguments) {
      bind("items, keys or values", arguments, {});
      auto view = std::make_shared<View>();
      view->charge.set(sizeof(View) + 32);
      view->dict = self;
      view->what = what;
      return Value(Kind::kView, std::move(view));
    });
  }
  if (name == "copy") {
    return method(self, name, [self](Engine&, Arguments&) { return self; });
  }
  return std::nullopt;
}

std::optional<Value> number_attribute(const Value& self, std::string_view name) {
  if (name == "real" || (name == "numerator" && self.is_integral())) {
    return self.is_integral() ? Value::integer(self.as_int(), self.trusted()) : self;
  }
  if (name == "imag") {
    return self.is_integral() ? Value::integer(0) : Value::real(0);
  }
  if (name == "denominator" && self.is_integral()) {
    return Value::integer(1);
  }
  if (name == "is_integer" && self.is(Kind::kFloat)) {
    return method(self, name, [self](Engine&, Arguments&) {
      return Value::boolean(self.as_float() ==
                            static_cast<double>(static_cast<int64_t>(self.as_float())));
    });
  }
  return std::nullopt;
}

// What Python's getattr() finds; nothing where it raises AttributeError.
std::optional<Value> find_attribute(const Value& value, std::string_view name, Engine& engine) {
  switch (value.kind()) {
    case Kind::kUndefined:
      throw Failure(value.undefined_message());
    case Kind::kString:
      return string_method(value, name);
    case Kind::kList:
    case Kind::kTuple:
      return sequence_method(value, name);
    case Kind::kDict:
      return dict_method(value, name);
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return number_attribute(value, name);
    case Kind::kNamespace: {
      const Value* field = value.as_namespace().find(name);
      return field != nullptr ? std::optional<Value>(*field) : std::nullopt;
    }
    case Kind::kLoop:
      return value.as_loop().attribute(name, engine);
    case Kind::kFunction:
      return value.as_function().attribute ? value.as_function().attribute(name) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<Value> find_element(const Value& value, Int index, Budget& budget) {
  budget.step(value.is_string() ? value.bytes().size() / 64 : 0);
  const auto count = static_cast<Int>(value.is(Kind::kRange) ? value.as_range().count()
                                                             : static_cast<Int>(*length(value)));
  const Int at = index < 0 ? index + count : index;
  if (at < 0 || at >= count) {
    return std::nullopt;
  }
  if (value.is(Kind::kRange)) {
    const Range& range = value.as_range();
    return Value::integer(range.start + at * range.step, value.trusted());
  }
  if (value.is_sequence()) {
    return value.items()[static_cast<size_t>(at)];
  }
  return get_slice(value, Value::integer(at), Value::integer(at + 1), Value::none(), budget);
}

bool is_hashable(const Value& value) {
  if (value.is(Kind::kTuple)) {
    return std::all_of(value.items().begin(), value.items().end(), is_hashable);
  }
  return !value.is(Kind::kList) && !value.is(Kind::kDict) &&
         (!value.is(Kind::kView) || value.as_view().what == View::What::kValues);
}

// What Python's value[key] finds; nothing where it raises.
std::optional<Value> find_item(const Value& value, const Value& key, Budget& budget) {
  switch (value.kind()) {
    case Kind::kUndefined:
      throw Failure(value.undefined_message());
    case Kind::kDict: {
      if (!is_hashable(key)) {
        return std::nullopt;
      }
      const Value* found = value.as_dict().find(key, budget);
      return found != nullptr ? std::optional<Value>(*found) : std::nullopt;
    }
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      return key.is_integral() ? find_element(value, key.as_int(), budget) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string described(const Value& value) {
  return value.is_none() ? "None" : "a value of type " + type_name(value);
}

std::optional<Int> slice_part(const Value& value) {
  return value.is_none() ? std::nullopt : std::optional<Int>(index_of(value, "a part of a slice"));
}

struct SliceRange {
  Int start, stop, step;
};

// As slice.indices() of Python gives them for `count` elements.
SliceRange slice_range(Int count, const Value& start_value, const Value& stop_value,
                       const Value& step_value) {
  const Int step = slice_part(step_value).value_or(1);
  if (step == 0) {
    throw Failure("the step of a slice cannot be zero");
  }
  const Int low = step < 0 ? -1 : 0;
  const Int high = step < 0 ? count - 1 : count;
  const auto border = [&](const Value& value, Int otherwise) {
    const std::optional<Int> given = slice_part(value);
    if (!given) {
      return otherwise;
    }
    return std::clamp(*given < 0 ? *given + count : *given, low, high);
  };
  return {border(start_value, step < 0 ? high : 0), border(stop_value, step < 0 ? low : high),
          step};
}

template <typename Visit>
void for_each_index(const SliceRange& range, const Visit& visit) {
  for (Int i = range.start; range.step > 0 ? i < range.stop : i > range.stop;) {
    visit(static_cast<size_t>(i));
    const Int left = range.step > 0 ? range.stop - i : i - range.stop;
    if ((range.step > 0 ? range.step : -range.step) >= left) {
      break;  // and i cannot overflow
    }
    i += range.step;
  }
}

// Byte at which the character `index` begins, counted from `at`, where that many come.
size_t skip_characters(const std::string& bytes, size_t at, size_t index) {
  for (; index > 0; --index) {
    at += decode_utf8(bytes, at).byte_count;
  }
  return at;
}

Value string_slice(const Value& value, const Value& start, const Value& stop, const Value& step,
                   Budget& budget) {
  const Text& text = value.text();
  budget.step(1 + text.size() / 64);
  const SliceRange range = slice_range(static_cast<Int>(*length(value)), start, stop, step);
  Text out;
  if (range.step == 1) {
    if (range.start < range.stop) {
      const auto first = static_cast<size_t>(range.start);
      const size_t begin = skip_characters(text.bytes(), 0, first);
      out = text.slice(
          begin, skip_characters(text.bytes(), begin, static_cast<size_t>(range.stop) - first));
    }
  } else {
    budget.made(text.size() * sizeof(size_t));
    const std::vector<size_t> begins = character_begins(text.bytes());
    for_each_index(range, [&](size_t i) { out.append(text, begins[i], begins[i + 1]); });
  }
  budget.made(out.memory());
  return Value::string(std::move(out), value.as_string().markup);
}

}  // namespace

Value get_attribute(const Value& value, std::string_view name, Engine& engine) {
  if (std::optional<Value> found = find_attribute(value, name, engine)) {
    return std::move(*found);
  }
  if (value.is(Kind::kDict)) {
    if (const Value* item = value.as_dict().find(name)) {
      return *item;
    }
  }
  return Value::undefined(described(value) + " has no attribute " + base::quote(name));
}

Value get_item(const Value& value, const Value& key, Engine& engine) {
  if (std::optional<Value> found = find_item(value, key, engine.budget)) {
    return std::move(*found);
  }
  if (key.is_string()) {
    if (std::optional<Value> found = find_attribute(value, key.bytes(), engine)) {
      return std::move(*found);
    }
    return Value::undefined(described(value) + " has no attribute " + base::quote(key.bytes()));
  }
  const Text shown = to_repr(key, engine.budget);
  return Value::undefined(described(value) + " has no element " +
                          base::quote(shown.bytes().substr(0, 200)));
}

Value get_slice(const Value& value, const Value& start, const Value& stop, const Value& step,
                Budget& budget) {
  if (value.is_string()) {
    return string_slice(value, start, stop, step, budget);
  }
  if (value.is_sequence()) {
    const std::vector<Value>& all = value.items();
    const SliceRange range = slice_range(static_cast<Int>(all.size()), start, stop, step);
    size_t count = 0;
    for_each_index(range, [&](size_t) { ++count; });
    budget.made(count * sizeof(Value));
    std::vector<Value> items;
    items.reserve(count);
    for_each_index(range, [&](size_t i) { items.push_back(all[i]); });
    return value.is(Kind::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
  }
  if (value.is(Kind::kRange)) {
    const Range& range = value.as_range();
    const SliceRange part = slice_range(range.count(), start, stop, step);
    return Value::range(range.start + part.start * range.step, range.start + part.stop * range.step,
                        range.step * part.step, value.trusted());
  }
  throw Failure(value.is_undefined() ? value.undefined_message()
                                     : type_name(value) + " cannot be sliced");
}

}  // namespace netcl::text::jinja
