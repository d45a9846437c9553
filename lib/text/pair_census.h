// SPDX-License-Identifier: Apache-2.0
// Sums over all neighbouring pairs of a text, before records are made of the frequent ones.
#ifndef NETCL_TEXT_PAIR_CENSUS_H_
#define NETCL_TEXT_PAIR_CENSUS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/position_lists.h"

namespace netcl::text {

// Weight of a pair and size of the list of its positions, taken in ascending order.
struct PairSum {
  uint64_t weight = 0;
  uint64_t units = 0;  // of the list; 0: the pair has not occurred
  uint32_t last = 0;   // position

  void add(uint32_t position, uint64_t more) {
    weight += more;
    units += PositionLists::units_of(position - last);
    last = position;
  }
};

// Pairs of symbols below 256 in an array.
class BytePairCensus {
 public:
  BytePairCensus() : sums_(size_t{256} * 256) {}
  PairSum& at(uint32_t left, uint32_t right) { return sums_[left * 256 + right]; }

 private:
  std::vector<PairSum> sums_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_CENSUS_H_
