// SPDX-License-Identifier: Apache-2.0
#include "cli/train_report.h"

#include "base/json_file.h"
#include "base/peak_memory.h"
#include "base/version.h"

namespace netcl::cli {

namespace {

const char* stop_name(text::StopReason reason) {
  switch (reason) {
    case text::StopReason::kVocabSize:
      return "vocab-size";
    case text::StopReason::kNoPairs:
      return "no-pairs";
    case text::StopReason::kMinFrequency:
      return "min-frequency";
  }
  return "";
}

base::Json options_json(const TrainReportFacts& facts) {
  const text::TrainerOptions& options = facts.options;
  base::Json json = text::counts_header_json(text::counts_header_of(options));
  json["vocab_size"] = options.vocab_size;
  json["special_place"] = options.special_place == text::SpecialPlace::kFirst ? "first" : "last";
  json["min_frequency"] = options.min_frequency;
  json["max_token_length"] =
      options.max_token_length == 0 ? base::Json() : base::Json(options.max_token_length);
  json["byte_order"] = options.byte_order == text::ByteOrder::kGpt2 ? "gpt2" : "raw";
  json["input"] = facts.input;
  json["files"] = facts.file_count;
  json["threads"] = facts.thread_count;
  return json;
}

// What merging found; all null when there was none.
void add_merge_facts(const text::TrainResult* result, base::Json& json) {
  for (const char* key : {"merges", "reused_ids", "first_merge_count", "last_merge_count",
                          "bytes_per_token", "stopped"}) {
    json[key] = nullptr;
  }
  if (result == nullptr) {
    return;
  }
  const text::TrainReport& report = result->report;
  json["merges"] = report.merges;
  json["reused_ids"] = report.reused_ids;
  json["first_merge_count"] = report.first_merge_count;
  json["last_merge_count"] = report.last_merge_count;
  // A corpus that is empty, or all special tokens, has no tokens: null.
  if (report.tokens > 0) {
    json["bytes_per_token"] =
        static_cast<double>(report.bytes) / static_cast<double>(report.tokens);
  }
  json["stopped"] = stop_name(report.stopped);
}

}  // namespace

std::string train_report_json(const TrainReportFacts& facts) {
  const text::TrainerOptions& options = facts.options;
  base::Json json;
  json["tool"] = std::string("bpe-train ") + base::kVersion;
  json["pattern"] = options.pattern_regex.empty() ? options.pattern : options.pattern_regex;
  json["vocab_size_wanted"] = options.vocab_size;
  json["vocab_size"] =
      facts.result == nullptr ? base::Json() : base::Json(facts.result->tokenizer.vocab_size());
  json["documents"] = facts.corpus.documents;
  json["corpus_bytes"] = facts.corpus.bytes;
  json["pre_tokens"] = facts.corpus.pieces;
  json["distinct_pre_tokens"] = facts.corpus.words;
  add_merge_facts(facts.result, json);
  json["seconds"] = {{"count", facts.times.count_seconds},
                     {"merge", facts.times.merge_seconds},
                     {"write", facts.times.write_seconds}};
  json["peak_memory_bytes"] = base::peak_memory_bytes();
  json["options"] = options_json(facts);
  return base::to_text(json, 2) + "\n";
}

}  // namespace netcl::cli
