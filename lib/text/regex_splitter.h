// SPDX-License-Identifier: Apache-2.0
// Splits text by any regular expression, and finds its matches, through the pattern translator and
// PCRE2.
#ifndef NETCL_TEXT_REGEX_SPLITTER_H_
#define NETCL_TEXT_REGEX_SPLITTER_H_

#include <functional>
#include <memory>
#include <string_view>

#include "text/pattern_translator.h"
#include "text/pre_splitter.h"

namespace netcl::text {

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
// FormatError naming the byte offset of the match when a limit on steps (10^8 of one match), memory
// (1 GiB) or time (of one text: 5 s and 5 microseconds a byte of the thread's own time) is hit.
// Cost: that of the pattern; PCRE2's just-in-time compiler is used, and its interpreter when the
// compiled code runs out of stack. Immutable; split() may be called from several threads.
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
