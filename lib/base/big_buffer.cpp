// SPDX-License-Identifier: Apache-2.0
#include "base/big_buffer.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>

#include "base/error.h"

namespace netcl::base {

namespace {

constexpr size_t kHugePage = size_t{1} << 21;

// Bytes that a mapping for `size` takes: whole pages, huge ones where there is enough for one.
size_t mapped_bytes(size_t size) {
  const size_t page = size < kLeastHugeBytes ? 4096 : kHugePage;
  return (size + page - 1) / page * page;
}

void* map(size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return mapped;
}

}  // namespace

// Huge pages begin at a border, so one more is mapped; what lies before the border and behind the
// end is given back at once.
void* map_zeros(size_t size) {
  const size_t bytes = mapped_bytes(size);
  if (bytes < size) {
    throw std::bad_alloc();
  }
  if (size < kLeastHugeBytes) {
    return map(bytes);
  }
  char* const mapped = static_cast<char*>(map(bytes + kHugePage));
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(mapped) % kHugePage) % kHugePage;
  if (before > 0) {
    ::munmap(mapped, before);
  }
  if (before < kHugePage) {
    ::munmap(mapped + before + bytes, kHugePage - before);
  }
  ::madvise(mapped + before, bytes, MADV_HUGEPAGE);  // a wish; without it all works the same
  return mapped + before;
}

void unmap_zeros(void* data, size_t size) {
  ::munmap(data, mapped_bytes(size));
}

BigBuffer::BigBuffer(size_t size) : data_(size == 0 ? nullptr : map_zeros(size)), size_(size) {}

void BigBuffer::grow(size_t size) {
  NETCL_CHECK(size >= size_);
  if (data_ == nullptr) {
    *this = BigBuffer(size);
    return;
  }
  // The old pages take the place of the first ones of the new mapping.
  void* place = map_zeros(size);
  const size_t old_bytes = mapped_bytes(size_);
  if (old_bytes > mapped_bytes(size) ||
      ::mremap(data_, old_bytes, old_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
    unmap_zeros(place, size);
    throw std::bad_alloc();
  }
  if (size >= kLeastHugeBytes) {
    ::madvise(place, mapped_bytes(size), MADV_HUGEPAGE);
  }
  data_ = place;
  size_ = size;
}

void BigBuffer::drop_front(size_t end) {
  NETCL_CHECK(end <= size_);
  const size_t page = size_ < kLeastHugeBytes ? 4096 : kHugePage;
  if (end >= page) {
    ::madvise(data_, end / page * page, MADV_DONTNEED);
  }
}

void BigBuffer::drop_back(size_t begin) {
  const size_t page = size_ < kLeastHugeBytes ? 4096 : kHugePage;
  const size_t first = (begin + page - 1) / page * page;
  const size_t end = data_ == nullptr ? 0 : mapped_bytes(size_);
  if (first < end) {
    ::madvise(static_cast<char*>(data_) + first, end - first, MADV_DONTNEED);
  }
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
    unmap_zeros(data_, size_);
  }
}

}  // namespace netcl::base
