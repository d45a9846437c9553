// SPDX-License-Identifier: Apache-2.0
// Filters that make numbers.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "text/jinja_chars.h"
#include "text/jinja_filters.h"
#include "text/jinja_number_format.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

constexpr double kLargestInt = 1.7e38;  // 2^127

Value absolute(Engine&, const Value& input, Arguments& arguments) {
  bind("abs", arguments, {});
  if (input.is(Kind::kFloat)) {
    return Value::real(std::fabs(input.as_float()), input.trusted());
  }
  if (input.is_integral()) {
    return input.as_int() < 0 ? negated(input) : plus(input);
  }
  throw Failure(input.is_undefined() ? input.undefined_message()
                                     : "'abs' needs a number, not " + type_name(input));
}

// Number texts may have white space around and single underscores between digits.
std::string number_text(const std::string& bytes) {
  const size_t begin = skip_space(bytes, 0);
  const std::string text = bytes.substr(begin, skip_space_back(bytes, begin, bytes.size()) - begin);
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto is_digit = [&](size_t i) {
      return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
    };
    if (text[at] != '_') {
      out += text[at];
    } else if (at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) {
      return "";  // no number
    }
  }
  return out;
}

std::optional<Int> parse_int(const std::string& bytes, int base) {
  std::string text = number_text(bytes);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) {
    text.erase(0, 1);
  }
  const auto drop_prefix = [&](char letter, int of_base) {
    if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter &&
        (base == of_base || base == 0)) {
      text.erase(0, 2);
      base = of_base;
    }
  };
  drop_prefix('x', 16);
  drop_prefix('o', 8);
  drop_prefix('b', 2);
  if (base == 0) {
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of('0') != std::string::npos) {
      return std::nullopt;
    }
    base = 10;
  }
  Int value = 0;
  for (const char c : text) {
    const int lower = c | 0x20;
    const int digit = c >= '0' && c <= '9'           ? c - '0'
                      : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10
                                                     : 99;
    if (digit >= base) {
      return std::nullopt;
    }
    if (__builtin_mul_overflow(value, Int{base}, &value) ||
        __builtin_add_overflow(value, Int{digit}, &value)) {
      throw Failure("the integer has more than 127 bits");
    }
  }
  return text.empty() ? std::nullopt : std::optional<Int>(is_negative ? -value : value);
}

std::optional<double> parse_float(const std::string& bytes) {
  const std::string text = number_text(bytes);
  std::string lower;
  for (const char c : text) {
    lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  }
  const size_t sign = lower.starts_with('-') || lower.starts_with('+') ? 1 : 0;
  const std::string digits = lower.substr(sign);
  const bool is_name = digits == "inf" || digits == "infinity" || digits == "nan";
  if (!is_name &&
      (digits.empty() || digits.find_first_not_of("0123456789.e+-") != std::string::npos)) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() ? std::optional<double>(value) : std::nullopt;
}

std::optional<Int> truncated(double value) {
  if (std::isnan(value) || std::isinf(value)) {
    return std::nullopt;
  }
  if (std::fabs(value) >= kLargestInt) {
    throw Failure("the integer has more than 127 bits");
  }
  return static_cast<Int>(value);
}

// Digits keep the trust of the string that they were in.
bool is_trusted(const Value& value) {
  return value.is_string() ? (value.text().common_marks() & kTrusted) != 0 : value.trusted();
}

Value to_int(Engine&, const Value& input, Arguments& arguments) {
  const Bound bound = bind("int", arguments, {"default", "base"});
  Value otherwise = bound[0].value_or(Value::integer(0, true));
  const Int base = bound[1] ? index_of(*bound[1], "the base") : 10;
  const bool trusted = is_trusted(input);
  if (input.is_integral()) {
    return Value::integer(input.as_int(), trusted);
  }
  if (input.is(Kind::kFloat)) {
    if (std::isinf(input.as_float())) {
      throw Failure("infinity is no integer");
    }
    const std::optional<Int> whole = truncated(input.as_float());
    return whole ? Value::integer(*whole, trusted) : otherwise;
  }
  if (input.is_undefined()) {
    throw Failure(input.undefined_message());
  }
  if (!input.is_string()) {
    return otherwise;
  }
  if (base == 0 || (base >= 2 && base <= 36)) {
    if (const std::optional<Int> whole = parse_int(input.bytes(), static_cast<int>(base))) {
      return Value::integer(*whole, trusted);
    }
  }
  const std::optional<double> number = parse_float(input.bytes());
  const std::optional<Int> whole = number ? truncated(*number) : std::nullopt;
  return whole ? Value::integer(*whole, trusted) : otherwise;
}

Value to_float(Engine&, const Value& input, Arguments& arguments) {
  const Bound bound = bind("float", arguments, {"default"});
  Value otherwise = bound[0].value_or(Value::real(0, true));
  const bool trusted = is_trusted(input);
  if (input.is_integral()) {
    return Value::real(static_cast<double>(input.as_int()), trusted);
  }
  if (input.is_undefined()) {
    throw Failure(input.undefined_message());
  }
  if (input.is_string()) {
    const std::optional<double> number = parse_float(input.bytes());
    return number ? Value::real(*number, trusted) : otherwise;
  }
  return input.is(Kind::kFloat) ? input : otherwise;
}

// Rounds to `digits` places after the point, halves (of the exact decimal value) to even.
double rounded(double value, int digits) {
  if (!std::isfinite(value) || digits > 330) {
    return value;
  }
  if (digits >= 0) {
    char text[1024];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return std::strtod(text, nullptr);
  }
  if (digits < -310) {
    return std::copysign(0.0, value);
  }
  const double scale = std::pow(10.0, -digits);
  return std::nearbyint(value / scale) * scale;
}

Int rounded(Int value, Int digits) {
  if (digits >= 0) {
    return value;
  }
  Int scale = 1;
  for (; digits < 0 && scale < (Int{1} << 120) / 10; ++digits) {
    scale *= 10;
  }
  if (digits < 0) {
    return 0;
  }
  Int quotient = value / scale;
  Int rest = value % scale;
  if (rest < 0) {
    rest += scale;
    --quotient;
  }
  const bool goes_up = 2 * rest > scale || (2 * rest == scale && quotient % 2 != 0);
  return (quotient + (goes_up ? 1 : 0)) * scale;
}

Value round(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("round", arguments, {"precision", "method"});
  const Int digits = bound[0] ? index_of(*bound[0], "the precision") : 0;
  const std::string method = bound[1] ? string_of(*bound[1], "'round'") : "common";
  if (method != "common" && method != "ceil" && method != "floor") {
    throw Failure("the method of 'round' is common, ceil or floor");
  }
  if (!input.is_number()) {
    throw Failure(input.is_undefined() ? input.undefined_message()
                                       : "'round' needs a number, not " + type_name(input));
  }
  if (method == "common") {
    if (input.is_integral()) {
      return Value::integer(rounded(input.as_int(), digits), input.trusted());
    }
    const int places = static_cast<int>(std::clamp(digits, Int{-1000}, Int{1000}));
    return Value::real(rounded(input.as_float(), places), input.trusted());
  }
  const Value scale =
      arithmetic("**", Value::integer(10, true), Value::integer(digits, true), engine.budget);
  Value scaled = arithmetic("*", input, scale, engine.budget);
  if (scaled.is(Kind::kFloat)) {
    const double number = scaled.as_float();
    const std::optional<Int> whole =
        truncated(method == "ceil" ? std::ceil(number) : std::floor(number));
    if (!whole) {
      throw Failure("the number has no integer near it");
    }
    scaled = Value::integer(*whole, input.trusted());
  }
  return arithmetic("/", scaled, scale, engine.budget);
}

Value filesizeformat(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("filesizeformat", arguments, {"binary"});
  const bool is_binary = given_truth(bound[0], engine.budget);
  const std::optional<double> size = input.is_string()   ? parse_float(input.bytes())
                                     : input.is_number() ? std::optional(float_of(input))
                                                         : std::nullopt;
  if (!size) {
    throw Failure("'filesizeformat' needs a number");
  }
  const double bytes = *size;
  const double base = is_binary ? 1024 : 1000;
  if (bytes == 1) {
    return Value::string("1 Byte", kNoMarks);
  }
  if (bytes < base) {
    return Value::string(int_text(static_cast<Int>(bytes)) + " Bytes", kNoMarks);
  }
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  for (size_t i = 0; i < kPrefixes.size(); ++i) {
    unit *= base;
    if (bytes < unit || i + 1 == kPrefixes.size()) {
      char text[64];
      std::snprintf(text, sizeof text, "%.1f", base * bytes / unit);
      const std::string prefix(1, is_binary && i == 0 ? 'K' : kPrefixes[i]);
      return Value::string(std::string(text) + " " + prefix + (is_binary ? "iB" : "B"), kNoMarks);
    }
  }
  return {};
}

}  // namespace

const FilterTable& number_filters() {
  static const FilterTable table = {
      {"abs", absolute},
      {"int", to_int},
      {"float", to_float},
      {"round", round},
      {"filesizeformat", filesizeformat},
  };
  return table;
}

}  // namespace netcl::text::jinja
