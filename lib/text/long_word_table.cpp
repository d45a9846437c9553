// SPDX-License-Identifier: Apache-2.0
#include "text/long_word_table.h"

#include <algorithm>

namespace netcl::text {

namespace {

constexpr int kFirstBits = 10;
constexpr size_t kFirstBytes = size_t{1} << 16;
constexpr size_t kSizeBytes = sizeof(uint64_t);

// Size of the buffer when it has `size` bytes and needs `wanted`. Half as much again, since what
// is not touched is not memory yet, but what a limit counts.
size_t grown(size_t size, size_t wanted) {
  return std::max({wanted, size + size / 2, kFirstBytes});
}

}  // namespace

LongWordTable::LongWordTable() : slots_(kFirstBits) {}

size_t LongWordTable::memory_bytes(size_t count, size_t size) const {
  const size_t wanted = used_bytes_ + kSizeBytes * count + size;
  return slots_.memory_bytes(count) +
         (wanted > bytes_.size() ? grown(bytes_.size(), wanted) : bytes_.size());
}

void LongWordTable::add(std::string_view word, uint64_t hash, uint64_t count) {
  size_t slot = slots_.home(hash);
  for (; !slots_[slot].is_free(); slot = slots_.next(slot)) {
    Entry& entry = slots_[slot];
    if (entry.full_hash == hash && this->word(entry) == word) {
      entry.count += count;
      return;
    }
  }
  if (!slots_.has_room(1)) {
    slots_.grow();
    for (slot = slots_.home(hash); !slots_[slot].is_free(); slot = slots_.next(slot)) {
    }
  }
  const uint64_t size = word.size();
  const size_t wanted = used_bytes_ + kSizeBytes + word.size();
  if (wanted > bytes_.size()) {
    bytes_.grow(grown(bytes_.size(), wanted));
  }
  char* const at = static_cast<char*>(bytes_.data()) + used_bytes_;
  std::memcpy(at, &size, kSizeBytes);
  std::memcpy(at + kSizeBytes, word.data(), word.size());
  slots_.fill(slot, {hash, count, used_bytes_ + 1});
  used_bytes_ = wanted;
}

void LongWordTable::sort() {
  slots_.pack();
  Entry* const entries = &slots_[0];
  std::sort(entries, entries + size(),
            [&](const Entry& a, const Entry& b) { return word(a) < word(b); });
}

// In turn from all over the other table, as ShortWordTable::add_all().
void LongWordTable::add_all(const LongWordTable& other) {
  const size_t slot_count = other.slots_.count();  // a power of two
  const size_t step = static_cast<size_t>(0.618 * static_cast<double>(slot_count)) | 1;
  for (size_t i = 0; i < slot_count; ++i) {
    const Entry& entry = other.slots_[(i * step) & (slot_count - 1)];
    if (!entry.is_free()) {
      add(other.word(entry), entry.full_hash, entry.count);
    }
  }
}

}  // namespace netcl::text
