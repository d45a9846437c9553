// SPDX-License-Identifier: Apache-2.0
// Occurrences of distinct byte strings: the pre-tokens of a training corpus.
#ifndef NETCL_TEXT_WORD_COUNTS_H_
#define NETCL_TEXT_WORD_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "text/long_word_table.h"
#include "text/short_word_table.h"

namespace netcl::text {

// Sum of two numbers of bytes of pre-tokens. Throws UsageError when it would pass 2^63 - 1.
uint64_t add_checked(uint64_t bytes, uint64_t more);

// Strings of up to 15 bytes in one table, the others in a second one. Memory: 32 to 64 bytes for
// each distinct string, and the bytes of the long ones. Not thread-safe. Movable.
class WordCounts {
 public:
  using WordUse = std::function<void(std::string_view word, uint64_t count)>;

  // Pieces that add_pieces() takes at once, at most.
  static constexpr size_t kMostPieces = 256;

  // `word` is not empty. Throws UsageError when the bytes of all occurrences together would pass
  // 2^63 - 1, so that no sum over them overflows.
  void add(std::string_view word, uint64_t count);

  // Counts once each the pieces of `text` that follow one another from `begin` on and end at
  // `ends`; of PreSplitter::next_ends(). All are looked up together, so that the waits for memory
  // overlap. Throws as add(), having added none.
  void add_pieces(std::string_view text, size_t begin, std::span<const size_t> ends);

  // Adds all counts of another table; throws as add(), having added none.
  void add_all(const WordCounts& other);

  // Memory of the tables with `count` more strings of `bytes` bytes together, in the worst case.
  size_t memory_bytes(size_t count, size_t bytes) const;

  // Number of distinct strings, sum of counts, sum of counts times bytes.
  size_t size() const { return short_words_.size() + long_words_.size(); }
  uint64_t total() const { return total_; }
  uint64_t total_bytes() const { return total_bytes_; }

  // Calls use(word, count) for every distinct string, in no particular order. A view lives until
  // the table changes.
  template <typename Use>
  void for_each(Use&& use) const {
    short_words_.for_each(use);
    long_words_.for_each(use);
  }
  // The same in ascending order of the bytes, with 24 bytes of memory for each.
  void for_each_sorted(const WordUse& use) const;
  // The same without more memory; then the strings and their memory are gone. total() and
  // total_bytes() stay.
  void take_sorted(const WordUse& use);

 private:
  void add_totals(uint64_t count, uint64_t byte_count);

  ShortWordTable short_words_;
  LongWordTable long_words_;
  uint64_t total_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_WORD_COUNTS_H_
