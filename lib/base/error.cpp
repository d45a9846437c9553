// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cstdio>

namespace netcl::base {

namespace {

// Length of the well-formed UTF-8 sequence at `p`, or 0. Only for showing text; the tokenizer's
// decoder lives in text/unicode.h, which this room may not see.
size_t utf8_length(std::string_view p) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(p[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead >= 0xF0 && lead <= 0xF4   ? 4
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xC2 && lead <= 0xDF ? 2
                                                       : 0;
  if (length == 0 || length > p.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const bool bad_second = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                          (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F) ||
                          (lead == 0xC2 && byte(1) < 0xA0);  // C1 controls stay escaped
  return bad_second ? 0 : length;
}

}  // namespace

std::string at_line(std::string_view path, uint64_t line) {
  return std::string(path) + ":" + std::to_string(line);
}

std::string at_byte(std::string_view path, uint64_t byte) {
  return std::string(path) + "@" + std::to_string(byte);
}

std::string quote(std::string_view bytes, size_t max_bytes) {
  std::string out = "'";
  size_t i = 0;
  while (i < bytes.size()) {
    if (i >= max_bytes) {
      return out + "'...";
    }
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c >= 0x20 && c < 0x7F) {
      out += bytes[i++];
    } else if (const size_t length = utf8_length(bytes.substr(i)); length > 0) {
      out += bytes.substr(i, length);
      i += length;
    } else {
      if (c == '\n' || c == '\r' || c == '\t') {
        out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
      } else {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned>(c));
        out += escaped;
      }
      ++i;
    }
  }
  return out + "'";
}

void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error("internal check failed: " + std::string(condition) + " at " + file + ":" +
                         std::to_string(line));
}

}  // namespace netcl::base
