// SPDX-License-Identifier: Apache-2.0
// Sizes of a tensor's axes, outermost first; rank 0 is a scalar with one element.
#ifndef NETCL_CORE_SHAPE_H_
#define NETCL_CORE_SHAPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace netcl::core {

// At most kMaxRank axes, each >= 0; the product of the axes other than 0 fits int64_t, so that
// strides of an empty tensor do too. Checked on construction, else FormatError. Value type.
class Shape {
 public:
  static constexpr size_t kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(std::span<const int64_t> dims);

  size_t rank() const { return rank_; }
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  std::span<const int64_t> dims() const { return {dims_.data(), rank_}; }
  // Product of all axes: 1 for rank 0, 0 when an axis is 0.
  int64_t count() const { return count_; }
  // "[2, 16, 256]"; "[]" for rank 0.
  std::string text() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && a.dims_ == b.dims_;
  }

 private:
  std::array<int64_t, kMaxRank> dims_{};
  size_t rank_ = 0;
  int64_t count_ = 1;
};

}  // namespace netcl::core

#endif  // NETCL_CORE_SHAPE_H_
