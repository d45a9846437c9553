// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_operators.h"

#include <algorithm>
#include <cmath>

namespace netcl::text::jinja {

namespace {

[[noreturn]] void refuse(std::string_view sign, const Value& left, const Value& right) {
  throw Failure("'" + std::string(sign) + "' does not work on " + type_name(left) + " and " +
                type_name(right));
}

[[noreturn]] void too_large() {
  throw Failure("the integer has more than 127 bits");
}

double as_double(const Value& value) {
  return value.is_integral() ? static_cast<double>(value.as_int()) : value.as_float();
}

Int floor_divide(Int left, Int right) {
  const Int quotient = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

Int power(Int base, Int exponent) {
  Int result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) {
      too_large();
    }
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
      too_large();
    }
  }
  return result;
}

double float_power(double base, double exponent) {
  if (base == 0 && exponent < 0) {
    throw Failure("zero cannot be raised to a negative power");
  }
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      std::floor(exponent) != exponent) {
    throw Failure("a negative number to a fractional power is complex");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
    throw Failure("the power is too large for a float");
  }
  return result;
}

Value integer_arithmetic(std::string_view sign, Int left, Int right, bool trusted) {
  Int result = 0;
  bool overflows = false;
  if (sign == "+") {
    overflows = __builtin_add_overflow(left, right, &result);
  } else if (sign == "-") {
    overflows = __builtin_sub_overflow(left, right, &result);
  } else if (sign == "*") {
    overflows = __builtin_mul_overflow(left, right, &result);
  } else if (sign == "**") {
    if (right < 0) {
      return Value::real(float_power(static_cast<double>(left), static_cast<double>(right)),
                         trusted);
    }
    result = power(left, right);
  } else if (right == 0) {
    throw Failure("division by zero");
  } else if (sign == "/") {
    const auto quotient = static_cast<long double>(left) / static_cast<long double>(right);
    return Value::real(static_cast<double>(quotient), trusted);
  } else {
    if (right == -1) {  // the one quotient that may not fit
      overflows = __builtin_sub_overflow(Int{0}, left, &result);
      result = sign == "%" ? 0 : result;
    } else {
      result = floor_divide(left, right);
      result = sign == "%" ? left - result * right : result;
    }
  }
  if (overflows) {
    too_large();
  }
  return Value::integer(result, trusted);
}

// The remainder has the sign of the divisor, and floor division goes with it.
Value float_division(std::string_view sign, double left, double right, bool trusted) {
  if (right == 0) {
    throw Failure("division by zero");
  }
  if (sign == "/") {
    return Value::real(left / right, trusted);
  }
  double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder != 0) {
    if ((right < 0) != (remainder < 0)) {
      remainder += right;
      quotient -= 1;
    }
  } else {
    remainder = std::copysign(0.0, right);
  }
  if (sign == "%") {
    return Value::real(remainder, trusted);
  }
  double whole = std::floor(quotient);
  if (quotient == 0) {
    whole = std::copysign(0.0, left / right);
  } else if (quotient - whole > 0.5) {
    whole += 1;
  }
  return Value::real(whole, trusted);
}

Value float_arithmetic(std::string_view sign, double left, double right, bool trusted) {
  if (sign == "+") {
    return Value::real(left + right, trusted);
  }
  if (sign == "-") {
    return Value::real(left - right, trusted);
  }
  if (sign == "*") {
    return Value::real(left * right, trusted);
  }
  return sign == "**" ? Value::real(float_power(left, right), trusted)
                      : float_division(sign, left, right, trusted);
}

Value concatenated(const Value& left, const Value& right, Budget& budget) {
  const bool is_markup = left.as_string().markup || right.as_string().markup;
  budget.made(left.text().memory() + right.text().memory());
  Text text = is_markup ? html_text(left, budget) : left.text();
  text.append(is_markup ? html_text(right, budget) : right.text());
  return Value::string(std::move(text), is_markup);
}

Value repeated(const Value& value, Int count, Budget& budget) {
  if (value.is_string()) {
    const Text& text = value.text();
    const Int total = count <= 0 ? 0 : static_cast<Int>(text.size()) * count;
    if (total > static_cast<Int>(Text::kMaxBytes)) {
      throw Failure("a string grows beyond " + std::to_string(Text::kMaxBytes >> 20) + " MiB");
    }
    budget.made(static_cast<uint64_t>(total) / std::max(text.size(), size_t{1}) * text.memory());
    Text out;
    out.append_repeated(text, text.empty() ? 0 : static_cast<size_t>(std::max(count, Int{0})));
    return Value::string(std::move(out), value.as_string().markup);
  }
  const size_t size = value.items().size();
  // So many are too many whatever the limits.
  const auto rounds =
      size == 0 ? 0 : static_cast<uint64_t>(std::clamp(count, Int{0}, Int{1} << 40));
  budget.step(rounds * size);
  budget.made(rounds * size * sizeof(Value));
  std::vector<Value> items;
  items.reserve(rounds * size);
  for (uint64_t i = 0; i < rounds; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return value.is(Kind::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

Value joined(const Value& left, const Value& right, Budget& budget) {
  const size_t count = left.items().size() + right.items().size();
  budget.step(count);
  budget.made(count * sizeof(Value));
  std::vector<Value> items;
  items.reserve(count);
  items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is(Kind::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

}  // namespace

Value arithmetic(std::string_view sign, const Value& left, const Value& right, Budget& budget) {
  if (left.is_number() && right.is_number()) {
    const bool trusted = left.trusted() && right.trusted();
    if (left.is_integral() && right.is_integral()) {
      return integer_arithmetic(sign, left.as_int(), right.as_int(), trusted);
    }
    return float_arithmetic(sign, as_double(left), as_double(right), trusted);
  }
  if (left.is_string() && sign == "%") {
    // An undefined value on the right is an argument like any other.
    const bool is_markup = left.as_string().markup;
    return Value::string(format_percent(left.text(), right, budget), is_markup);
  }
  if (left.is_undefined() || right.is_undefined()) {
    throw Failure((left.is_undefined() ? left : right).undefined_message());
  }
  if (sign == "+") {
    if (left.is_string() && right.is_string()) {
      return concatenated(left, right, budget);
    }
    if (left.is_sequence() && left.kind() == right.kind()) {
      return joined(left, right, budget);
    }
  }
  if (sign == "*") {
    if ((left.is_string() || left.is_sequence()) && right.is_integral()) {
      return repeated(left, right.as_int(), budget);
    }
    if ((right.is_string() || right.is_sequence()) && left.is_integral()) {
      return repeated(right, left.as_int(), budget);
    }
  }
  refuse(sign, left, right);
}

Value negated(const Value& value) {
  if (value.is_integral()) {
    return integer_arithmetic("-", 0, value.as_int(), value.trusted());
  }
  if (value.is(Kind::kFloat)) {
    return Value::real(-value.as_float(), value.trusted());
  }
  throw Failure(value.is_undefined() ? value.undefined_message()
                                     : "'-' does not work on " + type_name(value));
}

Value plus(const Value& value) {
  if (value.is_integral()) {
    return Value::integer(value.as_int(), value.trusted());
  }
  if (value.is(Kind::kFloat)) {
    return value;
  }
  throw Failure(value.is_undefined() ? value.undefined_message()
                                     : "'+' does not work on " + type_name(value));
}

Text html_escaped(const Text& text, Budget& budget) {
  budget.characters(text.size());
  Text out;
  const std::string& bytes = text.bytes();
  size_t plain = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    const std::string_view entity = c == '&'    ? "&amp;"
                                    : c == '<'  ? "&lt;"
                                    : c == '>'  ? "&gt;"
                                    : c == '\'' ? "&#39;"
                                    : c == '"'  ? "&#34;"
                                                : "";
    if (!entity.empty()) {
      out.append(text, plain, at);
      out.append_for(entity, text, at, at + 1);
      plain = at + 1;
    }
  }
  out.append(text, plain, bytes.size());
  return out;
}

Text html_text(const Value& value, Budget& budget) {
  const Text text = to_str(value, budget);
  return value.is_string() && value.as_string().markup ? text : html_escaped(text, budget);
}

Int index_of(const Value& value, std::string_view what) {
  if (!value.is_integral()) {
    throw Failure(value.is_undefined()
                      ? value.undefined_message()
                      : std::string(what) + " must be an integer, not " + type_name(value));
  }
  return value.as_int();
}

}  // namespace netcl::text::jinja
