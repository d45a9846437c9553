// SPDX-License-Identifier: Apache-2.0
#include "base/big_buffer.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>

#include "base/error.h"

namespace netcl::base {

namespace {

constexpr size_t kHugePage = size_t{1} << 21;

// Bytes mapped for `size`: one huge page more than it takes, so that it can begin at a border.
size_t mapped_bytes(size_t size) {
  return size < kHugePage ? size : size + kHugePage;
}

size_t whole_pages(size_t size) {
  constexpr size_t kPage = 4096;
  return (size + kPage - 1) / kPage * kPage;
}

void* aligned(void* mapped, size_t size) {
  if (size < kHugePage) {
    return mapped;
  }
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  return static_cast<char*>(mapped) + (kHugePage - address % kHugePage) % kHugePage;
}

// A mapping of `size` bytes at a border of huge pages. What lies before the border and behind the
// end is never touched and costs addresses only; it is given back at once.
void* map_aligned(size_t size) {
  const size_t total = mapped_bytes(size);
  void* mapped = ::mmap(nullptr, total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc();
  }
  if (size < kHugePage) {
    return mapped;
  }
  void* data = aligned(mapped, size);
  const size_t before = static_cast<size_t>(static_cast<char*>(data) - static_cast<char*>(mapped));
  const size_t kept = whole_pages(size);
  if (before > 0) {
    ::munmap(mapped, before);
  }
  if (before + kept < total) {
    ::munmap(static_cast<char*>(data) + kept, total - before - kept);
  }
  ::madvise(data, size, MADV_HUGEPAGE);  // a wish; without it everything works the same
  return data;
}

}  // namespace

BigBuffer::BigBuffer(size_t size) : data_(size == 0 ? nullptr : map_aligned(size)), size_(size) {}

void BigBuffer::grow(size_t size) {
  NETCL_CHECK(size >= size_);
  if (data_ == nullptr) {
    *this = BigBuffer(size);
    return;
  }
  // The old pages take the place of the first ones of the new mapping.
  void* place = map_aligned(size);
  const size_t old_bytes = whole_pages(size_);
  if (::mremap(data_, old_bytes, old_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
    ::munmap(place, size);
    throw std::bad_alloc();
  }
  if (size >= kHugePage) {
    ::madvise(place, size, MADV_HUGEPAGE);
  }
  data_ = place;
  size_ = size;
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
