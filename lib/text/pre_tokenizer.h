// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizer of a tokenizer.json: a chain of splitting steps, exactly one of which is
// "ByteLevel" (bytes take their printable form there) unless the model works on characters. Steps
// before it see the text; steps after it see the printable form, as in Hugging Face `tokenizers`,
// though the pieces are always given in bytes of the text.
#ifndef NETCL_TEXT_PRE_TOKENIZER_H_
#define NETCL_TEXT_PRE_TOKENIZER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pre_splitter.h"

namespace netcl::text {

// One step. `definition` is the JSON object that tokenizer.json holds for it.
struct PreTokenizerStep {
  bool byte_level = false;
  bool add_prefix_space = false;                // byte_level only
  std::shared_ptr<const PreSplitter> splitter;  // null: does not split (ByteLevel without regex)
  std::string definition;
};

// "Split" with a regular expression or a literal string. Throws FormatError as make_regex_splitter.
PreTokenizerStep make_split_step(std::string_view pattern, bool is_literal, SplitBehavior behavior,
                                 bool invert);
// "Split" with a splitter made before, pieces isolated.
PreTokenizerStep make_split_step(std::shared_ptr<const PreSplitter> splitter);
// "ByteLevel"; use_regex splits with the gpt2 pattern.
PreTokenizerStep make_byte_level_step(bool add_prefix_space, bool use_regex,
                                      bool trim_offsets = true);
// "Digits": numeric characters (category N) one by one or in runs.
PreTokenizerStep make_digits_step(bool individual);
// "Punctuation": ASCII punctuation and category P.
PreTokenizerStep make_punctuation_step(SplitBehavior behavior);
// "Whitespace": runs of word characters and runs of what is neither word nor white space; white
// space is removed.
PreTokenizerStep make_whitespace_step();
// "WhitespaceSplit": white space is removed.
PreTokenizerStep make_whitespace_split_step();
// "CharDelimiterSplit": the character is removed.
PreTokenizerStep make_char_delimiter_step(std::string_view character);

// "UnicodeScripts": see make_script_splitter in unicode_scripts.h.
PreTokenizerStep make_unicode_scripts_step();

// Name of a behaviour in tokenizer.json, and back.
std::string_view behavior_name(SplitBehavior behavior);
std::optional<SplitBehavior> find_behavior(std::string_view name);

// A text cut into pieces.
struct PreTokenized {
  // What the pieces point into: the text, or a copy with spaces put in (then in `storage`).
  std::string_view text;
  std::vector<Piece> pieces;
  // Offsets in `text` of the spaces that were put in, ascending.
  std::vector<size_t> inserted;
  std::string storage;
  std::vector<Piece> scratch;

  // Offset in the original of an offset in `text`.
  size_t original(size_t offset) const;
};

// Immutable; split() is safe from several threads.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  // Requires at most one ByteLevel step (std::logic_error: callers check their input).
  explicit PreTokenizer(std::vector<PreTokenizerStep> steps);

  const std::vector<PreTokenizerStep>& steps() const { return steps_; }

  // `text` must live as long as `out` is used. Throws RegexLimitError with the place
  // in it when a limit of a search is hit.
  void split(std::string_view text, PreTokenized& out) const;

  // The splitter whose pieces are those of split(), when there is one that covers every text and
  // nothing else happens; else null.
  const PreSplitter* covering_splitter() const;

  // The one split pattern that says all this pre-tokenizer does (no prefix space), if there is one.
  std::optional<std::string> single_pattern() const;

 private:
  std::vector<PreTokenizerStep> steps_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PRE_TOKENIZER_H_
