// SPDX-License-Identifier: Apache-2.0
#include "text/pair_table.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace netcl::text {

namespace {

// With fewer slots the tag would not fit beside distance and rank.
constexpr int kLeastSlotBits = 16;

}  // namespace

PairTable::PairTable(size_t expected) {
  allocate(std::max(kLeastSlotBits, static_cast<int>(std::bit_width(2 * expected))));
}

void PairTable::allocate(int slot_bits) {
  slot_bits_ = slot_bits;
  slot_mask_ = (size_t{1} << slot_bits) - 1;
  memory_ = base::BigBuffer((slot_mask_ + 1) * sizeof *slots_);
  slots_ = static_cast<uint64_t*>(memory_.data());
  std::fill_n(slots_, slot_mask_ + 1, kFree);
  size_ = 0;
}

// False when the pair would lie too far from its place.
bool PairTable::insert(uint64_t key, uint32_t rank) {
  const uint64_t tag = key >> slot_bits_ << kDistanceBits;
  size_t slot = key & slot_mask_;
  for (uint64_t distance = 0; distance < (uint64_t{1} << kDistanceBits); ++distance) {
    uint64_t& entry = slots_[slot];
    if (entry == kFree || entry >> kRankBits == (tag | distance)) {
      size_ += entry == kFree ? 1 : 0;
      entry = (tag | distance) << kRankBits | rank;
      return true;
    }
    slot = (slot + 1) & slot_mask_;
  }
  return false;
}

void PairTable::set(uint32_t left, uint32_t right, uint32_t rank) {
  NETCL_CHECK(left < kRankMask && right < kRankMask && rank < kRankMask);
  if (2 * (size_ + 1) > slot_mask_ + 1) {
    grow();
  }
  while (!insert(scramble(left, right), rank)) {
    grow();
  }
}

void PairTable::grow() {
  const base::BigBuffer old_memory = std::move(memory_);
  const auto* old = static_cast<const uint64_t*>(old_memory.data());
  const size_t old_mask = slot_mask_;
  const int old_bits = slot_bits_;
  for (int bits = old_bits + 1;; ++bits) {
    allocate(bits);
    bool all = true;
    for (size_t slot = 0; all && slot <= old_mask; ++slot) {
      if (old[slot] == kFree) {
        continue;
      }
      const uint64_t tag = old[slot] >> kRankBits >> kDistanceBits;
      const uint64_t distance = (old[slot] >> kRankBits) & ((uint64_t{1} << kDistanceBits) - 1);
      const uint64_t home = (slot - distance) & old_mask;
      all = insert(tag << old_bits | home, static_cast<uint32_t>(old[slot]) & kRankMask);
    }
    if (all) {
      return;
    }
  }
}

}  // namespace netcl::text
