// SPDX-License-Identifier: Apache-2.0
// The functions that every template can call.
#include <array>
#include <clocale>
#include <ctime>
#include <memory>

#include "text/jinja_engine.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

constexpr Int kMaxRange = 100'000;  // as in Jinja's sandbox

Value range(Engine&, Arguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  if (given.empty() || given.size() > 3 || !arguments.named.empty()) {
    throw Failure("'range' takes 1 to 3 numbers");
  }
  bool trusted = true;
  std::array<Int, 3> parts{};
  for (size_t i = 0; i < given.size(); ++i) {
    parts[i] = index_of(given[i], "a number of 'range'");
    trusted = trusted && given[i].trusted();
  }
  Range range;
  range.start = given.size() == 1 ? 0 : parts[0];
  range.stop = given.size() == 1 ? parts[0] : parts[1];
  range.step = given.size() == 3 ? parts[2] : 1;
  constexpr Int kBound = Int{1} << 100;  // far from overflow
  for (const Int part : {range.start, range.stop, range.step}) {
    if (part > kBound || part < -kBound) {
      throw Failure("a number of 'range' is too large");
    }
  }
  if (range.step == 0) {
    throw Failure("the step of 'range' cannot be zero");
  }
  if (range.count() > kMaxRange) {
    throw Failure("the range has more than " + int_text(kMaxRange) + " numbers");
  }
  return Value::range(range.start, range.stop, range.step, trusted);
}

// What dict(...) makes of a dict or pairs, and of named arguments.
Dict make_dict(Engine& engine, Arguments& arguments) {
  if (arguments.positional.size() > 1) {
    throw Failure("'dict' takes at most one positional argument");
  }
  Dict dict;
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.is_undefined()) {
      throw Failure(from.undefined_message());
    }
    if (from.is(Kind::kDict)) {
      for (const auto& [key, value] : from.as_dict().entries) {
        dict.set(key, value, engine.budget);
      }
    } else {
      for (const Value& entry : elements(from, engine.budget)) {
        const std::vector<Value> pair = elements(entry, engine.budget);
        if (pair.size() != 2) {
          throw Failure("'dict' needs pairs of key and value");
        }
        dict.set(pair[0], pair[1], engine.budget);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) {
    // The name may have come through `**`, from anywhere.
    dict.set(Value::string(name, kNoMarks), value, engine.budget);
  }
  return dict;
}

Value dict(Engine& engine, Arguments& arguments) {
  return Value::dict(make_dict(engine, arguments));
}

Value make_space(Engine& engine, Arguments& arguments) {
  const Dict fields = make_dict(engine, arguments);
  Value space = engine.make_namespace();
  for (const auto& [key, value] : fields.entries) {
    space.as_namespace().set(string_of(key, "'namespace'"), value);
  }
  return space;
}

int level_of(const std::vector<Value>& values) {
  return Value::list(values).level();
}

// An object with next(), reset() and current.
Value cycler(Engine&, Arguments& arguments) {
  // Shared, so that its methods cost no copy.
  const auto items = std::make_shared<const std::vector<Value>>(arguments.positional);
  if (items->empty()) {
    throw Failure("'cycler' needs something to cycle through");
  }
  const int level = level_of(*items);
  const auto at = std::make_shared<size_t>(0);
  auto object = std::make_shared<Function>();
  object->charge.set(sizeof(Function) + 2 * kClosureBytes + arguments.memory());
  object->name = "cycler";
  object->level = level;
  object->call = [](Engine&, Arguments&) -> Value { throw Failure("a cycler cannot be called"); };
  object->attribute = [items, at, level](std::string_view name) -> std::optional<Value> {
    if (name == "current") {
      return (*items)[*at];
    }
    if (name == "next") {
      return make_function(
          "next",
          [items, at](Engine&, Arguments&) {
            const size_t now = *at;
            *at = (now + 1) % items->size();
            return (*items)[now];
          },
          level);
    }
    if (name == "reset") {
      return make_function("reset", [at](Engine&, Arguments&) {
        *at = 0;
        return Value::none();
      });
    }
    return std::nullopt;
  };
  return {Kind::kFunction, std::move(object)};
}

// Nothing at its first call, then the separator.
Value joiner(Engine&, Arguments& arguments) {
  const Bound bound = bind("joiner", arguments, {"sep"});
  const Value separator = bound[0].value_or(Value::string(", ", kTrusted));
  return make_function(
      "joiner",
      [separator, used = std::make_shared<bool>(false)](Engine&, Arguments&) {
        const bool is_first = !*used;
        *used = true;
        return is_first ? Value::string("", kTrusted) : separator;
      },
      separator.level() + 1);
}

Value raise_exception(Engine& engine, Arguments& arguments) {
  const Bound bound = bind("raise_exception", arguments, {"message"}, 1);
  throw Failure(to_str(*bound[0], engine.budget).bytes());
}

Value lipsum(Engine&, Arguments&) {
  throw Failure("'lipsum' is not there: a prompt must not depend on chance");
}

Value strftime_now(Engine& engine, Arguments& arguments) {
  const Bound bound = bind("strftime_now", arguments, {"format"}, 1);
  const std::string& format = string_of(*bound[0], "'strftime_now'");
  if (format.size() > 10'000) {
    throw Failure("the format of 'strftime_now' is longer than 10000 bytes");
  }
  return Value::string(format_time(format, engine.now), bound[0]->text().common_marks());
}

}  // namespace

std::vector<std::pair<std::string, Value>> global_functions() {
  std::vector<std::pair<std::string, Value>> functions;
  const auto add = [&](const char* name, Value (*call)(Engine&, Arguments&)) {
    functions.emplace_back(name, make_function(name, call));
  };
  add("range", range);
  add("dict", dict);
  add("namespace", make_space);
  add("cycler", cycler);
  add("joiner", joiner);
  add("raise_exception", raise_exception);
  add("strftime_now", strftime_now);
  add("lipsum", lipsum);
  return functions;
}

std::string format_time(const std::string& format, const std::tm& time) {
  // The system's formatter in the C locale, whatever locale the process has. Times here have no
  // fractions and no zone.
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  std::string pattern;
  for (size_t at = 0; at < format.size(); ++at) {
    const char next = format[at] == '%' && at + 1 < format.size() ? format[at + 1] : '\0';
    if (next == 'f') {
      pattern += "000000";
      ++at;
    } else if (next == 'z' || next == 'Z') {
      ++at;
    } else {
      pattern += format[at];
      if (next == '%') {
        pattern += format[++at];
      }
    }
  }
  pattern += ' ';  // so that an empty result differs from a buffer that is too small
  std::string text(256, '\0');
  for (;;) {
    const size_t length = strftime_l(text.data(), text.size(), pattern.c_str(), &time, locale);
    if (length > 0) {
      text.resize(length - 1);
      return text;
    }
    if (text.size() > 1'000'000) {
      throw Failure("the time takes too long a text");
    }
    text.resize(text.size() * 2);
  }
}

}  // namespace netcl::text::jinja
