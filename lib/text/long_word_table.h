// SPDX-License-Identifier: Apache-2.0
// Counts of byte strings of any length, for those that a ShortWordTable cannot hold: an open table
// of 24-byte entries over one buffer of bytes.
#ifndef NETCL_TEXT_LONG_WORD_TABLE_H_
#define NETCL_TEXT_LONG_WORD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/big_buffer.h"

namespace netcl::text {

// Linear probing, at most three quarters full. Not thread-safe. Movable.
class LongWordTable {
 public:
  LongWordTable();
  LongWordTable(LongWordTable&& other) noexcept { swap(other); }
  LongWordTable& operator=(LongWordTable&& other) noexcept {
    swap(other);
    return *this;
  }

  void prefetch(uint64_t hash) const { __builtin_prefetch(entries_ + (hash >> shift_), 1); }

  // Adds to the count of a word that is not empty; `hash` is its hash_bytes(). The sum of all
  // counts must stay below 2^63.
  void add(std::string_view word, uint64_t hash, uint64_t count);
  // Adds all counts of another table.
  void add_all(const LongWordTable& other);

  size_t size() const { return size_; }
  // Memory of the table with `count` more words of `size` bytes together.
  size_t memory_bytes(size_t count, size_t size) const;

  // As those of ShortWordTable.
  void sort();
  std::string_view word_at(size_t index) const { return word(entries_[index]); }
  uint64_t count_at(size_t index) const { return entries_[index].count; }

  // Calls use(word, count) for every word. A view lives until the table changes.
  template <typename Use>
  void for_each(Use&& use) const {
    for (size_t slot = 0; slot <= mask_; ++slot) {
      if (entries_[slot].place != 0) {
        use(word(entries_[slot]), entries_[slot].count);
      }
    }
  }

 private:
  struct Entry {
    uint64_t hash, count;
    uint64_t place;  // in bytes_, of the word's size (8 bytes) and bytes, plus 1; 0: free
  };

  std::string_view word(const Entry& entry) const {
    const char* const at = static_cast<const char*>(bytes_.data()) + entry.place - 1;
    uint64_t size = 0;
    std::memcpy(&size, at, sizeof size);
    return {at + sizeof size, static_cast<size_t>(size)};
  }
  void swap(LongWordTable& other) noexcept;
  void grow();

  base::BigBuffer memory_;
  Entry* entries_ = nullptr;
  size_t mask_ = 0;
  int shift_ = 64;  // of a hash, to where the search for it begins
  size_t size_ = 0;
  base::BigBuffer bytes_;
  size_t used_bytes_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_LONG_WORD_TABLE_H_
