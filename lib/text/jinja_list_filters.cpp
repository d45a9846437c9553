// SPDX-License-Identifier: Apache-2.0
// Filters that go through values.
#include <memory>

#include "base/error.h"
#include "text/jinja_filters.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

// Elements from the last one on; throws Failure for what only goes forwards.
std::vector<Value> backwards(Engine& engine, const Value& input, std::string_view user) {
  const bool is_reversible = input.is_string() || input.is_sequence() || input.is(Kind::kDict) ||
                             input.is(Kind::kRange) || input.is(Kind::kView) ||
                             input.is_undefined();
  if (!is_reversible) {
    throw Failure("'" + std::string(user) + "' does not work on a value of type " +
                  type_name(input));
  }
  std::vector<Value> items = elements(input, engine.budget);
  return {std::make_move_iterator(items.rbegin()), std::make_move_iterator(items.rend())};
}

Value first(Engine&, const Value& input, Arguments& arguments) {
  bind("first", arguments, {});
  const std::optional<Value> item = iterate(input)();
  return item ? *item : Value::undefined("there is no first item: the sequence is empty");
}

Value last(Engine& engine, const Value& input, Arguments& arguments) {
  bind("last", arguments, {});
  if (input.is_sequence() && !input.items().empty()) {
    return input.items().back();
  }
  const std::vector<Value> items = backwards(engine, input, "last");
  return items.empty() ? Value::undefined("there is no last item: the sequence is empty")
                       : items.front();
}

Value count(Engine& engine, const Value& input, Arguments& arguments) {
  bind("length", arguments, {});
  engine.budget.step(input.is_string() ? input.bytes().size() / 64 : 0);
  const std::optional<size_t> size = length(input);
  if (!size) {
    throw Failure("a value of type " + type_name(input) + " has no length");
  }
  return Value::integer(static_cast<Int>(*size));
}

Value list(Engine& engine, const Value& input, Arguments& arguments) {
  bind("list", arguments, {});
  return Value::list(elements(input, engine.budget));
}

Value reverse(Engine& engine, const Value& input, Arguments& arguments) {
  bind("reverse", arguments, {});
  if (input.is_string()) {
    return get_slice(input, Value::none(), Value::none(), Value::integer(-1), engine.budget);
  }
  if (input.is(Kind::kIterator)) {
    std::vector<Value> items = elements(input, engine.budget);
    return Value::list({items.rbegin(), items.rend()});
  }
  const Value items = Value::list(backwards(engine, input, "reverse"));
  return Value::iterator(iterate(items), items.level());
}

Value join(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("join", arguments, {"d", "attribute"});
  const Text separator = bound[0] ? to_str(*bound[0], engine.budget) : Text();
  const Getter get = make_getter(engine, bound[1].value_or(Value::none()));
  Text out;
  bool is_first = true;
  const auto next = iterate(input);
  while (const std::optional<Value> item = next()) {
    engine.budget.step();
    if (!is_first) {
      out.append(separator);
    }
    is_first = false;
    out.append(to_str(get(*item), engine.budget));
  }
  return Value::string(std::move(out));
}

Value default_value(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("default", arguments, {"default_value", "boolean"});
  const bool is_missing = input.is_undefined() ||
                          (given_truth(bound[1], engine.budget) && !truth(input, engine.budget));
  return is_missing ? bound[0].value_or(Value::string("", kTrusted)) : input;
}

Value items(Engine&, const Value& input, Arguments& arguments) {
  bind("items", arguments, {});
  if (input.is_undefined()) {
    return Value::iterator([] { return std::optional<Value>(); }, 0);
  }
  if (!input.is(Kind::kDict)) {
    throw Failure("'items' needs a dict, not " + type_name(input));
  }
  auto view = std::make_shared<View>();
  view->charge.set(sizeof(View) + 32);
  view->dict = input;
  view->what = View::What::kItems;
  return Value::iterator(iterate(Value(Kind::kView, std::move(view))), input.level() + 1);
}

Value attr(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("attr", arguments, {"name"}, 1);
  const std::string& name = string_of(*bound[0], "'attr'");
  if (input.is(Kind::kDict) && name != "get" && name != "items" && name != "keys" &&
      name != "values" && name != "copy") {
    return Value::undefined("a value of type dict has no attribute " + base::quote(name));
  }
  return get_attribute(input, name, engine);
}

// The name of a filter or test, and the arguments that go with it.
std::string take_name(Arguments& arguments, std::string_view user) {
  std::string name = string_of(arguments.positional[0], user);
  arguments.positional.erase(arguments.positional.begin());
  return name;
}

int level_of(const Value& input, const Arguments& arguments) {
  int level = input.level();
  for (const Value& value : arguments.positional) {
    level = std::max(level, value.level());
  }
  for (const auto& [name, value] : arguments.named) {
    level = std::max(level, value.level());
  }
  return level;
}

Value map(Engine& engine, const Value& input, Arguments& arguments) {
  const int level = level_of(input, arguments);
  const size_t bytes = 2 * arguments.memory();  // of the filter's own, and those handed to it
  Getter change;
  if (arguments.positional.empty()) {
    const Bound bound = bind("map", arguments, {"attribute", "default"}, 1);
    change = make_getter(engine, *bound[0], bound[1]);
  } else {
    const std::string name = take_name(arguments, "'map'");
    change = [&engine, name, arguments](const Value& value) {
      Arguments copy = arguments;
      return engine.apply_filter(name, value, copy);
    };
  }
  if (!truth(input, engine.budget)) {
    return Value::iterator([] { return std::optional<Value>(); }, level + 1);
  }
  return Value::iterator(
      [&engine, next = iterate(input), change]() -> std::optional<Value> {
        engine.budget.step();
        const std::optional<Value> item = next();
        return item ? std::optional<Value>(change(*item)) : std::nullopt;
      },
      level + 1, bytes);
}

// select, reject, selectattr and rejectattr.
template <bool kWanted, bool kHasAttribute>
Value select(Engine& engine, const Value& input, Arguments& arguments) {
  const int level = level_of(input, arguments);
  const size_t bytes = 2 * arguments.memory();
  Getter get = [](const Value& value) { return value; };
  if constexpr (kHasAttribute) {
    if (arguments.positional.empty()) {
      throw Failure("'selectattr' and 'rejectattr' need the name of an attribute");
    }
    get = make_getter(engine, arguments.positional[0]);
    arguments.positional.erase(arguments.positional.begin());
  }
  std::function<bool(const Value&)> holds = [&engine](const Value& value) {
    return truth(value, engine.budget);
  };
  if (!arguments.positional.empty()) {
    const std::string name = take_name(arguments, "'select' or 'reject'");
    holds = [&engine, name, arguments](const Value& value) {
      Arguments copy = arguments;
      return engine.apply_test(name, value, copy);
    };
  }
  if (!truth(input, engine.budget)) {
    return Value::iterator([] { return std::optional<Value>(); }, level + 1);
  }
  return Value::iterator(
      [&engine, next = iterate(input), get, holds]() -> std::optional<Value> {
        while (std::optional<Value> item = next()) {
          engine.budget.step();
          if (holds(get(*item)) == kWanted) {
            return item;
          }
        }
        return std::nullopt;
      },
      level + 1, bytes);
}

}  // namespace

const FilterTable& list_filters() {
  static const FilterTable table = {
      {"first", first},
      {"last", last},
      {"length", count},
      {"count", count},
      {"list", list},
      {"reverse", reverse},
      {"join", join},
      {"default", default_value},
      {"d", default_value},
      {"items", items},
      {"attr", attr},
      {"map", map},
      {"select", select<true, false>},
      {"reject", select<false, false>},
      {"selectattr", select<true, true>},
      {"rejectattr", select<false, true>},
  };
  return table;
}

}  // namespace netcl::text::jinja
