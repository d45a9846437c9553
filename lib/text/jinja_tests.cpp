// SPDX-License-Identifier: Apache-2.0
// The tests that follow `is`.
#include <map>

#include "text/jinja_engine.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

template <bool (*kHolds)(const Value&)>
bool plain(Engine&, const Value& input, Arguments& arguments) {
  bind("is", arguments, {});
  return kHolds(input);
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}
bool is_undefined(const Value& value) {
  return value.is_undefined();
}
bool is_none(const Value& value) {
  return value.is_none();
}
bool is_boolean(const Value& value) {
  return value.is(Kind::kBool);
}
bool is_true(const Value& value) {
  return value.is(Kind::kBool) && value.as_bool();
}
bool is_false(const Value& value) {
  return value.is(Kind::kBool) && !value.as_bool();
}
bool is_integer(const Value& value) {
  return value.is(Kind::kInt);
}
bool is_float(const Value& value) {
  return value.is(Kind::kFloat);
}
bool is_number(const Value& value) {
  return value.is_number();
}
bool is_string(const Value& value) {
  return value.is_string();
}
bool is_mapping(const Value& value) {
  return value.is(Kind::kDict);
}
bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is_sequence() ||
         value.is(Kind::kDict) || value.is(Kind::kRange) || value.is(Kind::kView) ||
         value.is(Kind::kIterator) || value.is(Kind::kLoop);
}
// What has a length and can be asked for items.
bool is_sequence(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is_sequence() ||
         value.is(Kind::kDict) || value.is(Kind::kRange);
}
bool is_callable(const Value& value) {
  return value.is(Kind::kFunction) || value.is(Kind::kLoop) || value.is_undefined();
}
bool is_escaped(const Value& value) {
  return value.is_string() && value.as_string().markup;
}

Value remainder(Engine& engine, const Value& input, const Value& divisor) {
  return arithmetic("%", input, divisor, engine.budget);
}

bool is_odd(Engine& engine, const Value& input, Arguments& arguments) {
  bind("odd", arguments, {});
  return equal(remainder(engine, input, Value::integer(2)), Value::integer(1), engine.budget);
}
bool is_even(Engine& engine, const Value& input, Arguments& arguments) {
  bind("even", arguments, {});
  return equal(remainder(engine, input, Value::integer(2)), Value::integer(0), engine.budget);
}
bool is_divisible(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("divisibleby", arguments, {"num"}, 1);
  return equal(remainder(engine, input, *bound[0]), Value::integer(0), engine.budget);
}

bool all_letters(Engine& engine, const Value& input, std::string_view method) {
  Arguments none;
  const Value text = Value::string(to_str(input, engine.budget));
  return engine.call(*string_method(text, method), none).as_bool();
}
bool is_lower(Engine& engine, const Value& input, Arguments& arguments) {
  bind("lower", arguments, {});
  return all_letters(engine, input, "islower");
}
bool is_upper(Engine& engine, const Value& input, Arguments& arguments) {
  bind("upper", arguments, {});
  return all_letters(engine, input, "isupper");
}

bool is_filter(Engine&, const Value& input, Arguments& arguments) {
  bind("filter", arguments, {});
  return input.is_string() && find_filter(input.bytes()) != nullptr;
}
bool is_test(Engine&, const Value& input, Arguments& arguments) {
  bind("test", arguments, {});
  return input.is_string() && find_test(input.bytes()) != nullptr;
}

bool is_in(Engine& engine, const Value& input, Arguments& arguments) {
  return contains(*bind("in", arguments, {"seq"}, 1)[0], input, engine.budget);
}
bool is_same(Engine& engine, const Value& input, Arguments& arguments) {
  const Value other = *bind("sameas", arguments, {"other"}, 1)[0];
  if (input.kind() != other.kind() || input.object() != other.object()) {
    // Strings are values here: those with the same characters are the same.
    return input.is_string() && other.is_string() && equal(input, other, engine.budget);
  }
  return input.object() != nullptr || equal(input, other, engine.budget);
}

template <bool kWanted>
bool is_equal(Engine& engine, const Value& input, Arguments& arguments) {
  return equal(input, *bind("eq", arguments, {"other"}, 1)[0], engine.budget) == kWanted;
}
// The order of both is kFirst or kSecond.
template <int kFirst, int kSecond>
bool is_ordered(Engine& engine, const Value& input, Arguments& arguments) {
  const std::optional<int> order =
      compare(input, *bind("lt, le, gt or ge", arguments, {"other"}, 1)[0], engine.budget);
  return order == kFirst || order == kSecond;
}

}  // namespace

Test find_test(std::string_view name) {
  static const std::map<std::string_view, Test> tests = {
      {"defined", plain<is_defined>},
      {"undefined", plain<is_undefined>},
      {"none", plain<is_none>},
      {"boolean", plain<is_boolean>},
      {"true", plain<is_true>},
      {"false", plain<is_false>},
      {"integer", plain<is_integer>},
      {"float", plain<is_float>},
      {"number", plain<is_number>},
      {"string", plain<is_string>},
      {"mapping", plain<is_mapping>},
      {"iterable", plain<is_iterable>},
      {"sequence", plain<is_sequence>},
      {"callable", plain<is_callable>},
      {"escaped", plain<is_escaped>},
      {"odd", is_odd},
      {"even", is_even},
      {"divisibleby", is_divisible},
      {"lower", is_lower},
      {"upper", is_upper},
      {"filter", is_filter},
      {"test", is_test},
      {"in", is_in},
      {"sameas", is_same},
      {"eq", is_equal<true>},
      {"equalto", is_equal<true>},
      {"==", is_equal<true>},
      {"ne", is_equal<false>},
      {"!=", is_equal<false>},
      {"lt", is_ordered<-1, -1>},
      {"lessthan", is_ordered<-1, -1>},
      {"<", is_ordered<-1, -1>},
      {"le", is_ordered<-1, 0>},
      {"<=", is_ordered<-1, 0>},
      {"gt", is_ordered<1, 1>},
      {"greaterthan", is_ordered<1, 1>},
      {">", is_ordered<1, 1>},
      {"ge", is_ordered<1, 0>},
      {">=", is_ordered<1, 0>},
  };
  const auto found = tests.find(name);
  return found == tests.end() ? nullptr : found->second;
}

}  // namespace netcl::text::jinja
