// SPDX-License-Identifier: Apache-2.0
#include "text/document_cut.h"

#include <algorithm>

#include "text/scanner_rules.h"
#include "text/unicode.h"

namespace netcl::text {

namespace {

bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Any byte of a character beyond ASCII counts: it may be of a letter.
bool may_be_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

bool may_be_letter_or_number(char c) {
  return may_be_letter(c) || (c >= '0' && c <= '9');
}

// The character that ends at `end` > 0.
ScanChar char_before(const ScanText& text, size_t end) {
  for (size_t length = std::min<size_t>(end, 4); length > 1; --length) {
    const ScanChar c = text.at(end - length);
    if (c.byte_count == length) {
      return c;
    }
  }
  return text.at(end - 1);
}

}  // namespace

size_t find_safe_cut(std::string_view text, size_t from, const NormalForm* form) {
  const ScanText scan(text);
  // `c` begins at `at`. Bytes that are no well-formed UTF-8 are not normalized.
  const auto is_plain = [&](const ScanChar& c, size_t at) {
    if (form == nullptr || c.byte_count == 0) {
      return true;
    }
    const DecodedChar decoded = decode_utf8(text, at);
    return !decoded.well_formed || form->is_plain(decoded.code_point);
  };
  const auto is_plain_before = [&](const ScanChar& c, size_t end) {
    return is_plain(c, end - c.byte_count);
  };
  for (size_t at = std::max<size_t>(from, 1); at < text.size(); ++at) {
    if (is_ascii_space(text[at])) {
      const ScanChar before = char_before(scan, at);
      if (before.has(kLetter | kNumber) && is_plain_before(before, at)) {
        return at;
      }
    } else if (text[at - 1] == '\n' && at >= 2) {
      const ScanChar after = scan.at(at);
      const ScanChar before = char_before(scan, at - 1);
      if (after.has(kLetter) && is_plain(after, at) && !before.has(kSpace) &&
          is_plain_before(before, at - 1)) {
        return at;
      }
    }
  }
  return text.size();
}

bool may_lie_across_cuts(std::string_view content) {
  for (size_t i = 1; i < content.size(); ++i) {
    if ((is_ascii_space(content[i]) && may_be_letter_or_number(content[i - 1])) ||
        (content[i - 1] == '\n' && may_be_letter(content[i]))) {
      return true;
    }
  }
  return false;
}

bool may_depend_on_cuts(const AddedToken& token) {
  const std::string_view content = token.content;
  return may_lie_across_cuts(content) || (token.lstrip && may_be_letter(content.front())) ||
         (token.rstrip && may_be_letter_or_number(content.back())) ||
         (token.single_word && (is_ascii_space(content.front()) || content.back() == '\n'));
}

}  // namespace netcl::text
