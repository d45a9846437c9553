// SPDX-License-Identifier: Apache-2.0
// Upper, lower and title case of strings as Python's str has them: utf8proc's mappings of single
// characters, the special ones of Unicode on top.
#include <algorithm>
#include <array>

#include <utf8proc.h>

#include "text/jinja_case_table.h"
#include "text/jinja_chars.h"
#include "text/jinja_engine.h"

namespace netcl::text::jinja {

namespace {

struct Span {
  char32_t first, last;
};

// Lower and upper case characters that are no letters, or modifier letters.
constexpr std::array<Span, 18> kOtherLower = {{{0xAA, 0xAA},
                                               {0xBA, 0xBA},
                                               {0x2B0, 0x2B8},
                                               {0x2C0, 0x2C1},
                                               {0x2E0, 0x2E4},
                                               {0x345, 0x345},
                                               {0x37A, 0x37A},
                                               {0x1D2C, 0x1D6A},
                                               {0x1D78, 0x1D78},
                                               {0x1D9B, 0x1DBF},
                                               {0x2071, 0x2071},
                                               {0x207F, 0x207F},
                                               {0x2090, 0x209C},
                                               {0x2170, 0x217F},
                                               {0x24D0, 0x24E9},
                                               {0x2C7C, 0x2C7D},
                                               {0xA69C, 0xA69D},
                                               {0xA7F8, 0xA7FA}}};
constexpr std::array<Span, 5> kOtherUpper = {{{0x2160, 0x216F},
                                              {0x24B6, 0x24CF},
                                              {0x1F130, 0x1F149},
                                              {0x1F150, 0x1F169},
                                              {0x1F170, 0x1F189}}};

template <size_t kCount>
bool is_among(const std::array<Span, kCount>& spans, char32_t c) {
  return std::any_of(spans.begin(), spans.end(),
                     [c](const Span& span) { return span.first <= c && c <= span.last; });
}

const SpecialCase* special_case(char32_t c) {
  const auto* found = std::lower_bound(
      kSpecialCases.begin(), kSpecialCases.end(), c,
      [](const SpecialCase& entry, char32_t wanted) { return entry.code_point < wanted; });
  return found != kSpecialCases.end() && found->code_point == c ? found : nullptr;
}

std::string mapped(char32_t c, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
  return encode_utf8(static_cast<char32_t>(map(static_cast<utf8proc_int32_t>(c))));
}

std::string upper(char32_t c) {
  const SpecialCase* special = special_case(c);
  return special != nullptr ? std::string(special->upper) : mapped(c, utf8proc_toupper);
}

std::string title(char32_t c) {
  const SpecialCase* special = special_case(c);
  return special != nullptr ? std::string(special->title) : mapped(c, utf8proc_totitle);
}

std::string folded(char32_t c) {
  std::array<utf8proc_int32_t, 8> buffer{};
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(c), buffer.data(), buffer.size(), UTF8PROC_CASEFOLD, &boundary);
  if (count < 1 || count > static_cast<utf8proc_ssize_t>(buffer.size())) {
    return encode_utf8(c);
  }
  std::string text;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(static_cast<char32_t>(buffer[static_cast<size_t>(i)]), text);
  }
  return text;
}

// Characters that do not count when the end of a word is looked for.
bool is_case_ignorable(char32_t c) {
  constexpr CategoryMask kIgnorable =
      mask_of(Category::kNonspacingMark) | mask_of(Category::kEnclosingMark) |
      mask_of(Category::kFormat) | mask_of(Category::kModifierLetter) |
      mask_of(Category::kModifierSymbol);
  constexpr std::u32string_view kInsideWords =
      U"\x27\x2E\x3A\xB7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E"
      U"\uFF1A";
  return in_categories(c, kIgnorable) || kInsideWords.find(c) != std::u32string_view::npos;
}

// Whether the capital sigma at [begin, end) ends a word, where it has a form of its own.
bool is_final_sigma(std::string_view text, size_t begin, size_t end) {
  size_t at = begin;
  bool is_after_letter = false;
  while (at > 0) {
    at = character_before(text, at);
    const char32_t c = decode_utf8(text, at).code_point;
    if (!is_case_ignorable(c)) {
      is_after_letter = is_cased(c);
      break;
    }
  }
  if (!is_after_letter) {
    return false;
  }
  for (at = end; at < text.size();) {
    const DecodedChar c = decode_utf8(text, at);
    if (!is_case_ignorable(c.code_point)) {
      return !is_cased(c.code_point);
    }
    at += c.byte_count;
  }
  return true;
}

std::string lower(std::string_view text, size_t begin, size_t end, char32_t c) {
  if (c == 0x3A3) {
    return encode_utf8(is_final_sigma(text, begin, end) ? 0x3C2 : 0x3C3);
  }
  return c == 0x130 ? "i\xCC\x87" : mapped(c, utf8proc_tolower);
}

}  // namespace

bool is_upper(char32_t c) {
  return is_upper_letter(c) || is_among(kOtherUpper, c);
}
bool is_lower(char32_t c) {
  return is_lower_letter(c) || is_among(kOtherLower, c);
}
bool is_title(char32_t c) {
  return is_title_letter(c);
}
bool is_cased(char32_t c) {
  return is_upper(c) || is_lower(c) || is_title(c);
}

std::vector<size_t> character_begins(std::string_view text) {
  const size_t count = count_characters(text) + 1;
  check_memory(count * sizeof(size_t));
  std::vector<size_t> begins;
  begins.reserve(count);
  for (size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80u) {
      begins.push_back(at);
    }
  }
  begins.push_back(text.size());
  return begins;
}

Text with_case(const Text& text, Case wanted, Budget& budget) {
  budget.step(text.size() / 4);
  const std::string& bytes = text.bytes();
  Text out;
  bool is_inside_word = false;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar decoded = decode_utf8(bytes, at);
    const char32_t c = decoded.code_point;
    const size_t end = at + decoded.byte_count;
    std::string changed;
    switch (wanted) {
      case Case::kUpper:
        changed = upper(c);
        break;
      case Case::kLower:
        changed = lower(bytes, at, end, c);
        break;
      case Case::kTitle:
        changed = is_inside_word ? lower(bytes, at, end, c) : title(c);
        is_inside_word = is_cased(c);
        break;
      case Case::kCapitalized:
        changed = at > 0 ? lower(bytes, at, end, c) : title(c);
        break;
      case Case::kSwapped:
        changed = is_upper(c) ? lower(bytes, at, end, c) : is_lower(c) ? upper(c) : encode_utf8(c);
        break;
      case Case::kFolded:
        changed = folded(c);
        break;
    }
    out.append_for(changed, text, at, end);
    at = end;
  }
  return out;
}

}  // namespace netcl::text::jinja
