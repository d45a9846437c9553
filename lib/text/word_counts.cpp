// SPDX-License-Identifier: Apache-2.0
#include "text/word_counts.h"

#include "base/error.h"
#include "text/byte_hash.h"

namespace netcl::text {

namespace {

constexpr size_t kFirstSlots = 1 << 12;

uint32_t tag_of(uint64_t hash) {
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

WordCounts::WordCounts() : slots_(kFirstSlots) {}

void WordCounts::add(std::string_view word, uint64_t count) {
  NETCL_CHECK(!word.empty());
  if (count > (static_cast<uint64_t>(INT64_MAX) - total_bytes_) / word.size()) {
    throw base::UsageError("the pre-tokens of the corpus add up to more than 2^63 - 1 bytes");
  }
  total_ += count;
  total_bytes_ += count * word.size();
  const uint64_t hash = hash_bytes(word);
  size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot].index != UINT32_MAX) {
    const Slot& taken = slots_[slot];
    if (taken.tag == tag_of(hash) && this->word(taken.index) == word) {
      entries_[taken.index].count += count;
      return;
    }
    slot = (slot + 1) & (slots_.size() - 1);
  }
  if (entries_.size() + 1 >= UINT32_MAX) {
    throw base::UsageError("the corpus has more than 2^32 - 2 distinct pre-tokens");
  }
  slots_[slot] = {tag_of(hash), static_cast<uint32_t>(entries_.size())};
  entries_.push_back({buffer_.size(), word.size(), count});
  buffer_ += word;
  if (2 * entries_.size() > slots_.size()) {
    grow();
  }
}

void WordCounts::add_all(const WordCounts& other) {
  for (size_t index = 0; index < other.size(); ++index) {
    add(other.word(index), other.count(index));
  }
}

void WordCounts::grow() {
  slots_.assign(2 * slots_.size(), Slot());
  for (uint32_t index = 0; index < entries_.size(); ++index) {
    const uint64_t hash = hash_bytes(word(index));
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].index != UINT32_MAX) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {tag_of(hash), index};
  }
}

}  // namespace netcl::text
