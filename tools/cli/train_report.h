// SPDX-License-Identifier: Apache-2.0
// The JSON that bpe-train --report writes.
#ifndef NETCL_TOOLS_CLI_TRAIN_REPORT_H_
#define NETCL_TOOLS_CLI_TRAIN_REPORT_H_

#include <string>

#include "text/bpe_trainer.h"

namespace netcl::cli {

// Wall time of the phases of a training run.
struct TrainTimes {
  double count_seconds = 0;
  double merge_seconds = 0;
  double write_seconds = 0;
};

// One object; tools/README.md lists its keys.
std::string train_report_json(const text::TrainResult& result, const text::TrainerOptions& options,
                              const TrainTimes& times);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_TRAIN_REPORT_H_
