// SPDX-License-Identifier: Apache-2.0
// Map from a pair of ids to a rank, small because merging looks into it all the time: eight bytes a
// slot, exact all the same. The 48 bits of a pair are scrambled by a bijection; the low bits of the
// result choose the slot, and the slot stores the others (the tag), how far it lies from its place,
// and the rank. Equal tag and distance mean an equal pair.
#ifndef NETCL_TEXT_PAIR_TABLE_H_
#define NETCL_TEXT_PAIR_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "base/big_buffer.h"

namespace netcl::text {

// Reading is safe from several threads; writing is not. Ids and ranks are below 2^24 - 1.
class PairTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Room for `expected` pairs before the table first grows.
  explicit PairTable(size_t expected = 0);

  // The rank of the pair, or kNone.
  uint32_t find(uint32_t left, uint32_t right) const {
    const uint64_t key = scramble(left, right);
    uint64_t wanted = key >> slot_bits_ << kDistanceBits;
    size_t slot = key & slot_mask_;
    for (const uint64_t end = wanted + (uint64_t{1} << kDistanceBits); wanted < end; ++wanted) {
      const uint64_t found = slots_[slot];
      if (found >> kRankBits == wanted) {
        return static_cast<uint32_t>(found) & kRankMask;
      }
      if (found == kFree) {
        break;
      }
      slot = (slot + 1) & slot_mask_;
    }
    return kNone;
  }

  // Sets the rank of a pair, new or not.
  void set(uint32_t left, uint32_t right, uint32_t rank);

  // Number of pairs.
  size_t size() const { return size_; }
  size_t byte_count() const { return memory_.size(); }

 private:
  static constexpr int kPairBits = 48;
  static constexpr int kRankBits = 24;
  static constexpr int kDistanceBits = 8;
  static constexpr uint32_t kRankMask = (uint32_t{1} << kRankBits) - 1;
  static constexpr uint64_t kFree = UINT64_MAX;  // a rank of all ones is not allowed
  static constexpr uint64_t kPairMask = (uint64_t{1} << kPairBits) - 1;

  // Steps that can each be undone: xor with a shifted self, product with an odd number mod 2^48.
  static uint64_t scramble(uint32_t left, uint32_t right) {
    uint64_t x = (uint64_t{left} << 24) | right;
    x ^= x >> 23;
    x = (x * 0x9E3779B97F4BU) & kPairMask;
    x ^= x >> 25;
    return x;
  }

  void allocate(int slot_bits);
  bool insert(uint64_t key, uint32_t rank);
  void grow();

  base::BigBuffer memory_;
  uint64_t* slots_ = nullptr;
  int slot_bits_ = 0;
  size_t slot_mask_ = 0;
  size_t size_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_TABLE_H_
