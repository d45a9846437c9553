// SPDX-License-Identifier: Apache-2.0
// Reader and writer of .tiktoken files: one "base64(bytes) rank" a line, the rank being the id.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "text/base64.h"
#include "text/file_options.h"
#include "text/rank_merges.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

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

}  // namespace

BpeTokenizer parse_tiktoken(std::string_view bytes, const std::string& where,
                            const TokenizerFileOptions& options) {
  TokenizerParts parts;
  parts.where = where;
  parts.rule = MergeRule::kByteRanks;
  apply_file_options(options, "a .tiktoken file", parts);
  parts.vocabulary = make_vocabulary(parse_lines(bytes, where), where);
  for (const AddedToken& token : parts.added_tokens) {
    if (parts.vocabulary.contains(token.id)) {
      throw FormatError(where + ": special token " + quote(token.content) + " has the id " +
                        std::to_string(token.id) + ", which the file gives to another token" +
                        (options.specials_path.empty() ? "; is this the right pattern name?" : ""));
    }
  }
  return BpeTokenizer(std::move(parts));
}

namespace {

[[noreturn]] void cannot(const TokenizerParts& parts, const std::string& why) {
  throw UsageError(parts.where + ": cannot be written as .tiktoken: " + why);
}

}  // namespace

std::optional<std::string> tiktoken_difference(const BpeTokenizer& tokenizer) {
  const TokenizerParts& parts = tokenizer.parts();
  std::string reason;
  const std::optional<Vocabulary> vocabulary = vocabulary_without_added(parts, reason);
  return vocabulary ? difference_to_ranks(parts, *vocabulary) : reason;
}

std::string to_tiktoken(const BpeTokenizer& tokenizer) {
  const TokenizerParts& parts = tokenizer.parts();
  options_to_read_back(tokenizer, ".tiktoken");
  for (const auto& [id, bytes] : parts.decode_only) {
    if (!tokenizer.find_added(bytes)) {
      cannot(parts, "token " + std::to_string(id) + " " + quote(bytes) + " is no bytes of text");
    }
  }
  std::string reason;
  const std::optional<Vocabulary> vocabulary = vocabulary_without_added(parts, reason);
  if (!vocabulary) {
    cannot(parts, reason);
  }
  if (const std::optional<std::string> difference = difference_to_ranks(parts, *vocabulary)) {
    cannot(parts, *difference);
  }
  std::string text;
  for (uint32_t id = 0; id < vocabulary->id_limit(); ++id) {
    if (vocabulary->contains(id)) {
      text += to_base64(vocabulary->bytes(id)) + " " + std::to_string(id) + "\n";
    }
  }
  return text;
}

}  // namespace netcl::text
