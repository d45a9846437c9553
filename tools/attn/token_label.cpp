// SPDX-License-Identifier: Apache-2.0
#include "attn/token_label.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "text/unicode.h"

namespace netcl::attn {

namespace {

using text::Category;

constexpr char32_t kOpenBox = 0x2423;
constexpr char32_t kLineFeedMark = 0x21B5;
constexpr char32_t kTabMark = 0x21E5;
constexpr char32_t kDottedCircle = 0x25CC;
constexpr char32_t kEllipsis = 0x2026;
constexpr char32_t kEmptySet = 0x2205;

// "<0D>", "<U+200B>".
void append_code(const char* prefix, uint32_t value, int digits, std::string& out) {
  out += prefix;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out += "0123456789ABCDEF"[(value >> shift) & 15];
  }
  out += '>';
}

bool is_mark(Category category) {
  return category == Category::kNonspacingMark || category == Category::kSpacingMark ||
         category == Category::kEnclosingMark;
}

// Characters that show nothing, reorder their neighbours or have no agreed shape.
bool needs_code(char32_t c) {
  switch (text::category(c)) {
    case Category::kFormat:
    case Category::kControl:  // 80..9F
    case Category::kSpaceSeparator:
    case Category::kLineSeparator:
    case Category::kParagraphSeparator:
    case Category::kUnassigned:
    case Category::kPrivateUse:
    case Category::kSurrogate:
      return true;
    default:
      // Variation selectors are marks without a shape.
      return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
  }
}

void append_visible(char32_t c, std::string& out) {
  if (c == ' ') {
    text::append_utf8(kOpenBox, out);
  } else if (c == '\n') {
    text::append_utf8(kLineFeedMark, out);
  } else if (c == '\t') {
    text::append_utf8(kTabMark, out);
  } else if (c < 0x20 || c == 0x7F) {
    append_code("<", c, 2, out);
  } else if (needs_code(c)) {
    append_code("<U+", c, c > 0xFFFFF ? 6 : c > 0xFFFF ? 5 : 4, out);
  } else {
    if (out.empty() && is_mark(text::category(c))) {
      text::append_utf8(kDottedCircle, out);
    }
    text::append_utf8(c, out);
  }
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

std::string decode_hex(const std::string& digits, const std::string& where) {
  std::string bytes;
  uint32_t byte = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const char lower = static_cast<char>(digits[i] | 0x20);
    const bool is_digit = digits[i] >= '0' && digits[i] <= '9';
    if (!is_digit && !(lower >= 'a' && lower <= 'f')) {
      throw base::FormatError(where + ": " + base::quote(digits) + " is not hexadecimal");
    }
    byte = byte * 16 + static_cast<uint32_t>(is_digit ? digits[i] - '0' : lower - 'a' + 10);
    if (i % 2 == 1) {
      bytes += static_cast<char>(byte & 0xFF);
      byte = 0;
    }
  }
  if (digits.size() % 2 != 0) {
    throw base::FormatError(where + ": " + base::quote(digits) +
                            " has an odd number of hexadecimal digits");
  }
  return bytes;
}

// `bpe-encode --pieces` in its text form has the id and a tab before the token.
std::string_view without_id(std::string_view line) {
  const size_t digits = line.find_first_not_of("0123456789");
  const bool has_id = digits != 0 && digits != std::string_view::npos && line[digits] == '\t';
  return has_id ? line.substr(digits + 1) : line;
}

std::string token_bytes(const base::Json& value, const std::string& where) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_object() && value.size() == 1 && value.contains("hex") && value["hex"].is_string()) {
    return decode_hex(value["hex"].get<std::string>(), where);
  }
  throw base::FormatError(where + ": a token must be a string or {\"hex\": \"e282\"}");
}

void append_tokens(const base::Json& line, const std::string& where,
                   std::vector<std::string>& tokens) {
  const base::Json* list = &line;
  if (line.is_object() && line.contains("pieces")) {
    list = &line["pieces"];
    if (!list->is_array()) {
      throw base::FormatError(where + ": field 'pieces' must be a list of tokens");
    }
  }
  if (!list->is_array()) {
    tokens.push_back(token_bytes(*list, where));
    return;
  }
  for (const base::Json& token : *list) {
    tokens.push_back(token_bytes(token, where));
  }
}

}  // namespace

std::string visible_text(std::string_view token) {
  std::string out;
  for (size_t pos = 0; pos < token.size();) {
    const text::DecodedChar decoded = text::decode_utf8(token, pos);
    if (decoded.well_formed) {
      append_visible(decoded.code_point, out);
    } else {
      append_code("<", static_cast<uint8_t>(token[pos]), 2, out);
    }
    pos += decoded.byte_count;
  }
  if (out.empty()) {
    text::append_utf8(kEmptySet, out);
  }
  return out;
}

std::string clean_text(std::string_view text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t space = std::min(text.find(' ', begin), text.size());
    if (space > begin) {
      out += visible_text(text.substr(begin, space - begin));
    }
    if (space < text.size()) {
      out += ' ';
    }
    begin = space + 1;
  }
  return out;
}

size_t column_width(std::string_view utf8) {
  size_t columns = 0;
  for (size_t pos = 0; pos < utf8.size();) {
    const text::DecodedChar decoded = text::decode_utf8(utf8, pos);
    columns += is_wide(decoded.code_point) ? 2 : 1;
    pos += decoded.byte_count;
  }
  return columns;
}

std::string shortened(std::string_view utf8, size_t max_columns) {
  if (column_width(utf8) <= max_columns) {
    return std::string(utf8);
  }
  std::string out;
  size_t columns = 1;  // the ellipsis
  for (size_t pos = 0; pos < utf8.size();) {
    const text::DecodedChar decoded = text::decode_utf8(utf8, pos);
    columns += is_wide(decoded.code_point) ? 2 : 1;
    if (columns > max_columns) {
      break;
    }
    out += utf8.substr(pos, decoded.byte_count);
    pos += decoded.byte_count;
  }
  text::append_utf8(kEllipsis, out);
  return out;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::string> read_labels(const std::string& path) {
  const base::FileBytes file = base::FileBytes::open(path);
  const std::string_view all = file.view();
  std::vector<std::string> tokens;
  uint64_t line_number = 0;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = all.substr(begin, end - begin);
    const std::string where = base::at_line(base::display_path(path), ++line_number);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    append_tokens(base::parse_json(without_id(line), where), where, tokens);
  }
  return tokens;
}

}  // namespace netcl::attn
