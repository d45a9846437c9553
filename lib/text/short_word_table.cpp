// SPDX-License-Identifier: Apache-2.0
#include "text/short_word_table.h"

#include <algorithm>
#include <array>

namespace netcl::text {

namespace {

constexpr int kFirstBits = 12;
// Memory of the old table that goes back at once while the table grows.
constexpr size_t kDropBytes = size_t{2} << 20;

}  // namespace

ShortWordTable::ShortWordTable()
    : memory_((size_t{1} << kFirstBits) * sizeof(Entry)),
      entries_(static_cast<Entry*>(memory_.data())),
      mask_((size_t{1} << kFirstBits) - 1),
      shift_(64 - kFirstBits) {}

void ShortWordTable::swap(ShortWordTable& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(entries_, other.entries_);
  std::swap(mask_, other.mask_);
  std::swap(shift_, other.shift_);
  std::swap(size_, other.size_);
}

void ShortWordTable::grow() {
  const size_t old_slots = slot_count();
  base::BigBuffer old_memory(2 * old_slots * sizeof(Entry));
  std::swap(memory_, old_memory);
  const Entry* const old = entries_;
  entries_ = static_cast<Entry*>(memory_.data());
  mask_ = 2 * old_slots - 1;
  shift_ -= 1;
  size_ = 0;
  size_t dropped = 0;
  for (size_t slot = 0; slot < old_slots; ++slot) {
    if (old[slot].high != 0) {
      const ShortKey key{old[slot].low, old[slot].high};
      add(key, home(key), old[slot].count);
    }
    const size_t done = slot * sizeof(Entry);
    if (done - dropped >= kDropBytes) {
      old_memory.drop_front(done);
      dropped = done;
    }
  }
}

// The other table's words come in the order of their hashes, which are homes here too: taken in
// that order they would pile up in one part of this table before it grows. So blocks of slots are
// taken from all over the other table in turn.
void ShortWordTable::add_all(const ShortWordTable& other) {
  constexpr size_t kBlock = 64;
  std::array<ShortKey, kBlock> keys;
  std::array<size_t, kBlock> homes;
  std::array<uint64_t, kBlock> counts;
  const size_t block_count = other.slot_count() / kBlock;  // a power of two
  const size_t step = static_cast<size_t>(0.618 * static_cast<double>(block_count)) | 1;
  for (size_t i = 0; i < block_count; ++i) {
    const Entry* const block = other.entries_ + ((i * step) & (block_count - 1)) * kBlock;
    const Entry* const later = other.entries_ + (((i + 2) * step) & (block_count - 1)) * kBlock;
    for (size_t at = 0; at < kBlock; at += 2) {
      __builtin_prefetch(later + at);
    }
    reserve(kBlock);
    size_t count = 0;
    for (size_t at = 0; at < kBlock; ++at) {
      if (block[at].high != 0) {
        keys[count] = {block[at].low, block[at].high};
        homes[count] = home(keys[count]);
        prefetch(homes[count]);
        counts[count++] = block[at].count;
      }
    }
    for (size_t at = 0; at < count; ++at) {
      add(keys[at], homes[at], counts[at]);
    }
  }
}

// Zeros fill a key behind the word and its length comes last, so of two words of which one begins
// with the other the shorter one comes first.
void ShortWordTable::sort() {
  size_t count = 0;
  for (size_t slot = 0; slot <= mask_; ++slot) {
    if (entries_[slot].high != 0) {
      entries_[count++] = entries_[slot];
    }
  }
  std::sort(entries_, entries_ + count, [](const Entry& a, const Entry& b) {
    const uint64_t first = __builtin_bswap64(a.low);
    const uint64_t second = __builtin_bswap64(b.low);
    return first != second ? first < second : __builtin_bswap64(a.high) < __builtin_bswap64(b.high);
  });
}

}  // namespace netcl::text
