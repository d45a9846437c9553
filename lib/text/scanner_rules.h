// SPDX-License-Identifier: Apache-2.0
// What the hand-written scanners share: the class of a character and the rules that several known
// patterns have in common. A scanner is a struct with one static function,
//
//   size_t piece_end(const ScanText& text, size_t begin);
//
// which returns the end of the piece that starts at `begin` < text.size(). It reproduces the
// leftmost alternative that a backtracking engine would choose, without backtracking: each rule
// reads a run forwards and keeps the places that backtracking could return to. Every byte is read a
// bounded number of times, whatever the text; nothing recurses or allocates.
#ifndef NETCL_TEXT_SCANNER_RULES_H_
#define NETCL_TEXT_SCANNER_RULES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/unicode.h"

namespace netcl::text {

// Bits that a character can have. A character with none of kLetter, kNumber and kSpace is "other":
// [^\s\p{L}\p{N}]. An ill-formed byte has no bits, like U+FFFD, whose place it takes.
using CharClass = uint8_t;
inline constexpr CharClass kLetter = 1;     // \p{L}
inline constexpr CharClass kNumber = 2;     // \p{N}
inline constexpr CharClass kSpace = 4;      // \s
inline constexpr CharClass kNewline = 8;    // CR or LF; kSpace is set too
inline constexpr CharClass kWordHead = 16;  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
inline constexpr CharClass kWordTail = 32;  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
inline constexpr CharClass kNotOther = kLetter | kNumber | kSpace;

namespace detail {

constexpr CharClass class_of_properties(unsigned property_byte) {
  const CategoryMask category = CategoryMask{1} << (property_byte & kCategoryBits);
  const CategoryMask caseless =
      mask_of(Category::kModifierLetter) | mask_of(Category::kOtherLetter) | kMarks;
  const CategoryMask head =
      mask_of(Category::kUppercaseLetter) | mask_of(Category::kTitlecaseLetter) | caseless;
  const CategoryMask tail = mask_of(Category::kLowercaseLetter) | caseless;
  unsigned bits = 0;
  bits |= (category & kLetters) != 0 ? kLetter : 0u;
  bits |= (category & kNumbers) != 0 ? kNumber : 0u;
  bits |= (property_byte & kWhiteSpaceBit) != 0 ? kSpace : 0u;
  bits |= (category & head) != 0 ? kWordHead : 0u;
  bits |= (category & tail) != 0 ? kWordTail : 0u;
  return static_cast<CharClass>(bits);
}

// Indexed by the category and White_Space bits of a property byte.
inline constexpr auto kClassOfProperties = [] {
  std::array<CharClass, 64> table{};
  for (unsigned i = 0; i < table.size(); ++i) {
    table[i] = class_of_properties(i);
  }
  return table;
}();

inline constexpr auto kClassOfAscii = [] {
  std::array<CharClass, 128> table{};
  for (unsigned c = 0; c < table.size(); ++c) {
    if (c >= '0' && c <= '9') {
      table[c] = kNumber;
    } else if (c >= 'A' && c <= 'Z') {
      table[c] = kLetter | kWordHead;
    } else if (c >= 'a' && c <= 'z') {
      table[c] = kLetter | kWordTail;
    } else if (c == '\r' || c == '\n') {
      table[c] = kSpace | kNewline;
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      table[c] = kSpace;
    }
  }
  return table;
}();

}  // namespace detail

struct ScanChar {
  CharClass bits = 0;
  uint32_t byte_count = 0;
  bool has(CharClass any) const { return (bits & any) != 0; }
  bool is_other() const { return (bits & kNotOther) == 0; }
};

// A text being scanned.
class ScanText {
 public:
  explicit ScanText(std::string_view text) : text_(text) {}
  size_t size() const { return text_.size(); }
  // Requires pos < size().
  unsigned char byte(size_t pos) const { return static_cast<unsigned char>(text_[pos]); }
  bool byte_is(size_t pos, char c) const { return pos < text_.size() && text_[pos] == c; }

  ScanChar at(size_t pos) const {
    const unsigned char lead = byte(pos);
    if (lead < 0x80) {
      return {detail::kClassOfAscii[lead], 1};
    }
    const DecodedChar c = decode_utf8(text_, pos);
    return {
        c.well_formed ? detail::kClassOfProperties[properties(c.code_point) & 0x3F] : CharClass{0},
        c.byte_count};
  }

  // End of the run of characters from `pos` that have any of the bits.
  size_t skip_any(size_t pos, CharClass any) const {
    while (pos < size()) {
      const ScanChar c = at(pos);
      if (!c.has(any)) {
        break;
      }
      pos += c.byte_count;
    }
    return pos;
  }

  // End of the run of "other" characters from `pos`.
  size_t skip_other(size_t pos) const {
    while (pos < size()) {
      const ScanChar c = at(pos);
      if (!c.is_other()) {
        break;
      }
      pos += c.byte_count;
    }
    return pos;
  }

 private:
  std::string_view text_;
};

enum class ContractionCase {
  kExact,  // 's|'t|'re|'ve|'m|'ll|'d
  kFold,   // (?i:'s|'t|'re|'ve|'m|'ll|'d), where s also folds U+017F
};

// Length in bytes of the contraction at `pos`, or 0. pos may be text.size().
inline size_t contraction_length(const ScanText& text, size_t pos, ContractionCase fold) {
  if (!text.byte_is(pos, '\'') || pos + 1 >= text.size()) {
    return 0;
  }
  const unsigned lower = fold == ContractionCase::kFold ? 0x20 : 0;
  const auto letter = [&](size_t i) { return i < text.size() ? text.byte(i) | lower : 0u; };
  switch (letter(pos + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(pos + 2) == 'e' ? 3 : 0;
    case 'l':
      return letter(pos + 2) == 'l' ? 3 : 0;
    default:
      break;
  }
  const bool long_s = fold == ContractionCase::kFold && text.byte(pos + 1) == 0xC5 &&
                      pos + 2 < text.size() && text.byte(pos + 2) == 0xBF;
  return long_s ? 3 : 0;
}

// End of \p{N}{1,max_count} at `begin`, which is a number.
inline size_t number_end(const ScanText& text, size_t begin, int max_count) {
  size_t pos = begin;
  for (int count = 0; count < max_count && pos < text.size(); ++count) {
    const ScanChar c = text.at(pos);
    if (!c.has(kNumber)) {
      break;
    }
    pos += c.byte_count;
  }
  return pos;
}

enum class NewlineRule {
  kNone,     // \s+(?!\S)|\s+
  kGrouped,  // \s*[\r\n]+|\s+(?!\S)|\s+
};

// End of the piece at `begin`, which is white space that no earlier alternative took. Let the run
// of white space be [begin, end). With kGrouped, \s* gives back characters until a CR or LF
// follows, so the piece ends after the last one of the run. Otherwise \s+(?!\S) takes the whole run
// at the end of the text, and gives back one character before a non-space; if that leaves nothing,
// \s+ takes the one character.
inline size_t white_space_end(const ScanText& text, size_t begin, NewlineRule rule) {
  size_t pos = begin;
  size_t last_begin = begin;
  size_t newline_end = begin;
  while (pos < text.size()) {
    const ScanChar c = text.at(pos);
    if (!c.has(kSpace)) {
      break;
    }
    last_begin = pos;
    pos += c.byte_count;
    if (c.has(kNewline)) {
      newline_end = pos;
    }
  }
  if (rule == NewlineRule::kGrouped && newline_end > begin) {
    return newline_end;
  }
  return pos == text.size() || last_begin == begin ? pos : last_begin;
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_SCANNER_RULES_H_
