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

DecodedChar decode_utf8(std::string_view text, size_t pos) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + pos;
  const size_t left = text.size() - pos;
  const unsigned lead = p[0];
  if (lead < 0x80) {
    return {lead, 1, true};
  }
  const DecodedChar ill_formed{kReplacementCharacter, 1, false};
  const auto continues = [&](size_t i) { return (p[i] & 0xC0u) == 0x80u; };
  const auto low = [&](size_t i) { return static_cast<char32_t>(p[i] & 0x3Fu); };
  if (lead < 0xC2) {
    return ill_formed;
  }
  if (lead < 0xE0) {
    if (left < 2 || !continues(1)) {
      return ill_formed;
    }
    return {((lead & 0x1Fu) << 6) | low(1), 2, true};
  }
  if (lead < 0xF0) {
    if (left < 3 || !continues(1) || !continues(2)) {
      return ill_formed;
    }
    const char32_t c = ((lead & 0x0Fu) << 12) | (low(1) << 6) | low(2);
    if (c < 0x800 || (c >= 0xD800 && c <= 0xDFFF)) {
      return ill_formed;
    }
    return {c, 3, true};
  }
  if (lead > 0xF4 || left < 4 || !continues(1) || !continues(2) || !continues(3)) {
    return ill_formed;
  }
  const char32_t c = ((lead & 0x07u) << 18) | (low(1) << 12) | (low(2) << 6) | low(3);
  if (c < 0x10000 || c > kMaxCodePoint) {
    return ill_formed;
  }
  return {c, 4, true};
}

size_t find_ill_formed(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    // Eight ASCII bytes at a time; the mask picks the top bit of each.
    uint64_t word = 0;
    if (text.size() - pos >= sizeof word) {
      std::memcpy(&word, text.data() + pos, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        pos += sizeof word;
        continue;
      }
    }
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
