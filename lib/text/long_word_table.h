// SPDX-License-Identifier: Apache-2.0
// Counts of byte strings of any length, for those that a ShortWordTable cannot hold: an open table
// of 24-byte entries over one buffer of bytes.
#ifndef NETCL_TEXT_LONG_WORD_TABLE_H_
#define NETCL_TEXT_LONG_WORD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/big_buffer.h"
#include "text/word_slots.h"

namespace netcl::text {

// Not thread-safe. Movable, as WordSlots.
class LongWordTable {
 public:
  LongWordTable();

  void prefetch(uint64_t hash) const { slots_.prefetch(slots_.home(hash)); }

  // Adds to the count of a word that is not empty; `hash` is its hash_bytes(). The sum of all
  // counts must stay below 2^63.
  void add(std::string_view word, uint64_t hash, uint64_t count);
  // Adds all counts of another table.
  void add_all(const LongWordTable& other);

  size_t size() const { return slots_.used(); }
  // Memory of the table with `count` more words of `size` bytes together.
  size_t memory_bytes(size_t count, size_t size) const;

  // As those of ShortWordTable.
  void sort();
  std::string_view word_at(size_t index) const { return word(slots_[index]); }
  uint64_t count_at(size_t index) const { return slots_[index].count; }

  // Calls use(word, count) for every word. A view lives until the table changes.
  template <typename Use>
  void for_each(Use&& use) const {
    slots_.for_each([&](const Entry& entry) { use(word(entry), entry.count); });
  }

 private:
  struct Entry {
    uint64_t full_hash, count;
    uint64_t place;  // in bytes_, of the word's size (8 bytes) and bytes, plus 1; 0: free
    bool is_free() const { return place == 0; }
    uint64_t hash() const { return full_hash; }
  };

  std::string_view word(const Entry& entry) const {
    const char* const at = static_cast<const char*>(bytes_.data()) + entry.place - 1;
    uint64_t size = 0;
    std::memcpy(&size, at, sizeof size);
    return {at + sizeof size, static_cast<size_t>(size)};
  }

  WordSlots<Entry> slots_;
  base::BigBuffer bytes_;
  size_t used_bytes_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_LONG_WORD_TABLE_H_
