// SPDX-License-Identifier: Apache-2.0
// Numbers and padding as format specifications ask for them.
#ifndef NETCL_TEXT_JINJA_NUMBER_FORMAT_H_
#define NETCL_TEXT_JINJA_NUMBER_FORMAT_H_

#include <optional>
#include <string>

#include "text/jinja_value.h"

namespace netcl::text::jinja {

// One replacement, as '%-8.3f' or '{:<8.3f}' describe it.
struct FormatSpec {
  char align = '\0';  // < > ^ = or none
  std::string fill = " ";
  char sign = '\0';       // + or blank: before numbers that are not negative
  bool has_sign = false;  // even if it is '-', which changes nothing
  bool alternate = false;
  char grouping = '\0';  // , or _ between groups of digits
  Int width = 0;
  std::optional<int> precision;
  char type = '\0';
};

// Sign and digits of a number, without padding.
struct NumberText {
  std::string sign;  // with a prefix such as 0x
  std::string digits;
};
NumberText format_integer(Int value, const FormatSpec& spec);
NumberText format_float(double value, const FormatSpec& spec);

void append_padded(const NumberText& number, const FormatSpec& spec, Marks marks, Text& out);
void append_padded(const Text& text, const FormatSpec& spec, Text& out);
// The first `count` characters.
Text first_characters(const Text& text, int count, Budget& budget);

// A float from an int, a float or a bool; throws Failure otherwise.
double float_of(const Value& value);

// Width or precision read from digits at `at`, which moves behind them.
Int read_number(const std::string& text, size_t& at);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_NUMBER_FORMAT_H_
