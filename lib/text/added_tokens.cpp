// SPDX-License-Identifier: Apache-2.0
#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr size_t kSmallestBlock = size_t{1} << 16;
constexpr size_t kLargestBlock = size_t{1} << 30;

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
    : automaton_(contents), tokens_(tokens) {
  lengths_.reserve(contents.size());
  for (const std::string& content : contents) {
    lengths_.push_back(content.size());
  }
}

// One find() call, fed with the longest token of each place in ascending order.
class AddedTokenMatcher::Selection {
 public:
  Selection(const AddedTokenMatcher& matcher, std::string_view text,
            const std::vector<bool>& ignored, std::vector<AddedMatch>& matches)
      : matcher_(matcher), text_(text), ignored_(ignored), matches_(matches) {}

  // First place where a token may still begin.
  size_t next() const { return next_; }

  void offer(size_t at, uint32_t token) {
    if (at < next_) {
      return;
    }
    const AddedToken& added = matcher_.tokens_[token];
    AddedMatch match = {at, at + matcher_.lengths_[token], at, token};
    next_ = match.end;
    if ((token < ignored_.size() && ignored_[token]) ||
        (added.single_word && !is_alone(text_, match.begin, match.end))) {
      return;
    }
    if (added.lstrip) {
      take_space_before(match);
    }
    if (added.rstrip) {
      take_space_after(match);
    }
    // White space that the token before took may begin this token's own text.
    // As Hugging Face has it, such a token is left out if it takes white space to its left and the
    // token before took all of it, and only then.
    if (added.lstrip && match.end <= taken_) {
      return;
    }
    match.begin = std::max(match.begin, std::min(taken_, match.content_begin));
    taken_ = match.end;
    matches_.push_back(match);
  }

 private:
  void take_space_before(AddedMatch& match) const {
    while (match.begin > taken_) {
      const DecodedChar before = decode_before(text_, match.begin);
      if (!is_space(before.code_point)) {
        break;
      }
      match.begin -= before.byte_count;
    }
  }

  void take_space_after(AddedMatch& match) {
    // A token that is itself white space may lie in a run that was walked through before.
    match.end = std::max(match.end, space_end_);
    while (match.end < text_.size()) {
      const DecodedChar after = decode_utf8(text_, match.end);
      if (!is_space(after.code_point)) {
        break;
      }
      match.end += after.byte_count;
    }
    space_end_ = match.end;
  }

  const AddedTokenMatcher& matcher_;
  std::string_view text_;
  const std::vector<bool>& ignored_;
  std::vector<AddedMatch>& matches_;
  size_t next_ = 0;
  size_t taken_ = 0;      // end of the last match, with the white space it took
  size_t space_end_ = 0;  // end of the last run of white space that was walked through
};

void AddedTokenMatcher::find(std::string_view text, const std::vector<bool>& ignored,
                             std::vector<AddedMatch>& matches) const {
  const ByteSpan everywhere = {0, text.size()};
  find(text, ignored, {&everywhere, 1}, matches);
}

void AddedTokenMatcher::find(std::string_view text, const std::vector<bool>& ignored,
                             std::span<const ByteSpan> places,
                             std::vector<AddedMatch>& matches) const {
  if (empty()) {
    return;
  }
  // Blocks bound the list of hits; what a block reads beyond its end is a quarter of it at most
  // (strings of 256 MiB apart).
  const size_t block = std::clamp(4 * automaton_.longest(), kSmallestBlock, kLargestBlock);
  std::vector<TokenAutomaton::Hit> hits;
  Selection selection(*this, text, ignored, matches);
  for (const ByteSpan& place : places) {
    const std::string_view readable = text.substr(0, place.end);
    for (size_t begin = place.begin; begin < readable.size();) {
      const size_t end = begin + std::min(block, readable.size() - begin);
      automaton_.find(readable, begin, end, hits);
      for (auto hit = hits.rbegin(); hit != hits.rend(); ++hit) {
        selection.offer(begin + hit->at, hit->token);
      }
      begin = std::max(end, selection.next());
    }
  }
}

}  // namespace netcl::text
