// SPDX-License-Identifier: Apache-2.0
// Sums over all neighbouring pairs of a text, before records are made of the frequent ones.
#ifndef NETCL_TEXT_PAIR_CENSUS_H_
#define NETCL_TEXT_PAIR_CENSUS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/big_buffer.h"
#include "text/byte_hash.h"
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
  // Calls use(left, right, sum) for each pair that has occurred, by (left, right).
  template <typename Use>
  void for_each(Use&& use) {
    for (uint32_t index = 0; index < sums_.size(); ++index) {
      if (sums_[index].units > 0) {
        use(index / 256, index % 256, sums_[index]);
      }
    }
  }

 private:
  std::vector<PairSum> sums_;
};

// Pairs of any symbols: open addressing, linear probing, at most half full.
class HashedPairCensus {
 public:
  HashedPairCensus() : entries_(1024) {}
  PairSum& at(uint32_t left, uint32_t right) {
    const uint64_t key = (uint64_t{left} << 32) | right;
    size_t slot = home(key);
    while (entries_[slot].sum.units > 0 && entries_[slot].key != key) {
      slot = (slot + 1) & (entries_.size() - 1);
    }
    if (entries_[slot].sum.units == 0) {
      if (2 * (size_ + 1) > entries_.size()) {
        grow();
        for (slot = home(key); entries_[slot].sum.units > 0;) {
          slot = (slot + 1) & (entries_.size() - 1);
        }
      }
      entries_[slot].key = key;
      ++size_;  // the caller adds a position
    }
    return entries_[slot].sum;
  }
  template <typename Use>
  void for_each(Use&& use) {
    for (Entry& entry : entries_) {
      if (entry.sum.units > 0) {
        use(static_cast<uint32_t>(entry.key >> 32), static_cast<uint32_t>(entry.key), entry.sum);
      }
    }
  }

 private:
  struct Entry {
    uint64_t key = 0;
    PairSum sum;
  };

  size_t home(uint64_t key) const {
    return mix(key ^ kHashFirst, kHashSecond) & (entries_.size() - 1);
  }
  void grow() {
    base::BigVector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.sum.units > 0) {
        size_t slot = home(entry.key);
        while (entries_[slot].sum.units > 0) {
          slot = (slot + 1) & (entries_.size() - 1);
        }
        entries_[slot] = entry;
      }
    }
  }

  base::BigVector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_CENSUS_H_
