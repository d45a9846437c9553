// SPDX-License-Identifier: Apache-2.0
// The open addressing that the tables of counted words share.
#ifndef NETCL_TEXT_WORD_SLOTS_H_
#define NETCL_TEXT_WORD_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/big_buffer.h"

namespace netcl::text {

// A power of two of entries, linear probing, at most three quarters in use. The search for an entry
// begins at the upper bits of its hash, so that doubling reads and writes the slots in order and
// the memory of the old ones can go back as they are read. `Entry` is free when it is all zeros,
// and has is_free() and hash(). Not thread-safe. Movable; what was moved from is assigned to or
// destroyed.
template <typename Entry>
class WordSlots {
 public:
  explicit WordSlots(int bits)
      : memory_(sizeof(Entry) << bits),
        entries_(static_cast<Entry*>(memory_.data())),
        mask_((size_t{1} << bits) - 1),
        shift_(64 - bits) {}
  WordSlots(WordSlots&& other) noexcept { swap(other); }
  WordSlots& operator=(WordSlots&& other) noexcept {
    swap(other);
    return *this;
  }

  size_t count() const { return mask_ + 1; }
  size_t used() const { return used_; }
  const Entry* data() const { return entries_; }
  Entry& operator[](size_t slot) { return entries_[slot]; }
  const Entry& operator[](size_t slot) const { return entries_[slot]; }

  size_t home(uint64_t hash) const { return hash >> shift_; }
  size_t next(size_t slot) const { return (slot + 1) & mask_; }
  void prefetch(size_t slot) const { __builtin_prefetch(entries_ + slot, 1); }

  bool has_room(size_t more) const { return fits(more, count()); }
  // Memory with `more` entries.
  size_t memory_bytes(size_t more) const {
    size_t slots = count();
    while (!fits(more, slots)) {
      slots *= 2;
    }
    return slots * sizeof(Entry);
  }

  // Puts an entry into a free slot, to which the search for it leads.
  void fill(size_t slot, const Entry& entry) {
    entries_[slot] = entry;
    ++used_;
  }
  // As many slots again. Homes change.
  void grow();
  // Puts the entries in use in the first slots, for word_at() and the like; nothing else may be
  // called then but used(), data() and [].
  void pack();

  // Calls use(entry) for each that is in use, in the order of slots.
  template <typename Use>
  void for_each(Use&& use) const {
    for (size_t slot = 0; slot <= mask_; ++slot) {
      if (!entries_[slot].is_free()) {
        use(entries_[slot]);
      }
    }
  }

 private:
  // Memory of the old slots that goes back at once while there come to be more.
  static constexpr size_t kDropBytes = size_t{2} << 20;

  bool fits(size_t more, size_t slots) const { return 4 * (used_ + more) <= 3 * slots; }
  void swap(WordSlots& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(entries_, other.entries_);
    std::swap(mask_, other.mask_);
    std::swap(shift_, other.shift_);
    std::swap(used_, other.used_);
  }

  base::BigBuffer memory_;
  Entry* entries_ = nullptr;
  size_t mask_ = 0;
  int shift_ = 64;
  size_t used_ = 0;
};

template <typename Entry>
void WordSlots<Entry>::grow() {
  WordSlots old(64 - shift_ + 1);
  swap(old);
  size_t dropped = 0;
  for (size_t from = 0; from < old.count(); ++from) {
    const Entry& entry = old[from];
    if (!entry.is_free()) {
      size_t slot = home(entry.hash());
      while (!entries_[slot].is_free()) {
        slot = next(slot);
      }
      fill(slot, entry);
    }
    const size_t done = from * sizeof(Entry);
    if (done - dropped >= kDropBytes) {
      old.memory_.drop_front(done);
      dropped = done;
    }
  }
}

template <typename Entry>
void WordSlots<Entry>::pack() {
  size_t place = 0;
  for (size_t slot = 0; slot <= mask_; ++slot) {
    if (!entries_[slot].is_free()) {
      entries_[place++] = entries_[slot];
    }
  }
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_WORD_SLOTS_H_
