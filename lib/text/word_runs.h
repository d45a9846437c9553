// SPDX-License-Identifier: Apache-2.0
// Counts of words on disk, for those that do not fit into memory.
#ifndef NETCL_TEXT_WORD_RUNS_H_
#define NETCL_TEXT_WORD_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_file.h"
#include "text/word_counts.h"

namespace netcl::text {

// Sorted runs of words with their counts, each in a temporary file without a name. add_run() is
// safe from several threads at once; the rest is not.
class WordRuns {
 public:
  // In `directory`. `most_runs`, at least 2: when there are more they become one.
  explicit WordRuns(std::string directory, size_t most_runs = 64)
      : directory_(std::move(directory)), most_runs_(most_runs) {}

  // Moves all counts of `words` to disk, which keeps its totals. Throws IoError when the disk has
  // no room for them.
  void add_run(WordCounts& words);

  bool empty() const { return runs_.empty(); }
  void clear() { runs_.clear(); }
  // Makes one run of all. Throws as add_run().
  void merge();
  // Number of words; requires one run, as merge() makes it.
  uint64_t word_count() const;
  // Calls use(word, count) for each word, ascending by bytes; requires one run. A view lives until
  // `use` returns. Throws IoError. Memory: that of the longest word.
  void for_each(const std::function<void(std::string_view, uint64_t)>& use) const;

 private:
  struct Run {
    base::TemporaryFile file;
    uint64_t words = 0;
  };
  class Reader;

  void check_room(uint64_t bytes) const;
  Run merged() const;

  std::string directory_;
  size_t most_runs_;
  std::mutex mutex_;  // guards runs_
  std::vector<Run> runs_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_WORD_RUNS_H_
