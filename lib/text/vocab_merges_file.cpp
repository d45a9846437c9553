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

#include "base/error.h"
#include "text/byte_level.h"
#include "text/file_options.h"
#include "text/hf_json.h"
#include "text/hf_model.h"
#include "text/rank_merges.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

using base::FormatError;
using base::quote;
using base::UsageError;

namespace {

constexpr std::string_view kVersion = "#version";

class VocabMergesReader {
 public:
  VocabMergesReader(std::string_view vocab_json, std::string_view merges_txt,
                    const std::string& vocab_where, const std::string& merges_where)
      : merges_(merges_txt),
        vocab_where_(vocab_where),
        merges_where_(merges_where),
        tokens_(parse_vocab_json(vocab_json, vocab_where)) {}

  void read_vocabulary(TokenizerParts& parts) {
    std::vector<std::string> bytes_of(tokens_.size());
    std::vector<VocabularyEntry> entries;
    std::vector<bool> taken;
    ids_.reserve(tokens_.size());
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const auto& [printable, id] = tokens_[i];
      taken.resize(std::max<size_t>(taken.size(), size_t{id} + 1));
      if (printable.empty() || taken[id] || !ids_.emplace(printable, id).second) {
        throw FormatError(vocab_where_ + ": token " + quote(printable) + ": " +
                          (printable.empty() ? "it is empty"
                           : taken[id]       ? "id " + std::to_string(id) + " is given twice"
                                             : "it is given twice"));
      }
      taken[id] = true;
      if (std::optional<std::string> bytes = from_printable(printable)) {
        bytes_of[i] = std::move(*bytes);
        entries.push_back({id, bytes_of[i]});
      } else {
        parts.decode_only.emplace_back(id, printable);  // no text becomes this token
      }
    }
    parts.vocabulary = Vocabulary(entries);
    check_added_tokens(parts, taken);
  }

  void read_merges(TokenizerParts& parts) const {
    std::string_view rest = merges_;
    std::string joined;
    for (uint64_t number = 1; !rest.empty(); ++number) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      if (line.starts_with(kVersion)) {
        continue;
      }
      const size_t space = line.find(' ');
      if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
        throw FormatError(base::at_line(merges_where_, number) + ": " + quote(line) +
                          " is not two tokens with one space between");
      }
      const std::string_view left = line.substr(0, space);
      const std::string_view right = line.substr(space + 1);
      joined.assign(left).append(right);
      const Merge merge = {id_of(left, number), id_of(right, number), id_of(joined, number)};
      if (parts.vocabulary.contains(merge.left) && parts.vocabulary.contains(merge.right)) {
        parts.merges.push_back(merge);
      }
    }
  }

 private:
  void check_added_tokens(const TokenizerParts& parts, const std::vector<bool>& taken) const {
    for (const AddedToken& token : parts.added_tokens) {
      const auto found = ids_.find(token.content);
      if (found != ids_.end() ? found->second != token.id
                              : token.id < taken.size() && taken[token.id]) {
        throw FormatError(vocab_where_ + ": special token " + quote(token.content) +
                          " should have the id " + std::to_string(token.id) + ", which " +
                          (found != ids_.end()
                               ? "the file gives as " + std::to_string(found->second)
                               : std::string("the file gives to another token")));
      }
    }
  }

  uint32_t id_of(std::string_view printable, uint64_t line) const {
    const auto found = ids_.find(printable);
    if (found == ids_.end()) {
      throw FormatError(base::at_line(merges_where_, line) + ": token " + quote(printable) +
                        " is not in " + vocab_where_);
    }
    return found->second;
  }

  std::string_view merges_;
  const std::string& vocab_where_;
  const std::string& merges_where_;
  std::vector<std::pair<std::string, uint32_t>> tokens_;
  std::unordered_map<std::string_view, uint32_t> ids_;  // by printable form
};

}  // namespace

BpeTokenizer parse_vocab_merges(std::string_view vocab_json, std::string_view merges_txt,
                                const std::string& vocab_where, const std::string& merges_where,
                                const TokenizerFileOptions& options) {
  TokenizerParts parts;
  parts.where = vocab_where;
  apply_file_options(options, "a vocab.json", parts);
  VocabMergesReader reader(vocab_json, merges_txt, vocab_where, merges_where);
  reader.read_vocabulary(parts);
  reader.read_merges(parts);
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
