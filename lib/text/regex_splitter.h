// SPDX-License-Identifier: Apache-2.0
// Splits text by any regular expression, and finds its matches, through the pattern translator and
// PCRE2.
#ifndef NETCL_TEXT_REGEX_SPLITTER_H_
#define NETCL_TEXT_REGEX_SPLITTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/pattern_translator.h"
#include "text/pre_splitter.h"

namespace netcl::text {

// A search that was given up. Who searched in a part of something else, or for someone who has a
// name for the text, throws it anew with that place.
class RegexLimitError : public base::FormatError {
 public:
  // `offset`: where in the text that was searched, which is called `where`.
  RegexLimitError(uint64_t offset, const std::string& reason, std::string_view where = "text")
      : FormatError(base::at_byte(where, offset) + ": " + reason),
        offset_(offset),
        reason_(reason) {}
  uint64_t offset() const { return offset_; }
  RegexLimitError at(uint64_t offset, std::string_view where = "text") const {
    return {offset, reason_, where};
  }

 private:
  uint64_t offset_;
  std::string reason_;
};

// The PCRE2 path alone: never a scanner, which makes it the oracle of the scanners.
//
// Matches are found from left to right as Hugging Face's Oniguruma iterator does: an empty match
// right after the previous match is passed over and the search goes on one character further. With
// `invert` matches and gaps change roles. Then, as its Split does:
//   kIsolated            matches and gaps are pieces
//   kRemoved             gaps are pieces
//   kContiguous          neighbouring matches are one piece, gaps are pieces
//   kMergedWithPrevious  a match is joined to the gap before it; a match right after a match stays
//                        a piece of its own
//   kMergedWithNext      the mirror image
//
// An ill-formed byte is matched as U+FFFD and stays one byte of a piece; only texts that have one
// are copied. Throws FormatError when the pattern cannot be translated or compiled; split() throws
// RegexLimitError naming the byte offset of the match when a limit on steps (10^8 of one match),
// memory (1 GiB) or time (of one text: 5 s and 5 microseconds a byte of the thread's own time) is
// hit. Cost: that of the pattern; PCRE2's just-in-time compiler is used, and its interpreter when
// the compiled code runs out of stack. Immutable; split() may be called from several threads.
std::shared_ptr<const PreSplitter> make_pcre2_splitter(
    std::string_view regex, SplitBehavior behavior = SplitBehavior::kIsolated, bool invert = false,
    RegexDialect dialect = RegexDialect::kOniguruma);

// Finds the matches of a regular expression, which is what a Replace normalizer needs. Immutable;
// find() may be called from several threads.
class RegexMatcher {
 public:
  virtual ~RegexMatcher() = default;
  // Calls use() with the matches in `text` in order, empty ones among them, as the search above
  // finds them; none in an empty text. Throws as split() does, and what use() throws.
  virtual void find(std::string_view text, const std::function<void(const Piece&)>& use) const = 0;
};

// Throws as make_pcre2_splitter.
std::shared_ptr<const RegexMatcher> make_regex_matcher(
    std::string_view regex, RegexDialect dialect = RegexDialect::kOniguruma);

}  // namespace netcl::text

#endif  // NETCL_TEXT_REGEX_SPLITTER_H_
