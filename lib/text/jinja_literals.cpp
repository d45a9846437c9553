// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_literals.h"

#include <algorithm>

#include "text/unicode.h"

namespace netcl::text::jinja {

namespace {

int digit_value(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

// End of the run of digits of `base` from `at` on, single underscores between them allowed.
size_t digits_end(std::string_view text, size_t at, int base) {
  const auto is_digit = [&](size_t i) { return i < text.size() && digit_value(text[i]) < base; };
  size_t end = at;
  while (is_digit(end) ||
         (end > at && end < text.size() && text[end] == '_' && is_digit(end + 1))) {
    ++end;
  }
  return end;
}

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// End of the exponent at `at`; `at` when there is none.
size_t exponent_end(std::string_view text, size_t at) {
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) {
    return at;
  }
  size_t digits = at + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) {
    ++digits;
  }
  const size_t end = digits_end(text, digits, 10);
  return end > digits ? end : at;
}

}  // namespace

size_t string_literal_end(std::string_view source, size_t begin) {
  for (size_t at = begin + 1; at < source.size(); ++at) {
    if (source[at] == '\\') {
      ++at;
    } else if (source[at] == source[begin]) {
      return at + 1;
    }
  }
  return 0;
}

std::string unescape(std::string_view inner, std::string& error) {
  std::string out;
  for (size_t at = 0; at < inner.size();) {
    if (inner[at] != '\\' || at + 1 == inner.size()) {
      out += inner[at++];
      continue;
    }
    const char kind = inner[at + 1];
    at += 2;
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t simple = kNames.find(kind); simple != std::string_view::npos) {
      out += kValues[simple];
    } else if (kind == '\n') {
      continue;  // an escaped line ending is nothing
    } else if (digit_value(kind) < 8) {
      char32_t value = 0;
      size_t end = at - 1;
      for (; end < std::min(at + 2, inner.size()) && digit_value(inner[end]) < 8; ++end) {
        value = value * 8 + static_cast<char32_t>(digit_value(inner[end]));
      }
      append_utf8(value, out);
      at = end;
    } else if (kind == 'x' || kind == 'u' || kind == 'U') {
      const size_t count = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
      uint64_t value = 0;
      for (size_t i = 0; i < count; ++i) {
        if (at + i >= inner.size() || digit_value(inner[at + i]) > 15) {
          error = std::string("'\\") + kind + "' needs " + std::to_string(count) + " hex digits";
          return out;
        }
        value = value * 16 + static_cast<uint64_t>(digit_value(inner[at + i]));
      }
      if (value > kMaxCodePoint || (value >= 0xD800 && value <= 0xDFFF)) {
        error = "the escape names no character";
        return out;
      }
      append_utf8(static_cast<char32_t>(value), out);
      at += count;
    } else if (kind == 'N') {
      error = "characters by name ('\\N') are not supported";
      return out;
    } else {
      out += '\\';
      out += kind;
    }
  }
  return out;
}

NumberLiteral number_literal(std::string_view source, size_t begin, bool may_be_float) {
  const auto literal = [&](bool is_float, size_t end) {
    return NumberLiteral{is_float, without_underscores(source.substr(begin, end - begin)), end};
  };
  const size_t whole = digits_end(source, begin, 10);
  if (may_be_float) {
    size_t end = whole;
    if (end + 1 < source.size() && source[end] == '.') {
      const size_t fraction = digits_end(source, end + 1, 10);
      end = fraction > end + 1 ? fraction : end;
    }
    end = exponent_end(source, end);
    if (end > whole) {
      return literal(true, end);
    }
  }
  if (source[begin] != '0') {
    return literal(false, whole);
  }
  if (begin + 1 < source.size()) {
    const char prefix = source[begin + 1];
    const int base = prefix == 'x' || prefix == 'X'   ? 16
                     : prefix == 'o' || prefix == 'O' ? 8
                     : prefix == 'b' || prefix == 'B' ? 2
                                                      : 0;
    if (base != 0) {
      size_t digits = begin + 2;
      if (digits < source.size() && source[digits] == '_') {
        ++digits;
      }
      if (const size_t end = digits_end(source, digits, base); end > digits) {
        return literal(false, end);
      }
    }
  }
  return literal(false, digits_end(source, begin, 1));  // zeros only
}

}  // namespace netcl::text::jinja
