// SPDX-License-Identifier: Apache-2.0
// Map from a pair of token ids to a 32-bit number: open addressing, linear probing, at most half
// full, keys and values beside each other so that a look-up usually touches one cache line.
#ifndef NETCL_TEXT_PAIR_MAP_H_
#define NETCL_TEXT_PAIR_MAP_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/byte_hash.h"

namespace netcl::text {

// Reading is safe from several threads; writing is not.
class PairMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Room for `expected` pairs before the table first grows.
  explicit PairMap(size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 16)) {}

  // The value of the pair, or kNone.
  uint32_t find(uint32_t left, uint32_t right) const {
    const uint64_t key = join(left, right);
    for (size_t slot = start(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot].value == kNone || slots_[slot].key == key) {
        return slots_[slot].value;
      }
    }
  }

  // Reference to the value of the pair, which is kNone when the pair is new; the caller must then
  // set it to another value. Valid until the next call.
  uint32_t& at(uint32_t left, uint32_t right) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    const uint64_t key = join(left, right);
    size_t slot = start(key);
    while (slots_[slot].value != kNone && slots_[slot].key != key) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    size_ += slots_[slot].value == kNone ? 1 : 0;
    slots_[slot].key = key;
    return slots_[slot].value;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kNone;
  };

  static uint64_t join(uint32_t left, uint32_t right) { return (uint64_t{left} << 32) | right; }
  size_t start(uint64_t key) const {
    return mix(key ^ 0x9E3779B97F4A7C15U, 0xD1B54A32D192ED03U) & (slots_.size() - 1);
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& entry : old) {
      if (entry.value != kNone) {
        size_t slot = start(entry.key);
        while (slots_[slot].value != kNone) {
          slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = entry;
      }
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_MAP_H_
