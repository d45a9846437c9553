// SPDX-License-Identifier: Apache-2.0
#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr uint32_t kNone = PairMap::kNone;

// \w of Unicode Technical Standard 18: Alphabetic, marks, decimal digits, connectors and the two
// joiners. Alphabetic beyond letters, letter numbers and marks is the four runs of circled, squared
// and negative Latin letters (Other_Alphabetic among the symbols).
bool is_word_character(char32_t c) {
  constexpr CategoryMask kWord = kLetters | kMarks |
                                 mask_of(Category::kDecimalNumber, Category::kLetterNumber) |
                                 mask_of(Category::kConnectorPunctuation);
  return in_categories(c, kWord) || c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

// The character that ends at text[end - 1], end > 0.
DecodedChar decode_before(std::string_view text, size_t end) {
  for (size_t length = 1; length <= std::min<size_t>(4, end); ++length) {
    const DecodedChar c = decode_utf8(text, end - length);
    if (c.well_formed && c.byte_count == length) {
      return c;
    }
  }
  return {kReplacementCharacter, 1, false};
}

bool is_alone(std::string_view text, size_t begin, size_t end) {
  const bool word_before = begin > 0 && is_word_character(decode_before(text, begin).code_point);
  const bool word_after = end < text.size() && is_word_character(decode_utf8(text, end).code_point);
  return !word_before && !word_after;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(const std::vector<AddedToken>& tokens,
                                     const std::vector<std::string>& contents)
    : terminals_(1, kNone), tokens_(tokens) {
  for (uint32_t token = 0; token < contents.size(); ++token) {
    uint32_t node = 0;
    for (const char byte : contents[token]) {
      uint32_t& child = children_.at(node, static_cast<uint8_t>(byte));
      if (child == kNone) {
        child = static_cast<uint32_t>(terminals_.size());
        terminals_.push_back(kNone);
      }
      node = child;
    }
    if (node != 0 && terminals_[node] == kNone) {
      terminals_[node] = token;
      may_begin_[static_cast<uint8_t>(contents[token][0])] = true;
    }
  }
}

size_t AddedTokenMatcher::longest_at(std::string_view text, size_t at, uint32_t& token) const {
  size_t end = 0;
  uint32_t node = 0;
  while (at < text.size()) {
    node = children_.find(node, static_cast<uint8_t>(text[at]));
    if (node == kNone) {
      break;
    }
    ++at;
    if (terminals_[node] != kNone) {
      end = at;
      token = terminals_[node];
    }
  }
  return end;
}

void AddedTokenMatcher::find(std::string_view text, const std::vector<bool>& ignored,
                             std::vector<AddedMatch>& matches) const {
  if (empty()) {
    return;
  }
  size_t taken = 0;  // end of the last match, with the white space it took
  size_t at = 0;
  while (at < text.size()) {
    uint32_t token = 0;
    const size_t found_end =
        may_begin_[static_cast<uint8_t>(text[at])] ? longest_at(text, at, token) : 0;
    if (found_end == 0) {
      ++at;
      continue;
    }
    AddedMatch match = {at, found_end, at, token};
    at = found_end;
    if ((token < ignored.size() && ignored[token]) ||
        (tokens_[token].single_word && !is_alone(text, match.begin, match.end))) {
      continue;
    }
    if (tokens_[token].lstrip) {
      while (match.begin > taken) {
        const DecodedChar before = decode_before(text, match.begin);
        if (!is_space(before.code_point)) {
          break;
        }
        match.begin -= before.byte_count;
      }
    }
    if (tokens_[token].rstrip) {
      while (match.end < text.size()) {
        const DecodedChar after = decode_utf8(text, match.end);
        if (!is_space(after.code_point)) {
          break;
        }
        match.end += after.byte_count;
      }
    }
    // White space that the token before took may begin this token's own text.
    match.begin = std::max(match.begin, std::min(taken, match.content_begin));
    taken = match.end;
    matches.push_back(match);
  }
}

}  // namespace netcl::text
