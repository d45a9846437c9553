// SPDX-License-Identifier: Apache-2.0
// Positions of set bits, written out.
#ifndef NETCL_TEXT_WRITE_ENDS_H_
#define NETCL_TEXT_WRITE_ENDS_H_

#include "text/scan_block.h"

namespace netcl::text {

// Writes pos + i for each set bit i of `plane` in ascending order to `ends`, which has `room`
// places, as many as fit; returns how many. May write anything to further places of the room.
NETCL_SCAN_INLINE size_t write_bit_positions(uint64_t plane, size_t pos, size_t* ends,
                                             size_t room) {
  constexpr size_t kGroup = 8;
  const auto count = static_cast<size_t>(std::popcount(plane));
  if (room >= 64) {
    // Whole groups, so that the number of rounds is easier to predict. A plane without bits left
    // gives 64, which is overwritten later.
    for (size_t done = 0; done < count; done += kGroup) {
      for (size_t i = 0; i < kGroup; ++i) {
        ends[done + i] = pos + lowest(plane);
        plane &= plane - 1;
      }
    }
    return count;
  }
  const size_t fitting = count < room ? count : room;
  for (size_t i = 0; i < fitting; ++i) {
    ends[i] = pos + lowest(plane);
    plane &= plane - 1;
  }
  return fitting;
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_WRITE_ENDS_H_
