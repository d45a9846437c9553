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

LongWordTable::LongWordTable()
    : memory_((size_t{1} << kFirstBits) * sizeof(Entry)),
      entries_(static_cast<Entry*>(memory_.data())),
      mask_((size_t{1} << kFirstBits) - 1),
      shift_(64 - kFirstBits) {}

void LongWordTable::swap(LongWordTable& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(entries_, other.entries_);
  std::swap(mask_, other.mask_);
  std::swap(shift_, other.shift_);
  std::swap(size_, other.size_);
  std::swap(bytes_, other.bytes_);
  std::swap(used_bytes_, other.used_bytes_);
}

size_t LongWordTable::memory_bytes(size_t count, size_t size) const {
  size_t slots = mask_ + 1;
  while (4 * (size_ + count) > 3 * slots) {
    slots *= 2;
  }
  const size_t wanted = used_bytes_ + kSizeBytes * count + size;
  const size_t old_slots = slots > mask_ + 1 ? slots / 2 : 0;  // while it grows
  return (slots + old_slots) * sizeof(Entry) +
         (wanted > bytes_.size() ? grown(bytes_.size(), wanted) : bytes_.size());
}

void LongWordTable::add(std::string_view word, uint64_t hash, uint64_t count) {
  size_t slot = hash >> shift_;
  for (; entries_[slot].place != 0; slot = (slot + 1) & mask_) {
    Entry& entry = entries_[slot];
    if (entry.hash == hash && this->word(entry) == word) {
      entry.count += count;
      return;
    }
  }
  if (4 * (size_ + 1) > 3 * (mask_ + 1)) {
    grow();
    for (slot = hash >> shift_; entries_[slot].place != 0; slot = (slot + 1) & mask_) {
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
  entries_[slot] = {hash, count, used_bytes_ + 1};
  used_bytes_ = wanted;
  ++size_;
}

void LongWordTable::grow() {
  const size_t old_slots = mask_ + 1;
  base::BigBuffer old_memory(2 * old_slots * sizeof(Entry));
  std::swap(memory_, old_memory);
  const Entry* const old = entries_;
  entries_ = static_cast<Entry*>(memory_.data());
  mask_ = 2 * old_slots - 1;
  shift_ -= 1;
  for (size_t i = 0; i < old_slots; ++i) {
    if (old[i].place != 0) {
      size_t slot = old[i].hash >> shift_;
      while (entries_[slot].place != 0) {
        slot = (slot + 1) & mask_;
      }
      entries_[slot] = old[i];
    }
  }
}

void LongWordTable::sort() {
  size_t count = 0;
  for (size_t slot = 0; slot <= mask_; ++slot) {
    if (entries_[slot].place != 0) {
      entries_[count++] = entries_[slot];
    }
  }
  std::sort(entries_, entries_ + count,
            [&](const Entry& a, const Entry& b) { return word(a) < word(b); });
}

// In turn from all over the other table, as ShortWordTable::add_all().
void LongWordTable::add_all(const LongWordTable& other) {
  const size_t slot_count = other.mask_ + 1;  // a power of two
  const size_t step = static_cast<size_t>(0.618 * static_cast<double>(slot_count)) | 1;
  for (size_t i = 0; i < slot_count; ++i) {
    const Entry& entry = other.entries_[(i * step) & other.mask_];
    if (entry.place != 0) {
      add(other.word(entry), entry.hash, entry.count);
    }
  }
}

}  // namespace netcl::text
