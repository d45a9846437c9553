// SPDX-License-Identifier: Apache-2.0
// Reader and writer of .tiktoken files: one "base64(bytes) rank" a line, the rank being the id.
#include <algorithm>
#include <limits>
#include <optional>
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

// Tokens of a file as they stand there.
struct RankLines {
  base::BigVector<uint64_t> numbers;  // of the lines
  base::BigVector<uint32_t> ranks;
  base::BigVector<size_t> ends;  // of the tokens in `bytes`, which begin where the one before ends
  std::string bytes;
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

void parse_line(std::string_view text, uint64_t number, const std::string& where,
                RankLines& lines) {
  const auto fail = [&](const std::string& why) {
    throw FormatError(base::at_line(where, number) + ": " + why);
  };
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    fail(quote(text) + " is not a token in base64, a space and a rank");
  }
  const size_t begin = lines.bytes.size();
  if (!append_base64(text.substr(0, space), lines.bytes) || lines.bytes.size() == begin) {
    fail(quote(text.substr(0, space)) + " is not the base64 of a token");
  }
  if (lines.bytes.size() - begin > kLongestToken) {
    fail("token of " + std::to_string(lines.bytes.size() - begin) +
         " bytes; the longest allowed is " + std::to_string(kLongestToken));
  }
  const std::optional<uint32_t> rank = parse_rank(text.substr(space + 1));
  if (!rank) {
    fail("rank " + quote(text.substr(space + 1)) + " is not a number below " +
         std::to_string(kMaxIdCount));
  }
  lines.numbers.push_back(number);
  lines.ranks.push_back(*rank);
  lines.ends.push_back(lines.bytes.size());
}

RankLines parse_lines(std::string_view bytes, const std::string& where) {
  RankLines lines;
  lines.bytes.reserve(bytes.size());
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
      parse_line(text, number, where, lines);
    }
  }
  return lines;
}

Vocabulary make_vocabulary(const RankLines& lines, const std::string& where) {
  base::BigVector<VocabularyEntry> entries;
  entries.reserve(lines.ranks.size());
  size_t begin = 0;
  for (size_t i = 0; i < lines.ranks.size(); ++i) {
    entries.push_back(
        {lines.ranks[i], std::string_view(lines.bytes).substr(begin, lines.ends[i] - begin)});
    begin = lines.ends[i];
  }
  if (entries.empty()) {
    throw FormatError(where + ": no tokens in this .tiktoken file");
  }
  Vocabulary::Clash clash;
  std::optional<Vocabulary> vocabulary = Vocabulary::make(entries, clash);
  if (!vocabulary) {
    const VocabularyEntry& entry = entries[clash.second];
    throw FormatError(
        base::at_line(where, lines.numbers[clash.second]) + ": " +
        (clash.same_id ? "rank " + std::to_string(entry.id) : "token " + quote(entry.bytes)) +
        " stands in line " + std::to_string(lines.numbers[clash.first]) + " already");
  }
  return std::move(*vocabulary);
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
                        specials_advice(options));
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
