// SPDX-License-Identifier: Apache-2.0
// Counts of byte strings of 1 to 15 bytes, which are nearly all pieces of a text: an open table of
// 24-byte entries that hold the string itself, so that a look-up is one cache miss.
#ifndef NETCL_TEXT_SHORT_WORD_TABLE_H_
#define NETCL_TEXT_SHORT_WORD_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/short_key.h"
#include "text/word_slots.h"

namespace netcl::text {

// Not thread-safe. Movable, as WordSlots.
class ShortWordTable {
 public:
  ShortWordTable();

  // Makes room for `count` more words. Homes change when the table grows.
  void reserve(size_t count) {
    while (!slots_.has_room(count)) {
      slots_.grow();
    }
  }

  size_t home(const ShortKey& key) const { return slots_.home(key.hash()); }
  void prefetch(size_t home) const { slots_.prefetch(home); }

  // Adds to the count of a word. Room for it must have been made. The sum of all counts must stay
  // below 2^63.
  void add(const ShortKey& key, size_t home, uint64_t count) {
    for (size_t slot = home;; slot = slots_.next(slot)) {
      Entry& entry = slots_[slot];
      if (((entry.low ^ key.low) | (entry.high ^ key.high)) == 0) {
        entry.count += count;
        return;
      }
      if (entry.is_free()) {
        slots_.fill(slot, {key.low, key.high, count});
        return;
      }
    }
  }

  size_t size() const { return slots_.used(); }
  // Memory of the table with `count` more words.
  size_t memory_bytes(size_t count) const { return slots_.memory_bytes(count); }

  // Calls use(word, count) for every word, in the order of hashes. A view lives until the table
  // changes.
  template <typename Use>
  void for_each(Use&& use) const {
    slots_.for_each([&](const Entry& entry) { use(entry.word(), entry.count); });
  }

  // Adds all counts of another table.
  void add_all(const ShortWordTable& other);

  // Puts the words in ascending order of their bytes, for word_at() and count_at(), 0 to size() -
  // 1; nothing else may be called then. Takes no memory.
  void sort();
  std::string_view word_at(size_t index) const { return slots_[index].word(); }
  uint64_t count_at(size_t index) const { return slots_[index].count; }

 private:
  struct Entry {
    uint64_t low, high, count;  // high = 0: free
    bool is_free() const { return high == 0; }
    uint64_t hash() const { return ShortKey{low, high}.hash(); }
    std::string_view word() const {
      static_assert(std::endian::native == std::endian::little);
      return {reinterpret_cast<const char*>(&low), static_cast<size_t>(high >> 56)};
    }
  };

  WordSlots<Entry> slots_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SHORT_WORD_TABLE_H_
