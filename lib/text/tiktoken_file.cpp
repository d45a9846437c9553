// SPDX-License-Identifier: Apache-2.0
// Reader and writer of .tiktoken files: one "base64(bytes) rank" a line, the rank being the id.
#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "text/base64.h"
#include "text/known_models.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

namespace netcl::text {

using base::FormatError;
using base::quote;
using base::UsageError;

namespace {

// Every split of a token is looked up when the tokenizer is made, so tokens must not be huge.
constexpr size_t kLongestToken = 1 << 16;

struct Line {
  uint64_t number = 0;
  std::string bytes;
  uint32_t rank = 0;
};

std::optional<uint32_t> parse_rank(std::string_view digits) {
  uint64_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    value = value * 10 + static_cast<uint64_t>(digit - '0');
    if (value >= kMaxIdCount) {
      return std::nullopt;
    }
  }
  return digits.empty() ? std::nullopt : std::optional(static_cast<uint32_t>(value));
}

Line parse_line(std::string_view text, uint64_t number, const std::string& where) {
  const std::string place = base::at_line(where, number);
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    throw FormatError(place + ": " + quote(text) + " is not a token in base64, a space and a rank");
  }
  Line line;
  line.number = number;
  std::optional<std::string> bytes = from_base64(text.substr(0, space));
  if (!bytes || bytes->empty()) {
    throw FormatError(place + ": " + quote(text.substr(0, space)) +
                      " is not the base64 of a token");
  }
  if (bytes->size() > kLongestToken) {
    throw FormatError(place + ": token of " + std::to_string(bytes->size()) +
                      " bytes; the longest allowed is " + std::to_string(kLongestToken));
  }
  const std::optional<uint32_t> rank = parse_rank(text.substr(space + 1));
  if (!rank) {
    throw FormatError(place + ": rank " + quote(text.substr(space + 1)) +
                      " is not a number below " + std::to_string(kMaxIdCount));
  }
  line.bytes = std::move(*bytes);
  line.rank = *rank;
  return line;
}

std::vector<Line> parse_lines(std::string_view bytes, const std::string& where) {
  std::vector<Line> lines;
  uint64_t number = 0;
  while (!bytes.empty()) {
    ++number;
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view text = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (text.ends_with('\r')) {
      text.remove_suffix(1);
    }
    if (!text.empty()) {
      lines.push_back(parse_line(text, number, where));
    }
  }
  return lines;
}

Vocabulary make_vocabulary(const std::vector<Line>& lines, const std::string& where) {
  std::unordered_map<uint32_t, uint64_t> line_of_rank;
  std::unordered_map<std::string_view, uint64_t> line_of_token;
  std::vector<VocabularyEntry> entries;
  for (const Line& line : lines) {
    const auto [rank, new_rank] = line_of_rank.emplace(line.rank, line.number);
    const auto [token, new_token] = line_of_token.emplace(line.bytes, line.number);
    if (!new_rank || !new_token) {
      const uint64_t first = new_rank ? token->second : rank->second;
      throw FormatError(
          base::at_line(where, line.number) + ": " +
          (new_rank ? "token " + quote(line.bytes) : "rank " + std::to_string(line.rank)) +
          " stands in line " + std::to_string(first) + " already");
    }
    entries.push_back({line.rank, line.bytes});
  }
  if (entries.empty()) {
    throw FormatError(where + ": no tokens in this .tiktoken file");
  }
  return Vocabulary(entries);
}

// {"<|endoftext|>": 50256, ...}
std::vector<std::pair<std::string, uint32_t>> read_specials(const std::string& path) {
  const base::FileBytes file = base::FileBytes::open(path);
  const std::string where = base::display_path(path);
  const base::Json json = base::parse_json(file.view(), where);
  if (!json.is_object()) {
    throw FormatError(where + ": expected an object of special tokens and ids, found " +
                      json.type_name());
  }
  std::vector<std::pair<std::string, uint32_t>> specials;
  for (const auto& [name, id] : json.items()) {
    if (name.empty() || !id.is_number_unsigned() || id.get<uint64_t>() >= kMaxIdCount) {
      throw FormatError(
          where + ": special token " + quote(name) +
          (name.empty() ? " is empty"
                        : ": the id must be a whole number below " + std::to_string(kMaxIdCount)));
    }
    specials.emplace_back(name, id.get<uint32_t>());
  }
  return specials;
}

}  // namespace

BpeTokenizer parse_tiktoken(std::string_view bytes, const std::string& where,
                            const TokenizerFileOptions& options) {
  if (options.pattern_name.empty() == options.pattern_regex.empty()) {
    throw UsageError(where + ": a .tiktoken file does not carry its split pattern; give " +
                     (options.pattern_name.empty() ? "a pattern name or a pattern regex"
                                                   : "either a name or a regex, not both"));
  }
  TokenizerParts parts;
  parts.where = where;
  parts.rule = MergeRule::kByteRanks;
  std::shared_ptr<const PreSplitter> splitter;
  std::vector<std::pair<std::string, uint32_t>> specials;
  if (options.pattern_regex.empty()) {
    KnownModel model = get_known_model(options.pattern_name);
    splitter = make_named_splitter(model.splitter);
    specials = std::move(model.specials);
  } else {
    splitter = make_regex_splitter(options.pattern_regex);
  }
  if (!options.specials_path.empty()) {
    specials = read_specials(options.specials_path);
  }
  parts.vocabulary = make_vocabulary(parse_lines(bytes, where), where);
  for (auto& [name, id] : specials) {
    if (parts.vocabulary.contains(id)) {
      throw FormatError(where + ": special token " + quote(name) + " has the id " +
                        std::to_string(id) + ", which the file gives to another token" +
                        (options.specials_path.empty() ? "; is this the right pattern name?" : ""));
    }
    parts.added_tokens.push_back({.content = std::move(name), .id = id});
  }
  parts.pre_tokenizer =
      PreTokenizer({make_split_step(std::move(splitter)), make_byte_level_step(false, false)});
  return BpeTokenizer(std::move(parts));
}

namespace {

// A merge list means the same as byte ranks when the merges stand in the order of their results'
// ids, each token of two bytes or more is the result of exactly one of them, and each encodes to
// itself: then all that is left to differ is how a token's bytes are cut when it is made, and that
// is always the same cut (merge_learner.h).
void check_merges_are_ranks(const TokenizerParts& parts) {
  const BpeEncoder encoder(parts.vocabulary, parts.rule, parts.merges, parts.ignore_merges);
  const auto refuse = [&](uint32_t id, const std::string& why) {
    throw UsageError(parts.where + ": cannot be written as .tiktoken: token " + std::to_string(id) +
                     " " + quote(parts.vocabulary.bytes(id)) + " " + why);
  };
  std::optional<uint32_t> before;
  for (const Merge& merge : parts.merges) {
    if (before && merge.result <= *before) {
      refuse(merge.result, "is merged later than a token with a higher id");
    }
    before = merge.result;
  }
  EncodeScratch scratch;
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    ids.clear();
    encoder.encode(parts.vocabulary.bytes(id), scratch, ids);
    if (parts.vocabulary.contains(id) && ids != std::vector<uint32_t>{id}) {
      refuse(id, "is not what its own bytes encode to");
    }
  }
}

}  // namespace

std::string to_tiktoken(const BpeTokenizer& tokenizer) {
  const TokenizerParts& parts = tokenizer.parts();
  if (!parts.normalizer.empty()) {
    throw UsageError(parts.where +
                     ": cannot be written as .tiktoken: that format has no normalizer");
  }
  if (!parts.pre_tokenizer.single_pattern()) {
    throw UsageError(
        parts.where +
        ": cannot be written as .tiktoken: its pre-tokenizer is not one split pattern");
  }
  if (parts.rule == MergeRule::kMergeList) {
    check_merges_are_ranks(parts);
  }
  std::string text;
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    if (parts.vocabulary.contains(id)) {
      text += to_base64(parts.vocabulary.bytes(id)) + " " + std::to_string(id) + "\n";
    }
  }
  return text;
}

}  // namespace netcl::text
