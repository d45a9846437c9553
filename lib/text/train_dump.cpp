// SPDX-License-Identifier: Apache-2.0
#include "text/train_dump.h"

#include <algorithm>

#include "base/error.h"
#include "text/counts_format.h"

namespace netcl::text {

using base::FormatError;
using base::quote;

namespace {

constexpr std::string_view kBatchKey = "~~merges";

uint64_t require_number(const base::Json& object, const std::string& key,
                        const std::string& where) {
  const base::Json& value = base::require_field(object, key, where);
  if (!value.is_number_unsigned()) {
    throw FormatError(where + ": field '" + key + "': must be a whole number");
  }
  return value.get<uint64_t>();
}

// Which of two words a field has: true for the second.
bool require_choice(const base::Json& object, const std::string& key, const std::string& first,
                    const std::string& second, const std::string& where) {
  const std::string value = base::require_string(object, key, where);
  if (value != first && value != second) {
    throw FormatError(where + ": field '" + key + "': " + quote(value) + " is neither " + first +
                      " nor " + second);
  }
  return value == second;
}

TrainedMerge parse_merge(std::string_view key, uint64_t count, uint64_t number,
                         const std::string& where) {
  const size_t space = std::min(key.find(' '), key.size());
  const uint64_t left = parse_count(key.substr(0, space), 0, where);
  const uint64_t right = parse_count(key.substr(std::min(space + 1, key.size())), 0, where);
  const uint64_t limit = 256 + number;
  if (left >= limit || right >= limit) {
    throw FormatError(where + ": " + quote(key) + " names a token that is not there yet");
  }
  return {static_cast<uint32_t>(left), static_cast<uint32_t>(right), count};
}

}  // namespace

base::Json trainer_options_json(const TrainerOptions& options) {
  base::Json json = counts_header_json(counts_header_of(options));
  json["vocab_size"] = options.vocab_size;
  json["special_place"] = options.special_place == SpecialPlace::kFirst ? "first" : "last";
  json["min_frequency"] = options.min_frequency;
  json["max_token_length"] = options.max_token_length;
  json["byte_order"] = options.byte_order == ByteOrder::kGpt2 ? "gpt2" : "raw";
  return json;
}

TrainerOptions parse_trainer_options(const base::Json& object, const std::string& where) {
  constexpr size_t kMembers = 8;
  TrainerOptions options;
  apply_counts_header(parse_counts_header_json(object, where), options);
  options.vocab_size = require_number(object, "vocab_size", where);
  options.special_place = require_choice(object, "special_place", "first", "last", where)
                              ? SpecialPlace::kLast
                              : SpecialPlace::kFirst;
  options.min_frequency = require_number(object, "min_frequency", where);
  options.max_token_length = require_number(object, "max_token_length", where);
  options.byte_order = require_choice(object, "byte_order", "gpt2", "raw", where)
                           ? ByteOrder::kRaw
                           : ByteOrder::kGpt2;
  if (object.size() != kMembers) {
    throw FormatError(where + ": has options that this program does not know");
  }
  return options;
}

void append_merge_batch(const std::vector<TrainedMerge>& merges, uint64_t total, std::string& out) {
  for (const TrainedMerge& merge : merges) {
    out += std::to_string(merge.left) + ' ' + std::to_string(merge.right) + '\t' +
           std::to_string(merge.count) + '\n';
  }
  out += std::string(kBatchKey) + '\t' + std::to_string(total) + '\n';
}

TrainerOptions read_dump_options(base::LineReader& lines) {
  if (!lines.next()) {
    throw FormatError(lines.path() + ": is empty; dumps are written by bpe-train --dump-every");
  }
  return parse_trainer_options(
      parse_header_line(lines.line(), kDumpMagic, kDumpVersion, "--dump-every", lines.where()),
      lines.where());
}

uint64_t DumpedMerges::line_of(size_t index) const {
  const auto batches_before = std::upper_bound(batch_ends.begin(), batch_ends.end(), index);
  return first_line + index + static_cast<uint64_t>(batches_before - batch_ends.begin());
}

DumpedMerges read_dumped_merges(base::LineReader& lines) {
  DumpedMerges dumped;
  dumped.end = lines.passed_bytes();
  dumped.first_line = lines.line_number() + 1;
  std::vector<TrainedMerge>& merges = dumped.merges;
  while (lines.next() && lines.complete()) {
    const std::string_view line = lines.line();
    if (line.find('\0') != std::string_view::npos) {
      break;  // a crash of the machine leaves zeros of what the disk did not get
    }
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      throw FormatError(lines.where() + ": " + quote(line) + " is not a merge, a tab and a count");
    }
    const std::string_view key = line.substr(0, tab);
    const uint64_t number = parse_count(line.substr(tab + 1), 0, lines.where());
    if (key != kBatchKey) {
      merges.push_back(parse_merge(key, number, merges.size(), lines.where()));
      continue;
    }
    if (number != merges.size()) {
      throw FormatError(lines.where() + ": states " + std::to_string(number) +
                        " merges, but the lines above have " + std::to_string(merges.size()) +
                        "; the file is damaged");
    }
    dumped.batch_ends.push_back(number);
    dumped.end = lines.passed_bytes();
  }
  // What stands behind the last whole batch does not count.
  merges.resize(dumped.batch_ends.empty() ? 0 : dumped.batch_ends.back());
  return dumped;
}

}  // namespace netcl::text
