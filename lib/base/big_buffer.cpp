// SPDX-License-Identifier: Apache-2.0
#include "base/big_buffer.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace netcl::base {

namespace {

constexpr size_t kHugePage = size_t{1} << 21;

// Bytes mapped for `size`: one huge page more than it takes, so that it can begin at a border.
size_t mapped_bytes(size_t size) {
  return size < kHugePage ? size : size + kHugePage;
}

void* aligned(void* mapped, size_t size) {
  if (size < kHugePage) {
    return mapped;
  }
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  return static_cast<char*>(mapped) + (kHugePage - address % kHugePage) % kHugePage;
}

}  // namespace

// What lies before the border and behind the end is never touched and costs addresses only; it is
// given back at once so that data_ alone describes the mapping.
BigBuffer::BigBuffer(size_t size) : size_(size) {
  if (size == 0) {
    return;
  }
  const size_t total = mapped_bytes(size);
  void* mapped = ::mmap(nullptr, total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc();
  }
  data_ = aligned(mapped, size);
  if (size < kHugePage) {
    return;
  }
  constexpr size_t kPage = 4096;
  const size_t before = static_cast<size_t>(static_cast<char*>(data_) - static_cast<char*>(mapped));
  const size_t kept = (size + kPage - 1) / kPage * kPage;
  if (before > 0) {
    ::munmap(mapped, before);
  }
  if (before + kept < total) {
    ::munmap(static_cast<char*>(data_) + kept, total - before - kept);
  }
  ::madvise(data_, size, MADV_HUGEPAGE);  // a wish; without it everything works the same
}

void advise_huge_pages(void* memory, size_t size) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const size_t before = (kHugePage - address % kHugePage) % kHugePage;  // of the first whole page
  if (size >= before + kHugePage) {
    const size_t whole = (size - before) / kHugePage * kHugePage;
    ::madvise(static_cast<char*>(memory) + before, whole, MADV_HUGEPAGE);
  }
}

BigBuffer::~BigBuffer() {
  if (data_ != nullptr) {
    ::munmap(data_, size_);
  }
}

}  // namespace netcl::base
