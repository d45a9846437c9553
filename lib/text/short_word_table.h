// SPDX-License-Identifier: Apache-2.0
// Counts of byte strings of 1 to 15 bytes, which are nearly all pieces of a text: an open table of
// 24-byte entries that hold the string itself, so that a look-up is one cache miss.
#ifndef NETCL_TEXT_SHORT_WORD_TABLE_H_
#define NETCL_TEXT_SHORT_WORD_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/big_buffer.h"
#include "text/short_key.h"

namespace netcl::text {

// Linear probing, at most three quarters full. A word's home is given by the upper bits of its
// hash, so that doubling the table reads and writes it in order and the memory of the old one can
// go back as it is read. Not thread-safe. Movable.
class ShortWordTable {
 public:
  ShortWordTable();
  ShortWordTable(ShortWordTable&& other) noexcept { swap(other); }
  ShortWordTable& operator=(ShortWordTable&& other) noexcept {
    swap(other);
    return *this;
  }

  // Makes room for `count` more words. Homes change when the table grows.
  void reserve(size_t count) {
    while (4 * (size_ + count) > 3 * slot_count()) {
      grow();
    }
  }

  size_t home(const ShortKey& key) const { return key.hash() >> shift_; }
  void prefetch(size_t home) const { __builtin_prefetch(entries_ + home, 1); }

  // Adds to the count of a word. Room for it must have been made. The sum of all counts must stay
  // below 2^63.
  void add(const ShortKey& key, size_t home, uint64_t count) {
    for (size_t slot = home;; slot = (slot + 1) & mask_) {
      Entry& entry = entries_[slot];
      if (((entry.low ^ key.low) | (entry.high ^ key.high)) == 0) {
        entry.count += count;
        return;
      }
      if (entry.high == 0) {
        entry = {key.low, key.high, count};
        ++size_;
        return;
      }
    }
  }

  size_t size() const { return size_; }
  // Memory of the table with `count` more words.
  size_t memory_bytes(size_t count) const {
    size_t slots = slot_count();
    while (4 * (size_ + count) > 3 * slots) {
      slots *= 2;
    }
    return slots * sizeof(Entry);
  }

  // Calls use(word, count) for every word, in the order of hashes. A view lives until the table
  // changes.
  template <typename Use>
  void for_each(Use&& use) const {
    for (size_t slot = 0; slot <= mask_; ++slot) {
      if (entries_[slot].high != 0) {
        use(entries_[slot].word(), entries_[slot].count);
      }
    }
  }

  // Adds all counts of another table.
  void add_all(const ShortWordTable& other);

  // Puts the words in ascending order of their bytes, for word_at() and count_at(), 0 to size() -
  // 1; nothing else may be called then. Takes no memory.
  void sort();
  std::string_view word_at(size_t index) const { return entries_[index].word(); }
  uint64_t count_at(size_t index) const { return entries_[index].count; }

 private:
  struct Entry {
    uint64_t low, high, count;  // high = 0: free
    std::string_view word() const {
      static_assert(std::endian::native == std::endian::little);
      return {reinterpret_cast<const char*>(&low), static_cast<size_t>(high >> 56)};
    }
  };

  size_t slot_count() const { return mask_ + 1; }
  void swap(ShortWordTable& other) noexcept;
  void grow();

  base::BigBuffer memory_;
  Entry* entries_ = nullptr;
  size_t mask_ = 0;
  int shift_ = 64;  // of a hash, to a home
  size_t size_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SHORT_WORD_TABLE_H_
