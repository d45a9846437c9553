// SPDX-License-Identifier: Apache-2.0
// Many lists of ascending 32-bit numbers in one buffer, as differences: most take 16 bits.
#ifndef NETCL_TEXT_POSITION_LISTS_H_
#define NETCL_TEXT_POSITION_LISTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/big_buffer.h"

namespace netcl::text {

// A list is a number of 16-bit units from some unit of the buffer on. A difference is given in
// digits of 15 bits, the lowest first, with the top bit set in all but the last; the first number
// of a list is its difference to 0. Movable.
class PositionLists {
 public:
  static unsigned units_of(uint32_t difference) {
    return 1 + static_cast<unsigned>(difference >> 15 != 0) +
           static_cast<unsigned>(difference >> 30 != 0);
  }
  // Writes a difference; returns the unit behind it.
  static uint16_t* write(uint16_t* at, uint32_t difference) {
    while (difference >> 15 != 0) {
      *at++ = static_cast<uint16_t>(difference | kMore);
      difference >>= 15;
    }
    *at++ = static_cast<uint16_t>(difference);
    return at;
  }
  static const uint16_t* read(const uint16_t* at, uint32_t& difference) {
    uint32_t unit = *at++;
    difference = unit & ~kMore;
    for (int shift = 15; (unit & kMore) != 0; shift += 15) {
      unit = *at++;
      difference |= (unit & ~kMore) << shift;
    }
    return at;
  }

  // Room for a list of `units` units behind all others: its first unit. Moves the buffer.
  uint64_t allot(uint64_t units) {
    const uint64_t begin = used_;
    used_ += units;
    if (used_ * sizeof(uint16_t) > memory_.size()) {
      const size_t wanted = used_ * sizeof(uint16_t);
      memory_.grow(std::max({wanted, memory_.size() + memory_.size() / 4, kFirstBytes}));
    }
    return begin;
  }
  uint16_t* data() { return static_cast<uint16_t*>(memory_.data()); }
  const uint16_t* data() const { return static_cast<const uint16_t*>(memory_.data()); }
  uint64_t used() const { return used_; }

  // Forgets all units from `used` on and gives their memory back.
  void shrink(uint64_t used) {
    used_ = used;
    memory_.drop_back(used * sizeof(uint16_t));
  }

 private:
  static constexpr uint32_t kMore = 0x8000;
  static constexpr size_t kFirstBytes = size_t{1} << 16;

  base::BigBuffer memory_;
  uint64_t used_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_POSITION_LISTS_H_
