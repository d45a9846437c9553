// SPDX-License-Identifier: Apache-2.0
// The counts of a run as a result.
#ifndef NETCL_TOOLS_TRAIN_COUNTS_OUTPUT_H_
#define NETCL_TOOLS_TRAIN_COUNTS_OUTPUT_H_

#include <string_view>

#include "base/file.h"
#include "text/bpe_trainer.h"

namespace netcl::train {

// Writes the header line, all pre-tokens and the sums to `out`, which is left to be committed.
// Throws IoError.
void write_counts(const text::BpeTrainer& trainer, std::string_view header_line,
                  base::OutputFile& out);

}  // namespace netcl::train

#endif  // NETCL_TOOLS_TRAIN_COUNTS_OUTPUT_H_
