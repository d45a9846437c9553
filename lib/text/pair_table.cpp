// SPDX-License-Identifier: Apache-2.0
#include "text/pair_table.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace netcl::text {

namespace {

// With fewer lines the tag would not fit beside distance and rank.
constexpr int kLeastLineBits = 13;
// Filled slots of a line on average, at most: more would make full lines frequent.
constexpr size_t kMeanSlots = 4;

}  // namespace

PairTable::PairTable(size_t expected) {
  allocate(std::max(kLeastLineBits, static_cast<int>(std::bit_width(expected / kMeanSlots))));
}

// The system's memory is zero, and so are free slots.
void PairTable::allocate(int line_bits) {
  line_bits_ = line_bits;
  memory_ = base::BigBuffer((size_t{1} << line_bits) * sizeof(Line));
  lines_ = static_cast<Line*>(memory_.data());
  size_ = 0;
}

PairTable::Place PairTable::place_of(uint64_t key) const {
  const size_t mask = (size_t{1} << line_bits_) - 1;
  const uint64_t stored = key << line_bits_;
  for (size_t distance = 0; distance < (size_t{1} << kDistanceBits); ++distance) {
    Line& line = lines_[((key >> (64 - line_bits_)) + distance) & mask];
    const uint32_t wanted = static_cast<uint32_t>(stored) | static_cast<uint32_t>(distance)
                                                                << kRankBits;
    const uint32_t free = equal_slots(line.words, 0);
    uint32_t equal = equal_slots(line.tags, static_cast<uint32_t>(stored >> 32)) & ~free;
    for (; equal != 0; equal &= equal - 1) {
      const auto slot = static_cast<size_t>(std::countr_zero(equal));
      if ((line.words[slot] ^ wanted) >> kRankBits == 0) {
        return {&line.tags[slot], &line.words[slot], wanted};
      }
    }
    if (free != 0) {
      const auto slot = static_cast<size_t>(std::countr_zero(free));
      return {&line.tags[slot], &line.words[slot], wanted};
    }
  }
  return {};
}

uint32_t PairTable::find_slowly(uint64_t key) const {
  const Place place = place_of(key);
  return place.tag == nullptr || *place.word == 0 ? kNone : (*place.word & kRankMask) - 1;
}

// Of a pair that is not there.
void PairTable::fill(const Place& place, uint64_t key, uint32_t rank) {
  *place.tag = static_cast<uint32_t>(key << line_bits_ >> 32);
  *place.word = place.wanted | (rank + 1);
  ++size_;
}

// The same; false when it would lie too far from its line.
bool PairTable::insert(uint64_t key, uint32_t rank) {
  const Place place = place_of(key);
  if (place.tag == nullptr) {
    return false;
  }
  fill(place, key, rank);
  return true;
}

void PairTable::set(uint32_t left, uint32_t right, uint32_t rank) {
  NETCL_CHECK(left < kNoId && right < kNoId && rank < kRankMask);
  const uint64_t key = scramble(left, right);
  const Place place = place_of(key);
  if (place.tag != nullptr && *place.word != 0) {
    *place.word = place.wanted | (rank + 1);
    return;
  }
  if (place.tag != nullptr && size_ < kMeanSlots << line_bits_) {
    fill(place, key, rank);
    return;
  }
  do {
    grow();
  } while (!insert(key, rank));
}

void PairTable::grow() {
  const PairTable old = std::move(*this);
  for (int bits = old.line_bits_ + 1;; ++bits) {
    allocate(bits);
    bool has_room = true;
    old.for_each([&](uint64_t key, uint32_t rank) { has_room = has_room && insert(key, rank); });
    if (has_room) {
      return;
    }
  }
}

}  // namespace netcl::text
