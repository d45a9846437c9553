// SPDX-License-Identifier: Apache-2.0
// Cuts text into pre-tokens: the pieces that BPE never merges across. A known pattern is a
// hand-written scanner, vectorised for what the processor has (base/cpu.h); any other regular
// expression goes through the pattern translator (pattern_translator.h) and PCRE2. Both work on
// bytes: a byte that is not part of a well-formed UTF-8 sequence counts as one character U+FFFD
// (neither letter, number, mark nor space), so every byte string can be split.
#ifndef NETCL_TEXT_PRE_SPLITTER_H_
#define NETCL_TEXT_PRE_SPLITTER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text {

// What happens with the matches of a Split (Hugging Face's SplitDelimiterBehavior).
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

// A piece of the text being split: [begin, end) in bytes.
struct Piece {
  size_t begin = 0;
  size_t end = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

// One splitting rule. Immutable and safe to use from several threads at once.
class PreSplitter {
 public:
  virtual ~PreSplitter() = default;

  // Appends the pieces of `text` to `pieces` in order; they never overlap and are never empty. The
  // known patterns cover the whole text; a regex rule keeps unmatched gaps as pieces (Isolated).
  // Throws RegexLimitError (regex_splitter.h) when a limit of a search is hit (regex rules).
  virtual void split(std::string_view text, std::vector<Piece>& pieces) const = 0;

  // Whether every byte of a text lies in a piece and where a piece ends depends on nothing before
  // its begin, so that next_ends() works: true of the known patterns.
  virtual bool covers_text() const { return false; }

  // Ends of the pieces that follow one another from `begin`, a border of pieces (0, or an end given
  // earlier), on: writes at most ends.size() of them, fewer only when the text ends; returns how
  // many. Nothing is kept between calls; no byte outside `text` is read. Requires covers_text() and
  // begin <= text.size().
  virtual size_t next_ends(std::string_view text, size_t begin, std::span<size_t> ends) const;

  // The pattern in the syntax that tokenizer.json stores (the original string of a known pattern).
  virtual const std::string& pattern() const = 0;
  // "gpt2", "cl100k", ... or empty for a regex of the user's.
  virtual std::string_view name() const = 0;
};

// Names accepted by make_named_splitter, in the order help texts show them:
// gpt2 (also r50k, p50k), cl100k, o200k, llama3, qwen2.
const std::vector<std::string_view>& splitter_names();

// Throws UsageError naming the known patterns when `name` is none of them.
std::shared_ptr<const PreSplitter> make_named_splitter(std::string_view name);

// A splitter for any regular expression as tokenizer.json writes it (Oniguruma's syntax; for that
// of fancy-regex see make_pcre2_splitter in regex_splitter.h). When the text of `regex` is exactly
// that of a known pattern and every match is kept (Isolated, or Removed with `invert`), the
// hand-written scanner is returned. Throws FormatError with the offset of what cannot be
// translated.
std::shared_ptr<const PreSplitter> make_regex_splitter(
    std::string_view regex, SplitBehavior behavior = SplitBehavior::kIsolated, bool invert = false);

}  // namespace netcl::text

#endif  // NETCL_TEXT_PRE_SPLITTER_H_
