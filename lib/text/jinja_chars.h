// SPDX-License-Identifier: Apache-2.0
// Character classes of Python's str, which differ from those of Unicode in places.
#ifndef NETCL_TEXT_JINJA_CHARS_H_
#define NETCL_TEXT_JINJA_CHARS_H_

#include <string_view>
#include <vector>

#include "text/unicode.h"

namespace netcl::text::jinja {

// str.isspace(): White_Space and the four information separators.
inline bool is_python_space(char32_t c) {
  return is_space(c) || (c >= 0x1C && c <= 0x1F);
}

// End of the white space from `at` on.
inline size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const DecodedChar c = decode_utf8(text, at);
    if (!is_python_space(c.code_point)) {
      break;
    }
    at += c.byte_count;
  }
  return at;
}

// Begin of the character that ends at `end` > 0, in well-formed UTF-8.
inline size_t character_before(std::string_view text, size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u);
  return end;
}

// Begin of the white space that ends at `end`, at least `begin`.
inline size_t skip_space_back(std::string_view text, size_t begin, size_t end) {
  while (end > begin) {
    const size_t at = character_before(text, end);
    if (!is_python_space(decode_utf8(text, at).code_point)) {
      break;
    }
    end = at;
  }
  return end;
}

inline size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) {
    count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  }
  return count;
}

// Begins of all characters of well-formed UTF-8, and the end. Takes eight bytes for each; throws
// Failure when there is no room for them (jinja_memory.h).
std::vector<size_t> character_begins(std::string_view text);

// Upper, lower or title case letters and what counts as such.
bool is_cased(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_CHARS_H_
