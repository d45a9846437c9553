// SPDX-License-Identifier: Apache-2.0
// The dump of a training run: its options, its counts and the merges made so far, from which a
// later run goes on to the same result. Lines as in a file of counts (counts_format.h):
//
//   !!netcl-dump 1 {"pattern":"cl100k",...,"vocab_size":32000,"special_place":"first",...}
//   !20the<TAB>1041             the words and sums of a file of counts
//   ~~words<TAB>1
//   83 71<TAB>1041              a merge: its two tokens and how often it occurred
//   220 256<TAB>1041
//   ~~merges<TAB>2              the number of merges so far, behind every batch
//
// Tokens are numbered without special tokens: 0 to 255 are the bytes in the order of "byte_order",
// 256 is what the first merge made. Options and counts are there before the first merge; a batch of
// merges counts when its last line is there. So a run that was killed at any moment leaves a dump
// that is good up to its last whole batch. Merges end before a line with a byte 0, which a crash of
// the machine may leave.
#ifndef NETCL_TEXT_TRAIN_DUMP_H_
#define NETCL_TEXT_TRAIN_DUMP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"
#include "base/line_reader.h"
#include "text/bpe_trainer.h"

namespace netcl::text {

inline constexpr std::string_view kDumpMagic = "!!netcl-dump";
inline constexpr uint64_t kDumpVersion = 1;

// All options of a run in a dump's first line, and back. As counts_header_json().
base::Json trainer_options_json(const TrainerOptions& options);
TrainerOptions parse_trainer_options(const base::Json& object, const std::string& where);

// Appends the lines of some merges, of which the last one is the `total`th of the run.
void append_merge_batch(const std::vector<TrainedMerge>& merges, uint64_t total, std::string& out);

// The first line of a dump. Throws FormatError.
TrainerOptions read_dump_options(base::LineReader& lines);

// The merges behind the counts, where `lines` stands, up to the last whole batch. Throws
// FormatError for a line that no interruption leaves.
struct DumpedMerges {
  std::vector<TrainedMerge> merges;
  uint64_t end = 0;                  // bytes of the file up to the last whole batch
  uint64_t first_line = 1;           // number of the line that the first merge stands in
  std::vector<uint64_t> batch_ends;  // merges up to the end of each batch

  // The line that a merge stands in, by its index; a binary search.
  uint64_t line_of(size_t index) const;
};
DumpedMerges read_dumped_merges(base::LineReader& lines);

}  // namespace netcl::text

#endif  // NETCL_TEXT_TRAIN_DUMP_H_
