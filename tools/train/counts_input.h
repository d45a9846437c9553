// SPDX-License-Identifier: Apache-2.0
// Files of counted pre-tokens as the input of a training run.
#ifndef NETCL_TOOLS_TRAIN_COUNTS_INPUT_H_
#define NETCL_TOOLS_TRAIN_COUNTS_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "base/progress.h"
#include "text/bpe_trainer.h"
#include "text/counts_format.h"

namespace netcl::train {

// Adds the words and sums that stand behind the present line of `lines` to `trainer`; `report` gets
// the bytes passed every so often. Throws FormatError for damage and for sums beyond 2^63 - 1
// bytes; IoError.
void add_counts(base::LineReader& lines, text::BpeTrainer& trainer,
                const std::function<void(uint64_t)>& report);

// Checks first, adds then: a file that does not go with the others ends the run before any work.
class CountsInput {
 public:
  // Opens every file ("-" is standard input) and reads its header. Throws UsageError for standard
  // input named twice; IoError; FormatError for a file that is none of counts, or one whose options
  // are not those of the first.
  explicit CountsInput(const std::vector<std::string>& paths);

  // The options that all files were counted with.
  const text::CountsHeader& header() const { return header_; }
  size_t file_count() const { return paths_.size(); }

  // Adds all counts to `trainer`. Call it once. Progress: phase "count", unit "bytes", also
  // "words". Throws FormatError for a damaged file and for sums beyond 2^63 - 1 bytes; IoError.
  void add_to(text::BpeTrainer& trainer, const base::ProgressFn& progress);

 private:
  std::vector<std::string> paths_;
  // Of inputs that can be read only once; null for the others, which are opened again, so that any
  // number of them needs few open files.
  std::vector<std::unique_ptr<base::LineReader>> opened_;
  text::CountsHeader header_;
  uint64_t total_bytes_ = 0;
};

}  // namespace netcl::train

#endif  // NETCL_TOOLS_TRAIN_COUNTS_INPUT_H_
