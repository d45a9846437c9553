// SPDX-License-Identifier: Apache-2.0
#include "cli/train_report.h"

#include "base/json_file.h"
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

}  // namespace

std::string train_report_json(const text::TrainResult& result, const text::TrainerOptions& options,
                              const TrainTimes& times) {
  const text::TrainReport& report = result.report;
  base::Json json;
  json["tool"] = std::string("bpe-train ") + base::kVersion;
  json["pattern"] = options.pattern_regex.empty() ? options.pattern : options.pattern_regex;
  json["vocab_size_wanted"] = options.vocab_size;
  json["vocab_size"] = result.tokenizer.vocab_size();
  json["documents"] = report.documents;
  json["corpus_bytes"] = report.bytes;
  json["pre_tokens"] = report.pre_tokens;
  json["distinct_pre_tokens"] = report.distinct_pre_tokens;
  json["merges"] = report.merges;
  json["reused_ids"] = report.reused_ids;
  json["first_merge_count"] = report.first_merge_count;
  json["last_merge_count"] = report.last_merge_count;
  // A corpus that is empty, or all special tokens, has no tokens: null.
  json["bytes_per_token"] =
      report.tokens == 0
          ? base::Json()
          : base::Json(static_cast<double>(report.bytes) / static_cast<double>(report.tokens));
  json["stopped"] = stop_name(report.stopped);
  json["seconds"] = {{"count", times.count_seconds},
                     {"merge", times.merge_seconds},
                     {"write", times.write_seconds}};
  return base::to_text(json, 2) + "\n";
}

}  // namespace netcl::cli
