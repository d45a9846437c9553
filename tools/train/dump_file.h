// SPDX-License-Identifier: Apache-2.0
// The dump of a run as a file: written while it learns, read to go on.
#ifndef NETCL_TOOLS_TRAIN_DUMP_FILE_H_
#define NETCL_TOOLS_TRAIN_DUMP_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/append_file.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/progress.h"
#include "text/bpe_trainer.h"
#include "text/train_dump.h"

namespace netcl::train {

// A dump that an earlier run left. Its options first, counts and merges when asked for.
class DumpInput {
 public:
  // Opens a regular file and reads its first line. Throws IoError, FormatError.
  explicit DumpInput(const std::string& path);

  const text::TrainerOptions& options() const { return options_; }
  const std::string& path() const { return lines_.path(); }

  // Adds the counts to `trainer` and reads the merges. Call it once. Progress: phase "count", unit
  // "bytes". Throws FormatError for a damaged file, IoError.
  void add_to(text::BpeTrainer& trainer, const base::ProgressFn& progress);

  // After add_to(): the merges up to the last whole batch, and where in the file that ends.
  const std::vector<text::TrainedMerge>& merges() const { return dumped_.merges; }
  uint64_t end() const { return dumped_.end; }
  // The place of a merge in messages, by its index.
  std::string where(size_t index) const;

 private:
  base::LineReader lines_;
  text::TrainerOptions options_;
  text::DumpedMerges dumped_;
};

// Writes a dump: options and counts in one go, then a batch of merges every so often.
class DumpOutput {
 public:
  // A new dump. Throws IoError when the file cannot be made.
  DumpOutput(const std::string& path, uint64_t every);
  // One that goes on behind the merges of `input`, whose file it is.
  DumpOutput(const DumpInput& input, uint64_t every);

  // Of a new dump: options and counts, which are there as a whole afterwards.
  void begin(const text::BpeTrainer& trainer, const text::TrainerOptions& options);
  // The next merge. Throws IoError.
  void add(const text::TrainedMerge& merge);
  // Writes the merges that fill no batch, and waits until the disk has all.
  void finish();

 private:
  void write_batch();

  std::string path_;
  uint64_t every_;
  uint64_t total_ = 0;  // merges so far
  std::vector<text::TrainedMerge> batch_;
  std::optional<base::OutputFile> new_file_;  // until the counts are written
  std::optional<base::AppendFile> file_;
};

}  // namespace netcl::train

#endif  // NETCL_TOOLS_TRAIN_DUMP_FILE_H_
