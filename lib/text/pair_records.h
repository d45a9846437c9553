// SPDX-License-Identifier: Apache-2.0
// What training knows of each pair of neighbouring tokens that is frequent enough to be merged.
#ifndef NETCL_TEXT_PAIR_RECORDS_H_
#define NETCL_TEXT_PAIR_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/byte_hash.h"

namespace netcl::text {

struct PairRecord {
  uint32_t left = 0;
  uint32_t right = 0;
  uint64_t count = 0;
  // Positions of the left token's first slot, in PositionLists; stale ones among them. No units: no
  // list.
  uint64_t list_begin = 0;
  uint64_t list_units = 0;
  uint64_t list_count = 0;  // the count when the list held no stale position
};

// Records by number, found by their pair: open addressing, linear probing, at most half full.
class PairRecords {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  PairRecords() : slots_(16) {}

  PairRecord& operator[](uint32_t index) { return records_[index]; }
  const PairRecord& operator[](uint32_t index) const { return records_[index]; }

  // Number of the pair's record, or kNone.
  uint32_t find(uint32_t left, uint32_t right) const {
    const uint64_t key = join(left, right);
    for (size_t slot = home(key);; slot = next(slot)) {
      if (slots_[slot].index == kNone || slots_[slot].key == key) {
        return slots_[slot].index;
      }
    }
  }

  // A new record for a pair that has none; returns its number. Records move.
  uint32_t insert(const PairRecord& record) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    uint32_t index = 0;
    if (free_.empty()) {
      index = static_cast<uint32_t>(records_.size());
      records_.push_back(record);
    } else {
      index = free_.back();
      free_.pop_back();
      records_[index] = record;
    }
    put({join(record.left, record.right), index});
    ++size_;
    return index;
  }

  // The number may be given to another pair later; until then the record has count 0.
  void erase(uint32_t index) {
    const uint64_t key = join(records_[index].left, records_[index].right);
    size_t slot = home(key);
    while (slots_[slot].key != key || slots_[slot].index == kNone) {
      slot = next(slot);
    }
    close_gap(slot);
    records_[index] = {};
    free_.push_back(index);
    --size_;
  }

  // Gives the memory back, too.
  void clear() { *this = PairRecords(); }

  size_t size() const { return size_; }
  // Numbers are below this; those of no record have count 0.
  uint32_t index_limit() const { return static_cast<uint32_t>(records_.size()); }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t index = kNone;
  };

  static uint64_t join(uint32_t left, uint32_t right) { return (uint64_t{left} << 32) | right; }
  size_t home(uint64_t key) const {
    return mix(key ^ kHashFirst, kHashSecond) & (slots_.size() - 1);
  }
  size_t next(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  void put(const Slot& entry) {
    size_t slot = home(entry.key);
    while (slots_[slot].index != kNone) {
      slot = next(slot);
    }
    slots_[slot] = entry;
  }

  // Empties a slot and moves back what was pushed beyond it.
  void close_gap(size_t gap) {
    for (size_t slot = next(gap); slots_[slot].index != kNone; slot = next(slot)) {
      const size_t distance = (slot - home(slots_[slot].key)) & (slots_.size() - 1);
      if (distance >= ((slot - gap) & (slots_.size() - 1))) {
        slots_[gap] = slots_[slot];
        gap = slot;
      }
    }
    slots_[gap] = Slot();
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& entry : old) {
      if (entry.index != kNone) {
        put(entry);
      }
    }
  }

 public:
  // Most memory for a record, with what is there twice while it grows.
  static constexpr uint64_t kMostBytes =
      2 * sizeof(PairRecord) + 6 * sizeof(Slot) + sizeof(uint32_t);

 private:
  std::vector<PairRecord> records_;
  std::vector<uint32_t> free_;
  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_RECORDS_H_
