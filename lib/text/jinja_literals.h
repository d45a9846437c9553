// SPDX-License-Identifier: Apache-2.0
// String and number literals of template expressions.
#ifndef NETCL_TEXT_JINJA_LITERALS_H_
#define NETCL_TEXT_JINJA_LITERALS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace netcl::text::jinja {

// End of the string literal whose opening quote is source[begin]; 0 when it is not closed.
size_t string_literal_end(std::string_view source, size_t begin);

// The value of what stands between the quotes, with Python's escapes. `error` says what is wrong
// with it, else is empty.
std::string unescape(std::string_view inner, std::string& error);

struct NumberLiteral {
  bool is_float = false;
  std::string digits;  // without underscores; integers with their prefix, 0x and so on
  size_t end = 0;
};

// The number that begins with the digit source[begin].
NumberLiteral number_literal(std::string_view source, size_t begin, bool may_be_float);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_LITERALS_H_
