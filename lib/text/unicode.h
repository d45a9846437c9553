// SPDX-License-Identifier: Apache-2.0
// Unicode 16.0.0 as the splitters need it: strict UTF-8 one character at a time over arbitrary
// bytes, General_Category, White_Space and Script=Han of every code point. Normalisation and case
// mapping are not here. All functions are pure and safe to call from several threads.
#ifndef NETCL_TEXT_UNICODE_H_
#define NETCL_TEXT_UNICODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode_tables.h"

namespace netcl::text {

inline constexpr std::string_view kUnicodeVersion = "16.0.0";
inline constexpr char32_t kMaxCodePoint = 0x10FFFF;
inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// General_Category. The order is that of scripts/make_unicode_tables.py.
enum class Category : uint8_t {
  kUnassigned,            // Cn
  kUppercaseLetter,       // Lu
  kLowercaseLetter,       // Ll
  kTitlecaseLetter,       // Lt
  kModifierLetter,        // Lm
  kOtherLetter,           // Lo
  kNonspacingMark,        // Mn
  kSpacingMark,           // Mc
  kEnclosingMark,         // Me
  kDecimalNumber,         // Nd
  kLetterNumber,          // Nl
  kOtherNumber,           // No
  kConnectorPunctuation,  // Pc
  kDashPunctuation,       // Pd
  kOpenPunctuation,       // Ps
  kClosePunctuation,      // Pe
  kInitialPunctuation,    // Pi
  kFinalPunctuation,      // Pf
  kOtherPunctuation,      // Po
  kMathSymbol,            // Sm
  kCurrencySymbol,        // Sc
  kModifierSymbol,        // Sk
  kOtherSymbol,           // So
  kSpaceSeparator,        // Zs
  kLineSeparator,         // Zl
  kParagraphSeparator,    // Zp
  kControl,               // Cc
  kFormat,                // Cf
  kSurrogate,             // Cs
  kPrivateUse,            // Co
};
inline constexpr int kCategoryCount = 30;

// Sets of categories as bit masks: bit i is the category of value i.
using CategoryMask = uint32_t;
constexpr CategoryMask mask_of(Category category) {
  return CategoryMask{1} << int(category);
}
constexpr CategoryMask mask_of(Category first, Category last) {
  return (mask_of(last) << 1) - mask_of(first);
}
inline constexpr CategoryMask kLetters =
    mask_of(Category::kUppercaseLetter, Category::kOtherLetter);
inline constexpr CategoryMask kMarks = mask_of(Category::kNonspacingMark, Category::kEnclosingMark);
inline constexpr CategoryMask kNumbers = mask_of(Category::kDecimalNumber, Category::kOtherNumber);
inline constexpr CategoryMask kPunctuation =
    mask_of(Category::kConnectorPunctuation, Category::kOtherPunctuation);
inline constexpr CategoryMask kSymbols = mask_of(Category::kMathSymbol, Category::kOtherSymbol);
inline constexpr CategoryMask kSeparators =
    mask_of(Category::kSpaceSeparator, Category::kParagraphSeparator);
inline constexpr CategoryMask kOthers =
    mask_of(Category::kControl, Category::kPrivateUse) | mask_of(Category::kUnassigned);

// Property byte of a code point: bits 0..4 the Category, then the two bits below.
inline constexpr uint8_t kCategoryBits = 0x1F;
inline constexpr uint8_t kWhiteSpaceBit = 0x20;
inline constexpr uint8_t kHanBit = 0x40;

// Properties of `c`; those of an unassigned code point when c > kMaxCodePoint.
inline uint8_t properties(char32_t c) {
  if (c > kMaxCodePoint) {
    return 0;
  }
  constexpr uint32_t kOffsetMask = (1u << tables::kBlockBits) - 1;
  const uint32_t block = tables::kBlockIndex[c >> tables::kBlockBits];
  return tables::kBlockData[(block << tables::kBlockBits) + (c & kOffsetMask)];
}
inline Category category(char32_t c) {
  return static_cast<Category>(properties(c) & kCategoryBits);
}
inline bool in_categories(char32_t c, CategoryMask mask) {
  return (mask_of(category(c)) & mask) != 0;
}

inline bool is_letter(char32_t c) {
  return in_categories(c, kLetters);
}
inline bool is_mark(char32_t c) {
  return in_categories(c, kMarks);
}
inline bool is_number(char32_t c) {
  return in_categories(c, kNumbers);
}
inline bool is_punctuation(char32_t c) {
  return in_categories(c, kPunctuation);
}
inline bool is_symbol(char32_t c) {
  return in_categories(c, kSymbols);
}
inline bool is_upper_letter(char32_t c) {
  return category(c) == Category::kUppercaseLetter;
}
inline bool is_lower_letter(char32_t c) {
  return category(c) == Category::kLowercaseLetter;
}
inline bool is_title_letter(char32_t c) {
  return category(c) == Category::kTitlecaseLetter;
}
inline bool is_modifier_letter(char32_t c) {
  return category(c) == Category::kModifierLetter;
}
inline bool is_other_letter(char32_t c) {
  return category(c) == Category::kOtherLetter;
}
// White_Space: 25 code points. U+180E, U+200B and U+001C..001F are not among them.
inline bool is_space(char32_t c) {
  return (properties(c) & kWhiteSpaceBit) != 0;
}
inline bool is_han(char32_t c) {
  return (properties(c) & kHanBit) != 0;
}

// A maximal run [first, last] of code points with one property byte.
struct PropertyRun {
  char32_t first = 0;
  char32_t last = 0;
  uint8_t properties = 0;
};

// All runs in ascending order; they cover 0..kMaxCodePoint. Built on the first call (a walk over
// all code points), kept for the life of the process.
const std::vector<PropertyRun>& property_runs();

// One unit of a byte string read as UTF-8.
struct DecodedChar {
  char32_t code_point = 0;  // kReplacementCharacter when ill-formed
  uint32_t byte_count = 0;  // 1..4; 1 when ill-formed
  bool well_formed = false;
};

// The character that starts at text[pos], pos < text.size(). Strict: overlong forms, surrogates,
// values above U+10FFFF, stray continuation bytes and truncated sequences are ill-formed, and then
// exactly the one byte at `pos` is the unit. Source: Unicode 16.0, section 3.9, table 3-7.
inline DecodedChar decode_utf8(std::string_view text, size_t pos) {
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

// End of the bytes below 0x80 from `pos`, at most text.size(), on.
size_t skip_ascii(std::string_view text, size_t pos);

// Offset of the first ill-formed byte at or after `pos`, or text.size() when there is none.
size_t find_ill_formed(std::string_view text, size_t pos = 0);
inline bool is_valid_utf8(std::string_view text) {
  return find_ill_formed(text) == text.size();
}

// Appends the UTF-8 form of `c`. Requires a Unicode scalar value (no surrogate, <= kMaxCodePoint).
void append_utf8(char32_t c, std::string& out);
std::string encode_utf8(char32_t c);

}  // namespace netcl::text

#endif  // NETCL_TEXT_UNICODE_H_
