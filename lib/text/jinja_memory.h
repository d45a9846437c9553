// SPDX-License-Identifier: Apache-2.0
// What the values of one rendering hold in memory at one time. Steps and bytes ever made
// (jinja_budget.h) bound the work; this bounds the peak, however the values came to be.
//
// Values are made in a hundred places that know no budget, so the meter belongs to the thread: an
// Object charges the meter that is in force when it is made and gives its bytes back to the same
// one when it dies. Objects made without a meter (the literals of a parsed template, which several
// threads may share) charge nobody.
#ifndef NETCL_TEXT_JINJA_MEMORY_H_
#define NETCL_TEXT_JINJA_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace netcl::text::jinja {

// The meter of this thread from its making to its end; the one before comes back then. Must outlive
// every object that was made meanwhile.
class Memory {
 public:
  explicit Memory(uint64_t limit);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Null outside of a rendering.
  static Memory* current();
  // Throws Failure when `bytes` more than what is held are too many.
  void check(uint64_t bytes) const;
  void take(uint64_t bytes);
  void give_back(uint64_t bytes) { held_ -= bytes; }

 private:
  uint64_t limit_;
  uint64_t held_ = 0;
  Memory* before_;
};

// Throws Failure when the thread's meter has no room for `bytes` more.
void check_memory(uint64_t bytes);

// Bytes charged for as long as it lives: what is being put together, and the base of all objects.
class MemoryCharge {
 public:
  MemoryCharge() : memory_(Memory::current()) {}
  ~MemoryCharge() {
    if (memory_ != nullptr) {
      memory_->give_back(bytes_);
    }
  }
  // A copy holds memory of its own, which it has to charge itself.
  MemoryCharge(const MemoryCharge&) : MemoryCharge() {}
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  // Throws Failure when there is no room for them; the charge is then as it was.
  void set(uint64_t bytes) {
    if (memory_ == nullptr) {
      return;
    }
    if (bytes > bytes_) {
      memory_->take(bytes - bytes_);
    } else {
      memory_->give_back(bytes_ - bytes);
    }
    bytes_ = bytes;
  }
  void add(uint64_t bytes) { set(bytes_ + bytes); }

 private:
  Memory* memory_;
  uint64_t bytes_ = 0;
};

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_MEMORY_H_
