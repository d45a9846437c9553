// SPDX-License-Identifier: Apache-2.0
// Counts of the pre-tokens of a corpus, made by several threads within a limit of memory.
#ifndef NETCL_TEXT_CORPUS_COUNTS_H_
#define NETCL_TEXT_CORPUS_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/word_counts.h"
#include "text/word_runs.h"

namespace netcl::text {

// A table for each thread; with a limit, tables that are full go to disk. The functions that take a
// thread may be called by several threads at once, each with a number of its own.
class CorpusCounts {
 public:
  // Memory that is enough to use a word afterwards, for messages.
  using LaterMemory = std::function<uint64_t(std::string_view word)>;

  // `memory_limit`: bytes that the process may take, 0 = no limit; see BpeTrainer. Throws
  // UsageError when it is too small for one thread.
  explicit CorpusCounts(uint64_t memory_limit = 0, const std::string& temp_dir = "",
                        LaterMemory later_memory = {});

  // Makes thread numbers below `count` known. Throws UsageError naming the least limit when that of
  // memory is too small for so many.
  void use_threads(size_t count);

  // Memory that the texts take which are counted now, and a word that is known to be among them, or
  // none. Throws as use_threads(), with what the word needs in the number that is named.
  void set_text_bytes(uint64_t bytes, std::string_view known_word = {});

  // WordCounts::add() and add_pieces(). Throw as those; UsageError when one word needs more memory
  // than there is, naming limits that would do for counting and for what comes later; IoError when
  // the disk is full.
  void add(size_t thread, std::string_view word, uint64_t count);
  void add_pieces(size_t thread, std::string_view text, size_t begin, std::span<const size_t> ends);

  // Sum of all counts.
  uint64_t total() const;

  // Puts the counts of all threads together: in the table of the first one, or on disk when some
  // are there or all together would not fit. More may be added later. Throws as add().
  void join();
  // After join(): moves what takes much memory to disk if there is a limit.
  void free_memory();
  // Forgets all counts.
  void clear();

  // After join(), until more is added: number of distinct words; every word with its count, in no
  // particular order or ascending by bytes. A view lives until `use` returns or, without a limit,
  // until the counts change. Throws IoError when a file cannot be read.
  uint64_t size() const;
  void for_each(const WordCounts::WordUse& use) const;
  void for_each_sorted(const WordCounts::WordUse& use) const;

 private:
  struct alignas(64) Table {  // apart from the others in memory
    WordCounts words;
  };

  void share_memory(size_t threads, std::string_view known_word = {});
  void make_room(WordCounts& words, size_t count, std::string_view bytes);
  std::string enough_memory(uint64_t counting, std::string_view word) const;
  bool is_on_disk() const { return runs_ != nullptr && !runs_->empty(); }
  void move_to_disk();

  uint64_t memory_limit_;
  uint64_t text_bytes_ = 0;
  uint64_t table_bytes_ = 0;  // most memory for a table; 0 = no limit
  std::vector<Table> tables_;
  std::unique_ptr<WordRuns> runs_;  // with a limit
  LaterMemory later_memory_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_CORPUS_COUNTS_H_
