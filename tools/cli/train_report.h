// SPDX-License-Identifier: Apache-2.0
// The JSON that bpe-train --report writes.
#ifndef NETCL_TOOLS_CLI_TRAIN_REPORT_H_
#define NETCL_TOOLS_CLI_TRAIN_REPORT_H_

#include <cstddef>
#include <string>

#include "text/bpe_trainer.h"

namespace netcl::cli {

// Wall time of the phases of a training run.
struct TrainTimes {
  double count_seconds = 0;
  double merge_seconds = 0;
  double write_seconds = 0;
};

struct TrainReportFacts {
  text::TrainerOptions options;
  text::CountsTotals corpus;
  const text::TrainResult* result = nullptr;  // null when only counts were made
  TrainTimes times;
  std::string input;      // "files", "lines", "jsonl" or "counts"
  size_t file_count = 0;  // inputs read
  size_t thread_count = 0;
};

// One object; tools/README.md lists its keys. The peak memory is that of this process so far.
std::string train_report_json(const TrainReportFacts& facts);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_TRAIN_REPORT_H_
