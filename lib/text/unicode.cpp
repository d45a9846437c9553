// SPDX-License-Identifier: Apache-2.0
#include "text/unicode.h"

#include <cstring>

#include "base/error.h"

namespace netcl::text {

const std::vector<PropertyRun>& property_runs() {
  static const std::vector<PropertyRun> runs = [] {
    std::vector<PropertyRun> result;
    for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
      const uint8_t value = properties(c);
      if (!result.empty() && result.back().properties == value) {
        result.back().last = c;
      } else {
        result.push_back({c, c, value});
      }
    }
    return result;
  }();
  return runs;
}

size_t skip_ascii(std::string_view text, size_t pos) {
  // Eight bytes at a time; the mask picks the top bit of each.
  uint64_t word = 0;
  while (text.size() - pos >= sizeof word) {
    std::memcpy(&word, text.data() + pos, sizeof word);
    if ((word & 0x8080808080808080u) != 0) {
      break;
    }
    pos += sizeof word;
  }
  while (pos < text.size() && static_cast<unsigned char>(text[pos]) < 0x80) {
    ++pos;
  }
  return pos;
}

size_t find_ill_formed(std::string_view text, size_t pos) {
  for (pos = skip_ascii(text, pos); pos < text.size(); pos = skip_ascii(text, pos)) {
    const DecodedChar decoded = decode_utf8(text, pos);
    if (!decoded.well_formed) {
      return pos;
    }
    pos += decoded.byte_count;
  }
  return text.size();
}

void append_utf8(char32_t c, std::string& out) {
  NETCL_CHECK(c <= kMaxCodePoint && (c < 0xD800 || c > 0xDFFF));
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::string encode_utf8(char32_t c) {
  std::string out;
  append_utf8(c, out);
  return out;
}

}  // namespace netcl::text
