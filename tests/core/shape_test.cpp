// SPDX-License-Identifier: Apache-2.0
#include "core/shape.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

using netcl::base::FormatError;
using netcl::core::Shape;

namespace {

Shape from_vector(const std::vector<int64_t>& dims) {
  return Shape(std::span<const int64_t>(dims));
}

}  // namespace

TEST_CASE("shape: a scalar has one element and no axes") {
  const Shape shape;
  CHECK(shape.rank() == 0);
  CHECK(shape.count() == 1);
  CHECK(shape.text() == "[]");
  CHECK(shape == from_vector({}));
  CHECK_FALSE(shape == Shape{1});
}

TEST_CASE("shape: axes count and text come out as given") {
  const Shape shape{2, 16, 256};
  CHECK(shape.rank() == 3);
  CHECK(shape[1] == 16);
  CHECK(shape.count() == 8192);
  CHECK(shape.text() == "[2, 16, 256]");
  CHECK(shape == from_vector({2, 16, 256}));
  CHECK_FALSE(shape == Shape{2, 256, 16});
  CHECK(std::vector<int64_t>(shape.dims().begin(), shape.dims().end()) ==
        std::vector<int64_t>{2, 16, 256});
  CHECK(Shape{3, 0, 5}.count() == 0);
  CHECK(Shape{1, 2, 1, 2, 1, 2, 1, 2}.count() == 16);
}

TEST_CASE("shape: what cannot be a shape is refused by name") {
  CHECK_THROWS_WITH((Shape{2, -1}), "shape [2, -1]: axis 1 is negative");
  CHECK_THROWS_WITH((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}),
                    "shape [1, 1, 1, 1, 1, 1, 1, 1, 1]: 9 axes; at most 8 allowed");
  CHECK_THROWS_WITH(from_vector(std::vector<int64_t>(1000, 1)),
                    "shape [1, 1, 1, 1, 1, 1, 1, 1, 1, ...]: 1000 axes; at most 8 allowed");
  const int64_t max = std::numeric_limits<int64_t>::max();
  CHECK(Shape{max}.count() == max);
  CHECK(Shape{max, 1}.count() == max);
  CHECK_THROWS_AS((Shape{max, 2}), FormatError);
  CHECK_THROWS_AS((Shape{int64_t{1} << 32, int64_t{1} << 31}), FormatError);
  CHECK((Shape{int64_t{1} << 32, (int64_t{1} << 31) - 1}.count()) ==
        max - ((int64_t{1} << 32) - 1));
  CHECK_THROWS_AS((Shape{0, max, max}), FormatError);
  CHECK_THROWS_AS((Shape{max, max, 0}), FormatError);
  CHECK(Shape{max, 0}.count() == 0);
}
