// SPDX-License-Identifier: Apache-2.0
#include "text/short_word_table.h"

#include <algorithm>
#include <array>

namespace netcl::text {

namespace {

constexpr int kFirstBits = 12;

}  // namespace

ShortWordTable::ShortWordTable() : slots_(kFirstBits) {}

// The other table's words come in the order of their hashes, which are homes here too: taken in
// that order they would pile up in one part of this table before it grows. So blocks of slots are
// taken from all over the other table in turn.
void ShortWordTable::add_all(const ShortWordTable& other) {
  constexpr size_t kBlock = 64;
  std::array<ShortKey, kBlock> keys;
  std::array<size_t, kBlock> homes;
  std::array<uint64_t, kBlock> counts;
  const size_t block_count = other.slots_.count() / kBlock;  // a power of two
  const size_t step = static_cast<size_t>(0.618 * static_cast<double>(block_count)) | 1;
  const Entry* const entries = other.slots_.data();
  for (size_t i = 0; i < block_count; ++i) {
    const Entry* const block = entries + ((i * step) & (block_count - 1)) * kBlock;
    const Entry* const later = entries + (((i + 2) * step) & (block_count - 1)) * kBlock;
    for (size_t at = 0; at < kBlock; at += 2) {
      __builtin_prefetch(later + at);
    }
    reserve(kBlock);
    size_t count = 0;
    for (size_t at = 0; at < kBlock; ++at) {
      if (!block[at].is_free()) {
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
  slots_.pack();
  Entry* const entries = &slots_[0];
  std::sort(entries, entries + size(), [](const Entry& a, const Entry& b) {
    const uint64_t first = __builtin_bswap64(a.low);
    const uint64_t second = __builtin_bswap64(b.low);
    return first != second ? first < second : __builtin_bswap64(a.high) < __builtin_bswap64(b.high);
  });
}

}  // namespace netcl::text
