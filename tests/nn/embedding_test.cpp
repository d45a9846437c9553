// SPDX-License-Identifier: Apache-2.0
#include "nn/embedding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/device.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;

std::vector<core::Queue> queues() {
  std::vector<core::Queue> result{core::DeviceManager::open("host").queue};
  if (const auto device = tests::require_device_queue()) {
    result.push_back(*device);
  }
  return result;
}

HostTensor ids(const std::vector<int64_t>& values, const Shape& shape, DType dtype = DType::kI64) {
  return HostTensor::from_int64s(shape, values).to(dtype);
}

}  // namespace

TEST_CASE("embedding: rows of every element size come back bit for bit") {
  base::Rng rng(1);
  const std::vector<int64_t> chosen{4, 0, 4, 2, 1, 6};
  for (const core::Queue& queue : queues()) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kU8}) {
      for (const int64_t dim : {1, 63, 64, 65, 257}) {
        HostTensor table(dtype, {7, dim});
        for (size_t i = 0; i < table.byte_count(); ++i) {
          table.data()[i] = static_cast<std::byte>(rng.next());
        }
        const HostTensor out =
            nn::embedding(Tensor::from_host(queue, table), ids(chosen, {2, 3})).to_host();
        REQUIRE(out.shape() == Shape{2, 3, dim});
        CHECK(out.dtype() == dtype);
        const size_t row = static_cast<size_t>(dim) * core::dtype_size(dtype);
        for (size_t i = 0; i < chosen.size(); ++i) {
          CHECK(std::memcmp(out.data() + i * row,
                            table.data() + static_cast<size_t>(chosen[i]) * row, row) == 0);
        }
      }
    }
  }
}

TEST_CASE("embedding: ids may have any integer type and shape") {
  for (const core::Queue& queue : queues()) {
    const Tensor table = Tensor::from_host(queue, nn::make_embedding_table(200, 4, 3));
    const std::vector<float> want = nn::embedding(table, ids({100, 7}, {2})).to_host().to_floats();
    for (const DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32,
                              DType::kU32, DType::kU64}) {
      CHECK(nn::embedding(table, ids({100, 7}, {2}, dtype)).to_host().to_floats() == want);
    }
    CHECK(nn::embedding(table, ids({7}, {})).shape() == Shape{4});
    CHECK(nn::embedding(table, ids({}, {0, 3})).shape() == Shape{0, 3, 4});
  }
}

TEST_CASE("embedding: an id outside the table is named with its position") {
  for (const core::Queue& queue : queues()) {
    const Tensor table = Tensor::from_host(queue, nn::make_embedding_table(10, 4, 3));
    CHECK_THROWS_AS(nn::embedding(table, ids({1, 10}, {2})), base::FormatError);
    CHECK_THROWS_WITH(nn::embedding(table, ids({1, 2, 10}, {3})),
                      Contains("id 10 at position 2") && Contains("10 rows"));
    CHECK_THROWS_WITH(nn::embedding(table, ids({-1}, {1})), Contains("id -1 at position 0"));
    HostTensor large(DType::kU64, {2});
    large.as<uint64_t>()[1] = ~uint64_t{0};
    CHECK_THROWS_WITH(nn::embedding(table, large),
                      Contains("id 18446744073709551615 at position 1"));
    CHECK_THROWS_AS(nn::embedding(table, HostTensor(DType::kF32, {2})), base::FormatError);
    CHECK_THROWS_AS(nn::embedding(table, HostTensor(DType::kBool, {2})), base::FormatError);
    CHECK_THROWS_AS(nn::embedding(table.reshaped({40}), ids({0}, {1})), base::FormatError);
    // An empty table has no valid id but gives rows for none.
    const Tensor none = Tensor::zeros(queue, DType::kF32, {0, 4});
    CHECK_THROWS_AS(nn::embedding(none, ids({0}, {1})), base::FormatError);
    CHECK(nn::embedding(none, ids({}, {0})).shape() == Shape{0, 4});
  }
}

TEST_CASE("embedding table: a seed gives standard normal numbers and always the same") {
  const HostTensor table = nn::make_embedding_table(300, 100, 42);
  CHECK(table.shape() == Shape{300, 100});
  CHECK(nn::make_embedding_table(300, 100, 42).to_floats() == table.to_floats());
  CHECK(nn::make_embedding_table(300, 100, 43).to_floats() != table.to_floats());
  double sum = 0;
  double squares = 0;
  for (const double value : table.to_doubles()) {
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs(sum / 30000) < 0.03);
  CHECK(std::abs(squares / 30000 - 1) < 0.04);
  // The rows of a smaller table are the first rows of a larger one.
  const std::vector<float> fewer = nn::make_embedding_table(2, 100, 42).to_floats();
  const std::vector<float> all = table.to_floats();
  CHECK(std::equal(fewer.begin(), fewer.end(), all.begin()));
  CHECK_THROWS_AS(nn::make_embedding_table(-1, 4, 0), base::FormatError);
}
