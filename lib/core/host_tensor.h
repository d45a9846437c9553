// SPDX-License-Identifier: Apache-2.0
// A tensor in host memory: contiguous, row-major.
#ifndef NETCL_CORE_HOST_TENSOR_H_
#define NETCL_CORE_HOST_TENSOR_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "core/dtype.h"
#include "core/shape.h"

namespace netcl::core {

// Elements of one dtype in memory of its own; value semantics: copies are deep, moves are cheap and
// leave an object that may only be assigned to or destroyed. f16 and bf16 are viewed as bits
// through as<uint16_t>(), bool as as<uint8_t>() with 0 and 1.
class HostTensor {
 public:
  // An empty f32 tensor of shape [0].
  HostTensor();
  // Zero-filled, 64-byte aligned. Throws std::bad_alloc when memory is short; readers of files
  // compare the size with the file's first.
  HostTensor(DType dtype, const Shape& shape);

  // Copies values in. The sizes must agree (NETCL_CHECK).
  static HostTensor from_floats(const Shape& shape, std::span<const float> values);
  static HostTensor from_doubles(const Shape& shape, std::span<const double> values);
  static HostTensor from_int64s(const Shape& shape, std::span<const int64_t> values);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_.count(); }
  size_t byte_count() const { return static_cast<size_t>(count()) * dtype_size(dtype_); }

  // First element; null only for a default-constructed tensor.
  std::byte* data() { return storage_.get(); }
  const std::byte* data() const { return storage_.get(); }

  // Typed view; sizeof(T) must be the element size (NETCL_CHECK).
  template <typename T>
  std::span<T> as() {
    NETCL_CHECK(sizeof(T) == dtype_size(dtype_));
    return {reinterpret_cast<T*>(data()), static_cast<size_t>(count())};
  }
  template <typename T>
  std::span<const T> as() const {
    NETCL_CHECK(sizeof(T) == dtype_size(dtype_));
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(count())};
  }

  // The same elements in another type (convert_elements' rules).
  HostTensor to(DType dtype) const;
  std::vector<double> to_doubles() const;
  std::vector<float> to_floats() const;
  std::vector<int64_t> to_int64s() const;

  // The same elements under another shape of equal count; throws FormatError naming both.
  HostTensor reshaped(const Shape& shape) const&;
  HostTensor reshaped(const Shape& shape) &&;
  // Axes reordered: result axis i is axis order[i] of this tensor. Copies. `order` must hold every
  // axis once (NETCL_CHECK).
  HostTensor permuted(std::span<const size_t> order) const;

  HostTensor(const HostTensor& other);
  HostTensor& operator=(const HostTensor& other);
  HostTensor(HostTensor&& other) noexcept = default;
  HostTensor& operator=(HostTensor&& other) noexcept = default;
  ~HostTensor() = default;

 private:
  struct AlignedDelete {
    void operator()(std::byte* bytes) const;
  };
  DType dtype_ = DType::kF32;
  Shape shape_{0};
  std::unique_ptr<std::byte[], AlignedDelete> storage_;
};

}  // namespace netcl::core

#endif  // NETCL_CORE_HOST_TENSOR_H_
