// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_template.h"

#include <utility>

#include "base/error.h"
#include "text/jinja_interpreter.h"
#include "text/jinja_parser.h"

namespace netcl::text {

namespace {

using jinja::Value;

Value to_value(const base::Json& json, bool trusted, jinja::Budget& budget) {
  const jinja::Marks marks = trusted ? jinja::kTrusted : jinja::kNoMarks;
  switch (json.type()) {
    case base::Json::value_t::boolean:
      return Value::boolean(json.get<bool>(), trusted);
    case base::Json::value_t::number_integer:
      return Value::integer(json.get<int64_t>(), trusted);
    case base::Json::value_t::number_unsigned:
      return Value::integer(json.get<uint64_t>(), trusted);
    case base::Json::value_t::number_float:
      return Value::real(json.get<double>(), trusted);
    case base::Json::value_t::string:
      return Value::string(json.get<std::string>(), marks);
    case base::Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const base::Json& item : json) {
        items.push_back(to_value(item, trusted, budget));
      }
      return Value::list(std::move(items));
    }
    case base::Json::value_t::object: {
      jinja::Dict dict;
      for (const auto& [key, value] : json.items()) {
        dict.set(Value::string(key, marks), to_value(value, trusted, budget), budget);
      }
      return Value::dict(std::move(dict));
    }
    default:
      return Value::none(trusted);
  }
}

// An object whose own strings may each be trusted.
Value to_object(const base::Json& json, const JinjaVariable& variable, jinja::Budget& budget) {
  jinja::Dict dict;
  for (const auto& [key, field] : json.items()) {
    const bool trusted =
        field.is_string() && variable.trusts_field(key, field.get_ref<const std::string&>());
    dict.set(Value::string(key, jinja::kNoMarks), to_value(field, trusted, budget), budget);
  }
  return Value::dict(std::move(dict));
}

Value to_value(const JinjaVariable& variable, jinja::Budget& budget) {
  const base::Json& json = variable.value;
  if (variable.trusted || variable.trusts_field == nullptr || !json.is_array()) {
    return to_value(json, variable.trusted, budget);
  }
  std::vector<Value> items;
  items.reserve(json.size());
  for (const base::Json& item : json) {
    items.push_back(item.is_object() ? to_object(item, variable, budget)
                                     : to_value(item, false, budget));
  }
  return Value::list(std::move(items));
}

std::vector<ByteSpan> spans_with(const jinja::Text& text, jinja::Marks wanted) {
  std::vector<ByteSpan> spans;
  text.for_each_run(0, text.size(), [&](size_t begin, size_t end, jinja::Marks marks) {
    if ((marks & wanted) == 0) {
      return;
    }
    if (!spans.empty() && spans.back().end == begin) {
      spans.back().end = end;
    } else {
      spans.push_back({begin, end});
    }
  });
  return spans;
}

}  // namespace

JinjaTemplate::JinjaTemplate(std::string_view source, std::string name)
    : name_(std::move(name)),
      tree_(std::make_unique<jinja::Tree>(jinja::parse_template(source, name_))) {}

JinjaTemplate::~JinjaTemplate() = default;
JinjaTemplate::JinjaTemplate(JinjaTemplate&&) noexcept = default;
JinjaTemplate& JinjaTemplate::operator=(JinjaTemplate&&) noexcept = default;

JinjaOutput JinjaTemplate::render(const std::vector<JinjaVariable>& variables,
                                  const JinjaOptions& options) const {
  jinja::Memory memory(options.limits.memory_bytes);
  std::vector<std::pair<std::string, Value>> values;
  jinja::Limits unbounded = options.limits;
  unbounded.steps = unbounded.made_bytes = ~uint64_t{0};
  jinja::Budget unlimited(unbounded);
  for (const JinjaVariable& variable : variables) {
    try {
      values.emplace_back(variable.name, to_value(variable, unlimited));
    } catch (const jinja::Failure& failure) {
      throw base::FormatError("variable " + base::quote(variable.name) + ": " + failure.what());
    }
  }
  jinja::Interpreter interpreter(options.limits, options.now);
  try {
    const jinja::Text text = interpreter.run(*tree_, values);
    return {text.bytes(), spans_with(text, jinja::kTrusted), spans_with(text, jinja::kGenerated)};
  } catch (const jinja::Failure& failure) {
    jinja::fail_at(name_, interpreter.place(), failure.what());
  }
}

}  // namespace netcl::text
