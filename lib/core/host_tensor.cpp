// SPDX-License-Identifier: Apache-2.0
#include "core/host_tensor.h"

#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace netcl::core {

namespace {

constexpr std::align_val_t kAlignment{64};

// memcpy may not be given a null pointer, which an empty tensor may have.
void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

template <typename T>
HostTensor from_values(DType dtype, const Shape& shape, std::span<const T> values) {
  HostTensor tensor(dtype, shape);
  NETCL_CHECK(values.size() == static_cast<size_t>(tensor.count()));
  copy_bytes(tensor.data(), values.data(), values.size_bytes());
  return tensor;
}

template <typename T>
std::vector<T> to_values(const HostTensor& tensor, DType dtype) {
  std::vector<T> values(static_cast<size_t>(tensor.count()));
  convert_elements(tensor.data(), tensor.dtype(), reinterpret_cast<std::byte*>(values.data()),
                   dtype, values.size());
  return values;
}

void check_same_count(const Shape& from, const Shape& to) {
  if (from.count() != to.count()) {
    throw base::FormatError("shape " + from.text() + ": cannot become " + to.text() + ": " +
                            std::to_string(from.count()) + " elements, not " +
                            std::to_string(to.count()));
  }
}

// Writes the elements of a row-major tensor of shape `shape` one after another, read from
// `from` with `strides` (in elements) per axis. `shape` has no empty axis.
template <typename T>
void copy_strided(const std::byte* from, std::byte* to, const Shape& shape,
                  const std::array<int64_t, Shape::kMaxRank>& strides) {
  const size_t rank = shape.rank();
  const int64_t inner_count = rank == 0 ? 1 : shape[rank - 1];
  const int64_t inner_stride = rank == 0 ? 0 : strides[rank - 1];
  std::array<int64_t, Shape::kMaxRank> index{};
  int64_t offset = 0;
  for (int64_t done = 0; done < shape.count(); done += inner_count) {
    for (int64_t i = 0; i < inner_count; ++i) {
      std::memcpy(to, from + (offset + i * inner_stride) * static_cast<int64_t>(sizeof(T)),
                  sizeof(T));
      to += sizeof(T);
    }
    for (size_t axis = rank; axis-- > 1;) {  // next index of the outer axes
      const size_t outer = axis - 1;
      offset += strides[outer];
      if (++index[outer] < shape[outer]) {
        break;
      }
      offset -= strides[outer] * shape[outer];
      index[outer] = 0;
    }
  }
}

}  // namespace

void HostTensor::AlignedDelete::operator()(std::byte* bytes) const {
  ::operator delete[](bytes, kAlignment);
}

HostTensor::HostTensor() = default;

HostTensor::HostTensor(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {
  constexpr auto kMaxBytes = static_cast<size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (static_cast<size_t>(shape.count()) > kMaxBytes / dtype_size(dtype)) {
    throw std::bad_alloc();
  }
  storage_.reset(static_cast<std::byte*>(::operator new[](byte_count(), kAlignment)));
  std::memset(storage_.get(), 0, byte_count());
}

HostTensor::HostTensor(const HostTensor& other) : dtype_(other.dtype_), shape_(other.shape_) {
  if (other.storage_ != nullptr) {
    storage_.reset(static_cast<std::byte*>(::operator new[](byte_count(), kAlignment)));
    copy_bytes(storage_.get(), other.data(), byte_count());
  }
}

HostTensor& HostTensor::operator=(const HostTensor& other) {
  HostTensor copy(other);
  return *this = std::move(copy);
}

HostTensor HostTensor::from_floats(const Shape& shape, std::span<const float> values) {
  return from_values(DType::kF32, shape, values);
}

HostTensor HostTensor::from_doubles(const Shape& shape, std::span<const double> values) {
  return from_values(DType::kF64, shape, values);
}

HostTensor HostTensor::from_int64s(const Shape& shape, std::span<const int64_t> values) {
  return from_values(DType::kI64, shape, values);
}

HostTensor HostTensor::to(DType dtype) const {
  HostTensor result(dtype, shape_);
  convert_elements(data(), dtype_, result.data(), dtype, static_cast<size_t>(count()));
  return result;
}

std::vector<double> HostTensor::to_doubles() const {
  return to_values<double>(*this, DType::kF64);
}

std::vector<float> HostTensor::to_floats() const {
  return to_values<float>(*this, DType::kF32);
}

std::vector<int64_t> HostTensor::to_int64s() const {
  return to_values<int64_t>(*this, DType::kI64);
}

HostTensor HostTensor::reshaped(const Shape& shape) const& {
  return HostTensor(*this).reshaped(shape);
}

HostTensor HostTensor::reshaped(const Shape& shape) && {
  check_same_count(shape_, shape);
  shape_ = shape;
  return std::move(*this);
}

HostTensor HostTensor::permuted(std::span<const size_t> order) const {
  const size_t rank = shape_.rank();
  NETCL_CHECK(order.size() == rank);
  std::array<int64_t, Shape::kMaxRank> own_strides{};
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    own_strides[axis] = stride;
    stride *= shape_[axis];
  }
  std::array<int64_t, Shape::kMaxRank> dims{};
  std::array<int64_t, Shape::kMaxRank> strides{};
  std::array<bool, Shape::kMaxRank> seen{};
  for (size_t i = 0; i < rank; ++i) {
    NETCL_CHECK(order[i] < rank && !seen[order[i]]);
    seen[order[i]] = true;
    dims[i] = shape_[order[i]];
    strides[i] = own_strides[order[i]];
  }
  HostTensor result(dtype_, Shape(std::span<const int64_t>(dims.data(), rank)));
  if (count() == 0) {
    return result;
  }
  switch (dtype_size(dtype_)) {
    case 1:
      copy_strided<uint8_t>(data(), result.data(), result.shape(), strides);
      break;
    case 2:
      copy_strided<uint16_t>(data(), result.data(), result.shape(), strides);
      break;
    case 4:
      copy_strided<uint32_t>(data(), result.data(), result.shape(), strides);
      break;
    default:
      copy_strided<uint64_t>(data(), result.data(), result.shape(), strides);
      break;
  }
  return result;
}

}  // namespace netcl::core
