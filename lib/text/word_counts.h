// SPDX-License-Identifier: Apache-2.0
// Occurrences of distinct byte strings: the pre-tokens of a training corpus.
#ifndef NETCL_TEXT_WORD_COUNTS_H_
#define NETCL_TEXT_WORD_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text {

// Open-addressing table over one buffer of bytes. Not thread-safe.
class WordCounts {
 public:
  WordCounts();

  // `word` is not empty. Throws UsageError when the bytes of all occurrences together would pass
  // 2^63 - 1, so that no sum over them overflows, or the distinct strings would not fit 32-bit
  // offsets in number.
  void add(std::string_view word, uint64_t count);

  // Adds all counts of another table; throws as add(), having added a part.
  void add_all(const WordCounts& other);

  size_t size() const { return entries_.size(); }
  uint64_t total() const { return total_; }
  std::string_view word(size_t index) const {
    return std::string_view(buffer_).substr(entries_[index].begin, entries_[index].length);
  }
  uint64_t count(size_t index) const { return entries_[index].count; }

 private:
  struct Entry {
    uint64_t begin = 0;  // in buffer_
    uint64_t length = 0;
    uint64_t count = 0;
  };
  struct Slot {
    uint32_t tag = 0;  // upper bits of the hash
    uint32_t index = UINT32_MAX;
  };

  void grow();

  std::string buffer_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // at most half full
  uint64_t total_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_WORD_COUNTS_H_
