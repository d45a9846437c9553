// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_number_format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "text/jinja_chars.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

constexpr int kMaxPrecision = 1000;

std::string sign_of(bool is_negative, const FormatSpec& spec) {
  return is_negative ? "-" : spec.sign != '\0' ? std::string(1, spec.sign) : "";
}

// `mark` between groups of `size` digits of the whole part.
std::string grouped(const std::string& digits, char mark, size_t size) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % size == 0) {
      out += mark;
    }
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string printed(double value, char type, int precision, bool alternate) {
  const std::string pattern = std::string("%") + (alternate ? "#" : "") + ".*" + type;
  const int length = std::snprintf(nullptr, 0, pattern.c_str(), precision, value);
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern.c_str(), precision, value);
  text.pop_back();
  return text;
}

}  // namespace

NumberText format_integer(Int value, const FormatSpec& spec) {
  const bool is_negative = value < 0;
  UnsignedInt left =
      is_negative ? -static_cast<UnsignedInt>(value) : static_cast<UnsignedInt>(value);
  const char type = spec.type == '\0' ? 'd' : spec.type;
  const unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  const std::string_view symbols = type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  NumberText out;
  do {
    out.digits += symbols[static_cast<size_t>(left % base)];
    left /= base;
  } while (left != 0);
  std::reverse(out.digits.begin(), out.digits.end());
  if (spec.grouping != '\0') {
    out.digits = grouped(out.digits, spec.grouping, base == 10 ? 3 : 4);
  }
  out.sign = sign_of(is_negative, spec);
  if (spec.alternate && base != 10) {
    out.sign += std::string("0") + type;
  }
  return out;
}

NumberText format_float(double value, const FormatSpec& spec) {
  const int precision = spec.precision.value_or(6);
  if (precision > kMaxPrecision) {
    throw Failure("a precision above " + std::to_string(kMaxPrecision));
  }
  const double size = std::fabs(value);
  NumberText out;
  out.sign = sign_of(std::signbit(value) && !std::isnan(value), spec);
  const char type = spec.type;
  if (!std::isfinite(value)) {
    out.digits = std::isnan(value) ? "nan" : "inf";
    if (type != '\0' && std::isupper(static_cast<unsigned char>(type)) != 0) {
      std::transform(out.digits.begin(), out.digits.end(), out.digits.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    }
  } else if (type == '\0' && !spec.precision) {
    out.digits = float_text(size);
  } else if (type == '\0') {
    out.digits = printed(size, 'g', precision, false);
    if (out.digits.find_first_of(".e") == std::string::npos) {
      out.digits += ".0";
    }
  } else {
    out.digits = printed(type == '%' ? size * 100 : size, type == '%' ? 'f' : type, precision,
                         spec.alternate);
  }
  if (spec.grouping != '\0') {
    out.digits = grouped(out.digits, spec.grouping, 3);
  }
  out.digits += type == '%' ? "%" : "";
  return out;
}

void append_padded(const NumberText& number, const FormatSpec& spec, Marks marks, Text& out) {
  if (spec.align != '=') {
    FormatSpec aligned = spec;
    aligned.align = spec.align == '\0' ? '>' : spec.align;
    append_padded(Text(number.sign + number.digits, marks), aligned, out);
    return;
  }
  out.append(number.sign, marks);
  const Int missing =
      spec.width - static_cast<Int>(number.sign.size()) - static_cast<Int>(number.digits.size());
  append_repeated(Text(spec.fill, kNoMarks), missing, out);
  out.append(number.digits, marks);
}

void append_padded(const Text& text, const FormatSpec& spec, Text& out) {
  const Int missing = spec.width - static_cast<Int>(count_characters(text.bytes()));
  const Int left = missing <= 0        ? 0
                   : spec.align == '>' ? missing
                   : spec.align == '^' ? missing / 2
                                       : 0;
  const Text fill(spec.fill, kNoMarks);
  append_repeated(fill, left, out);
  out.append(text);
  append_repeated(fill, missing - left, out);
}

Text first_characters(const Text& text, int count, Budget& budget) {
  budget.characters(text.size());
  const std::vector<size_t> begins = character_begins(text.bytes());
  return text.slice(0, begins[std::min(static_cast<size_t>(count), begins.size() - 1)]);
}

double float_of(const Value& value) {
  if (!value.is_number()) {
    throw Failure(value.is_undefined() ? value.undefined_message()
                                       : "a number is needed, not " + type_name(value));
  }
  return value.is_integral() ? static_cast<double>(value.as_int()) : value.as_float();
}

Int read_number(const std::string& text, size_t& at) {
  Int number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    number = std::min(number * 10 + (text[at] - '0'), Int{1} << 40);
  }
  return number;
}

}  // namespace netcl::text::jinja
