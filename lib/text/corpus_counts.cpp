// SPDX-License-Identifier: Apache-2.0
#include "text/corpus_counts.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/memory_limit_error.h"

namespace netcl::text {

namespace {

// Memory that a limit leaves to all but counts: the program, the parts of texts under way.
constexpr uint64_t kOtherMemory = uint64_t{16} << 20;
// Least memory for a table; and what a thread takes beside it, with the old one while it grows.
constexpr uint64_t kLeastTable = uint64_t{2} << 20;
constexpr uint64_t kThreadMemory = uint64_t{3} << 20;
// Tables that the merge phase has room for beside it.
constexpr uint64_t kFewBytes = uint64_t{2} << 20;

}  // namespace

CorpusCounts::CorpusCounts(uint64_t memory_limit, const std::string& temp_dir,
                           LaterMemory later_memory)
    : memory_limit_(memory_limit), later_memory_(std::move(later_memory)) {
  if (memory_limit_ != 0) {
    runs_ = std::make_unique<WordRuns>(temp_dir);
  }
  use_threads(1);
}

void CorpusCounts::use_threads(size_t count) {
  if (count <= tables_.size()) {
    return;
  }
  if (memory_limit_ != 0) {
    share_memory(count);
  }
  tables_.resize(count);
}

void CorpusCounts::set_text_bytes(uint64_t bytes, std::string_view known_word) {
  constexpr uint64_t kSmallTexts = uint64_t{4} << 20;  // in kOtherMemory
  text_bytes_ = bytes < kSmallTexts ? 0 : bytes;
  if (memory_limit_ != 0) {
    share_memory(tables_.size(), known_word);
  }
}

// That so much would do for counting a word, and how much for what comes later.
std::string CorpusCounts::enough_memory(uint64_t counting, std::string_view word) const {
  const uint64_t later = later_memory_ ? later_memory_(word) : 0;
  if (later <= counting) {
    return std::to_string(counting) + " would do";
  }
  return std::to_string(counting) + " would do to count, to learn as well " + std::to_string(later);
}

void CorpusCounts::share_memory(size_t threads, std::string_view known_word) {
  const uint64_t other = kOtherMemory + text_bytes_;
  const uint64_t least = other + threads * (kLeastTable + kThreadMemory);
  if (memory_limit_ < least) {
    const uint64_t table =
        std::max<uint64_t>(kLeastTable, WordCounts().memory_bytes(1, known_word.size()));
    throw MemoryLimitError(
        "memory limit of " + std::to_string(memory_limit_) + " bytes: too small to count with " +
        std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
        (text_bytes_ == 0 ? "" : " and a text that cannot be read in parts") + "; " +
        (known_word.empty()
             ? "the least is " + std::to_string(least)
             : enough_memory(other + threads * (table + kThreadMemory), known_word)));
  }
  table_bytes_ = (memory_limit_ - other) / threads - kThreadMemory;
}

// Before `count` words are counted, which are `bytes`: a table that might grow too large goes to
// disk.
void CorpusCounts::make_room(WordCounts& words, size_t count, std::string_view bytes) {
  if (table_bytes_ == 0 || words.memory_bytes(count, bytes.size()) <= table_bytes_) {
    return;
  }
  runs_->add_run(words);
  const uint64_t needed = words.memory_bytes(count, bytes.size());
  if (needed > table_bytes_) {
    throw MemoryLimitError(
        "memory limit of " + std::to_string(memory_limit_) +
        " bytes: too small for pre-tokens of " + std::to_string(bytes.size()) + " bytes; " +
        enough_memory(kOtherMemory + text_bytes_ + (needed + kThreadMemory) * tables_.size(),
                      bytes));
  }
}

void CorpusCounts::add(size_t thread, std::string_view word, uint64_t count) {
  WordCounts& words = tables_[thread].words;
  make_room(words, 1, word);
  words.add(word, count);
}

void CorpusCounts::add_pieces(size_t thread, std::string_view text, size_t begin,
                              std::span<const size_t> ends) {
  if (ends.empty()) {
    return;
  }
  WordCounts& words = tables_[thread].words;
  make_room(words, ends.size(), text.substr(begin, ends.back() - begin));
  words.add_pieces(text, begin, ends);
}

uint64_t CorpusCounts::total() const {
  uint64_t total = 0;
  for (const Table& table : tables_) {
    total += table.words.total();
  }
  return total;
}

// While two tables are joined, the first one may double.
void CorpusCounts::join() {
  uint64_t bytes = kOtherMemory;
  for (const Table& table : tables_) {
    bytes += 2 * table.words.memory_bytes(0, 0);
  }
  if (is_on_disk() || (memory_limit_ != 0 && tables_.size() > 1 && bytes > memory_limit_)) {
    move_to_disk();
    return;
  }
  for (size_t i = tables_.size(); i > 1; --i) {
    tables_[0].words.add_all(tables_[i - 1].words);
    tables_[i - 1].words = WordCounts();
  }
}

void CorpusCounts::move_to_disk() {
  uint64_t bytes = 0;
  for (Table& table : tables_) {
    bytes = add_checked(bytes, table.words.total_bytes());
    runs_->add_run(table.words);
  }
  runs_->merge();
}

void CorpusCounts::free_memory() {
  if (memory_limit_ != 0 && !is_on_disk() && tables_[0].words.memory_bytes(0, 0) > kFewBytes) {
    move_to_disk();
  }
}

void CorpusCounts::clear() {
  for (Table& table : tables_) {
    table.words = WordCounts();
  }
  if (runs_ != nullptr) {
    runs_->clear();
  }
}

uint64_t CorpusCounts::size() const {
  return is_on_disk() ? runs_->word_count() : tables_[0].words.size();
}

void CorpusCounts::for_each(const WordCounts::WordUse& use) const {
  if (is_on_disk()) {
    runs_->for_each(use);
  } else {
    tables_[0].words.for_each(use);
  }
}

void CorpusCounts::for_each_sorted(const WordCounts::WordUse& use) const {
  if (is_on_disk()) {
    runs_->for_each(use);
  } else {
    tables_[0].words.for_each_sorted(use);
  }
}

}  // namespace netcl::text
