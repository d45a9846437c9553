// SPDX-License-Identifier: Apache-2.0
#include "core/host_tensor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

using netcl::base::FormatError;
using netcl::core::DType;
using netcl::core::HostTensor;
using netcl::core::Shape;

namespace {

HostTensor counting(DType dtype, const Shape& shape) {
  std::vector<int64_t> values(static_cast<size_t>(shape.count()));
  std::iota(values.begin(), values.end(), 0);
  return HostTensor::from_int64s(shape, values).to(dtype);
}

}  // namespace

TEST_CASE("host tensor: a new one is zero and aligned") {
  const HostTensor tensor(DType::kF16, Shape{3, 5});
  CHECK(tensor.byte_count() == 30);
  CHECK(reinterpret_cast<uintptr_t>(tensor.data()) % 64 == 0);
  const auto bits = tensor.as<uint16_t>();
  CHECK(bits.size() == 15);
  CHECK(std::all_of(bits.begin(), bits.end(), [](uint16_t x) { return x == 0; }));
  const HostTensor empty;
  CHECK(empty.shape() == Shape{0});
  CHECK(empty.to_floats().empty());
  CHECK(HostTensor(empty).count() == 0);
  CHECK(HostTensor(DType::kF32, Shape{}).count() == 1);
  CHECK(HostTensor(DType::kI64, Shape{2, 0}).to(DType::kU8).byte_count() == 0);
}

TEST_CASE("host tensor: too many bytes is bad_alloc and no wrapped size") {
  const int64_t max = std::numeric_limits<int64_t>::max();
  CHECK_THROWS_AS(HostTensor(DType::kF64, Shape{max}), std::bad_alloc);
  CHECK_THROWS_AS(HostTensor(DType::kF64, Shape{int64_t{1} << 61}), std::bad_alloc);
}

TEST_CASE("host tensor: values go in and come out") {
  const std::array<float, 3> floats = {1.5F, -2, 0};
  const auto tensor = HostTensor::from_floats(Shape{3}, floats);
  CHECK(tensor.dtype() == DType::kF32);
  CHECK(tensor.to_floats() == std::vector<float>{1.5F, -2, 0});
  CHECK(tensor.to_doubles() == std::vector<double>{1.5, -2, 0});
  CHECK_THROWS_AS(tensor.to_int64s(), FormatError);
  CHECK(tensor.to(DType::kBF16).as<uint16_t>()[0] == 0x3FC0);
  CHECK(tensor.to(DType::kBF16).shape() == Shape{3});
  const std::array<double, 1> doubles = {0.1};
  CHECK(HostTensor::from_doubles(Shape{}, doubles).as<double>()[0] == 0.1);
  CHECK_THROWS_AS(HostTensor::from_floats(Shape{2}, floats), std::logic_error);
  CHECK_THROWS_AS(tensor.as<uint16_t>(), std::logic_error);
}

TEST_CASE("host tensor: copies are apart and moves keep the memory") {
  HostTensor first = counting(DType::kI32, Shape{4});
  HostTensor second = first;
  second.as<int32_t>()[0] = 7;
  CHECK(first.as<int32_t>()[0] == 0);
  const std::byte* memory = first.data();
  HostTensor third = std::move(first);
  CHECK(third.data() == memory);
  second = third;
  CHECK(second.data() != memory);
  CHECK(second.to_int64s() == std::vector<int64_t>{0, 1, 2, 3});
  const HostTensor& alias = second;
  second = alias;
  CHECK(second.to_int64s() == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("host tensor: reshaping keeps elements and refuses another count") {
  const HostTensor tensor = counting(DType::kI16, Shape{2, 6});
  const HostTensor other = tensor.reshaped(Shape{3, 4});
  CHECK(other.shape() == Shape{3, 4});
  CHECK(other.to_int64s() == tensor.to_int64s());
  CHECK_THROWS_WITH(tensor.reshaped(Shape{5}),
                    "shape [2, 6]: cannot become [5]: 12 elements, not 5");
  HostTensor source = counting(DType::kI16, Shape{2, 6});
  const std::byte* memory = source.data();
  CHECK(std::move(source).reshaped(Shape{12}).data() == memory);
}

TEST_CASE("host tensor: permuting agrees with the definition for every order") {
  for (const DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kF64}) {
    for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{1, 7, 1, 3}, Shape{2, 0, 3, 4}}) {
      const HostTensor tensor = counting(dtype, shape);
      const auto source = tensor.to_doubles();
      std::array<size_t, 4> order = {0, 1, 2, 3};
      do {
        const HostTensor result = tensor.permuted(order);
        REQUIRE(result.dtype() == dtype);
        std::vector<double> expected;
        std::array<int64_t, 4> index{};  // in the result's axes
        const auto dim = [&](size_t axis) { return shape[order[axis]]; };
        for (index[0] = 0; index[0] < dim(0); ++index[0]) {
          for (index[1] = 0; index[1] < dim(1); ++index[1]) {
            for (index[2] = 0; index[2] < dim(2); ++index[2]) {
              for (index[3] = 0; index[3] < dim(3); ++index[3]) {
                std::array<int64_t, 4> at{};
                for (size_t axis = 0; axis < 4; ++axis) {
                  at[order[axis]] = index[axis];
                }
                const int64_t flat =
                    ((at[0] * shape[1] + at[1]) * shape[2] + at[2]) * shape[3] + at[3];
                expected.push_back(source[static_cast<size_t>(flat)]);
              }
            }
          }
        }
        CAPTURE(order, shape.text());
        CHECK(result.shape() == Shape{dim(0), dim(1), dim(2), dim(3)});
        CHECK(result.to_doubles() == expected);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST_CASE("host tensor: scalars and vectors permute and a bad order is a bug") {
  const HostTensor scalar = counting(DType::kF32, Shape{});
  CHECK(scalar.permuted({}).count() == 1);
  const HostTensor vector = counting(DType::kF32, Shape{5});
  const std::array<size_t, 1> same = {0};
  CHECK(vector.permuted(same).to_floats() == vector.to_floats());
  const std::array<size_t, 2> twice = {0, 0};
  CHECK_THROWS_AS(vector.permuted(twice), std::logic_error);
  CHECK_THROWS_AS(counting(DType::kF32, Shape{2, 2}).permuted(twice), std::logic_error);
}
