// SPDX-License-Identifier: Apache-2.0
// Zeroed memory for large tables: straight from the system, in huge pages where it grants them,
// which spares a random access most of its address translation.
#ifndef NETCL_BASE_BIG_BUFFER_H_
#define NETCL_BASE_BIG_BUFFER_H_

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace netcl::base {

// `size` zero bytes, aligned to at least 4096; from kLeastHugeBytes on they lie in whole huge
// pages. Throws std::bad_alloc when the system has none left. Pages take memory when they are first
// touched; a huge page is worth it from a quarter of it on.
inline constexpr size_t kLeastHugeBytes = size_t{1} << 19;
void* map_zeros(size_t size);
void unmap_zeros(void* data, size_t size);

// Owns `size` zero bytes, aligned to at least 4096. Throws std::bad_alloc when the system has none
// left. Pages take memory when they are first touched.
class BigBuffer {
 public:
  BigBuffer() = default;
  explicit BigBuffer(size_t size);
  ~BigBuffer();
  BigBuffer(BigBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  BigBuffer& operator=(BigBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  // Makes it larger; what was there stays, at another address. Pages are moved, not copied.
  void grow(size_t size);
  // Gives back the memory of the whole pages before byte `end`, or from byte `begin` on; they read
  // as zeros from now on.
  void drop_front(size_t end);
  void drop_back(size_t begin);

  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Memory of containers: large ones have huge pages, since touching fresh memory in small ones takes
// as long as filling it.
template <typename T>
struct BigAllocator {
  using value_type = T;
  BigAllocator() = default;
  template <typename U>
  BigAllocator(const BigAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    const size_t size = count * sizeof(T);
    return static_cast<T*>(size < kLeastHugeBytes ? ::operator new(size) : map_zeros(size));
  }
  void deallocate(T* data, size_t count) {
    const size_t size = count * sizeof(T);
    if (size < kLeastHugeBytes) {
      ::operator delete(data);
    } else {
      unmap_zeros(data, size);
    }
  }
  friend bool operator==(BigAllocator, BigAllocator) { return true; }
};

template <typename T>
using BigVector = std::vector<T, BigAllocator<T>>;

// Asks for huge pages under memory that is not touched yet, for results that are long; a wish.
void advise_huge_pages(void* memory, size_t size);

}  // namespace netcl::base

#endif  // NETCL_BASE_BIG_BUFFER_H_
