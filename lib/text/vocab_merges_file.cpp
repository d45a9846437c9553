// SPDX-License-Identifier: Apache-2.0
// Reader and writer of vocab.json + merges.txt, the two files of GPT-2: a JSON object of tokens in
// printable form and their ids, and a merge "left right" a line in the order of the ranks. As in
// Hugging Face `tokenizers` a line that begins with "#version" is passed over wherever it stands,
// and any other has exactly one space. Pattern, normalizer and added tokens come from the options;
// an added token that stands in vocab.json must have its id there.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/file_options.h"
#include "text/hf_json.h"
#include "text/hf_model.h"
#include "text/printable_vocabulary.h"
#include "text/rank_merges.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

using base::FormatError;
using base::quote;
using base::UsageError;

namespace {

constexpr std::string_view kVersion = "#version";

// The merges of a merges.txt and the lines that they stand on.
struct MergeLines {
  std::vector<PrintableVocabulary::Pair> merges;
  std::vector<uint64_t> numbers;
};

MergeLines read_merge_lines(std::string_view text, const std::string& where) {
  MergeLines lines;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.starts_with(kVersion)) {
      continue;
    }
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      throw FormatError(base::at_line(where, number) + ": " + quote(line) +
                        " is not two tokens with one space between");
    }
    lines.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    lines.numbers.push_back(number);
  }
  return lines;
}

void check_added_tokens(const TokenizerParts& parts, const PrintableVocabulary& vocabulary,
                        const std::string& where, const TokenizerFileOptions& options) {
  for (const AddedToken& token : parts.added_tokens) {
    const std::optional<uint32_t> found = vocabulary.find(token.content);
    if (found ? *found != token.id : vocabulary.has_id(token.id)) {
      throw FormatError(where + ": special token " + quote(token.content) + " should have the id " +
                        std::to_string(token.id) + ", which " +
                        (found ? "the file gives as " + std::to_string(*found)
                               : std::string("the file gives to another token")) +
                        specials_advice(options));
    }
  }
}

}  // namespace

BpeTokenizer parse_vocab_merges(std::string_view vocab_json, std::string_view merges_txt,
                                const std::string& vocab_where, const std::string& merges_where,
                                const TokenizerFileOptions& options) {
  TokenizerParts parts;
  parts.where = vocab_where;
  apply_file_options(options, "a vocab.json", parts);
  const HfJson json = parse_vocab_json(vocab_json, vocab_where);
  const PrintableVocabulary vocabulary(json.vocab, parts, vocab_where);
  check_added_tokens(parts, vocabulary, vocab_where, options);
  const MergeLines lines = read_merge_lines(merges_txt, merges_where);
  vocabulary.add_merges(
      lines.merges, [&](size_t index) { return base::at_line(merges_where, lines.numbers[index]); },
      vocab_where);
  return BpeTokenizer(std::move(parts));
}

std::optional<std::string> vocab_merges_difference(const BpeTokenizer& tokenizer) {
  return difference_to_plain_merges(tokenizer.parts());
}

VocabMerges to_vocab_merges(const BpeTokenizer& tokenizer) {
  const TokenizerParts& parts = tokenizer.parts();
  const auto cannot = [&](const std::string& why) {
    throw UsageError(parts.where + ": cannot be written as vocab.json and merges.txt: " + why);
  };
  options_to_read_back(tokenizer, "vocab.json and merges.txt");
  if (const std::optional<std::string> difference = vocab_merges_difference(tokenizer)) {
    cannot(*difference);
  }
  std::map<uint32_t, std::string> keys = vocabulary_keys(parts);
  std::unordered_map<std::string_view, uint32_t> ids;
  for (const auto& [id, key] : keys) {
    ids.emplace(key, id);
  }
  // Added tokens stand in the vocabulary too: other readers number those that do not by its size.
  std::map<uint32_t, std::string> added;
  for (const AddedToken& token : parts.added_tokens) {
    const auto found = ids.find(token.content);
    if (found != ids.end() && found->second != token.id) {
      cannot("the added token " + quote(token.content) + " is written like the token " +
             std::to_string(found->second));
    }
    const auto key = keys.find(token.id);
    if (key != keys.end() && key->second != token.content) {
      cannot("the id " + std::to_string(token.id) + " stands for both " + quote(key->second) +
             " and " + quote(token.content));
    }
    const auto [place, is_new] = added.emplace(token.id, token.content);
    if (!is_new && place->second != token.content) {
      cannot("the id " + std::to_string(token.id) + " stands for both " + quote(place->second) +
             " and " + quote(token.content));
    }
  }
  keys.merge(added);

  VocabMerges files;
  files.vocab_json = vocabulary_json(keys) + "\n";
  files.merges_txt = "#version: 0.2\n";
  for (const Merge& merge : merge_list(parts).merges) {
    const std::string line = to_printable(parts.vocabulary.bytes(merge.left)) + " " +
                             to_printable(parts.vocabulary.bytes(merge.right));
    if (line.starts_with(kVersion)) {
      cannot("the line of the merge " + quote(line) + " would be taken for the version");
    }
    files.merges_txt += line + "\n";
  }
  return files;
}

}  // namespace netcl::text
