// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding; built twice like the other engine tests (nn/engines.h).
#include "nn/rope.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/engines.h"
#include "support/catch.h"

namespace netcl::tests {

namespace {

using Catch::Matchers::Contains;
using core::DType;
using core::HostTensor;
using core::Shape;
using nn::RopeCall;
using nn::RopePairing;

nn::RopeOptions options(int64_t head_dim, int64_t rope_dim, int64_t positions, double theta) {
  nn::RopeOptions o;
  o.head_dim = head_dim;
  o.rope_dim = rope_dim;
  o.max_positions = positions;
  o.theta = theta;
  return o;
}

HostTensor rotate(const core::Queue& queue, const HostTensor& x, const nn::RopeOptions& o,
                  const RopeCall& call) {
  return nn::apply_rope(core::Tensor::from_host(queue, x), nn::RopeTable(queue, o), call).to_host();
}

HostTensor random_tensor(uint64_t seed, const Shape& shape) {
  base::Rng rng(seed);
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (double& value : values) {
    value = rng.normal();
  }
  return HostTensor::from_doubles(shape, values).to(DType::kF32);
}

RopeCall at_position(int64_t position, RopePairing pairing) {
  RopeCall call;
  call.pairing = pairing;
  call.offset = position;
  return call;
}

// The formula as it is printed, in double, for one row.
std::vector<double> formula(const std::vector<double>& x, double position, int64_t rope_dim,
                            double theta, RopePairing pairing) {
  std::vector<double> y = x;
  for (int64_t c = 0; c < rope_dim / 2; ++c) {
    const double angle =
        position * std::pow(theta, -2.0 * static_cast<double>(c) / static_cast<double>(rope_dim));
    const size_t a = static_cast<size_t>(pairing == RopePairing::kHalf ? c : 2 * c);
    const size_t b = pairing == RopePairing::kHalf ? a + static_cast<size_t>(rope_dim / 2) : a + 1;
    y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
    y[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
  }
  return y;
}

void check_values(const HostTensor& got, const std::vector<double>& want, double tolerance) {
  const Difference worst = difference(got, HostTensor::from_doubles(got.shape(), want));
  INFO(worst.text);
  CHECK(worst.error <= tolerance);
}

}  // namespace

TEST_CASE("rope: the two pairings give their known values") {
  const auto queue = queue_under_test();
  if (!queue) {
    return;
  }
  const HostTensor x = HostTensor::from_floats({1, 4}, std::vector<float>{1, 2, 3, 4});
  const nn::RopeOptions o = options(4, 0, 8, 100);
  check_values(rotate(*queue, x, o, at_position(1, RopePairing::kHalf)),
               {-1.984111, 1.590675, 2.462378, 4.179683}, 1e-6);
  check_values(rotate(*queue, x, o, at_position(1, RopePairing::kInterleaved)),
               {-1.142640, 1.922076, 2.585679, 4.279517}, 1e-6);
  check_values(rotate(*queue, x, o, at_position(0, RopePairing::kHalf)), {1, 2, 3, 4}, 0);
}

TEST_CASE("rope: partial rotary spreads its frequencies over the rotated part and keeps the rest") {
  const auto queue = queue_under_test();
  if (!queue) {
    return;
  }
  const HostTensor x = HostTensor::from_floats({1, 8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const HostTensor y =
      rotate(*queue, x, options(8, 4, 4, 10000), at_position(3, RopePairing::kHalf));
  check_values(y, {-1.413353, 1.879118, -2.828857, 4.058191, 5, 6, 7, 8}, 1e-6);
  for (size_t i = 4; i < 8; ++i) {
    CHECK(y.as<float>()[i] == static_cast<float>(i + 1));
  }
}

TEST_CASE("rope: every layout and type rotates each row by its own position") {
  const auto queue = queue_under_test();
  if (!queue) {
    return;
  }
  const DType dtype = GENERATE(DType::kF32, DType::kF16, DType::kBF16);
  const nn::Layout layout = GENERATE(nn::Layout::kBhsd, nn::Layout::kBshd, nn::Layout::kPacked);
  const RopePairing pairing = GENERATE(RopePairing::kHalf, RopePairing::kInterleaved);
  const int64_t rope_dim = GENERATE(10, 6);
  constexpr int64_t kBatch = 2, kHeads = 3, kLength = 5, kWidth = 10;
  const Shape shape = layout == nn::Layout::kBhsd   ? Shape{kBatch, kHeads, kLength, kWidth}
                      : layout == nn::Layout::kBshd ? Shape{kBatch, kLength, kHeads, kWidth}
                                                    : Shape{kBatch, kLength, kHeads * kWidth};
  const HostTensor x = random_tensor(5, shape).to(dtype);
  RopeCall call;
  call.pairing = pairing;
  call.layout = layout;
  call.heads = layout == nn::Layout::kPacked ? kHeads : 0;
  call.positions = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  const nn::RopeOptions o = options(kWidth, rope_dim, 10, 10000);
  const HostTensor got = rotate(*queue, x, o, call);
  CHECK(got.dtype() == dtype);

  const std::vector<double> from = x.to_doubles();
  std::vector<double> want(from.size());
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t i = 0; i < kLength; ++i) {
        const int64_t row = layout == nn::Layout::kBhsd ? (b * kHeads + h) * kLength + i
                                                        : (b * kLength + i) * kHeads + h;
        const auto begin = from.begin() + row * kWidth;
        const double position =
            static_cast<double>(call.positions[static_cast<size_t>(b * kLength + i)]);
        const std::vector<double> rotated =
            formula(std::vector<double>(begin, begin + kWidth), position, rope_dim, 10000, pairing);
        std::copy(rotated.begin(), rotated.end(), want.begin() + row * kWidth);
      }
    }
  }
  // Values are below 4; the storage type rounds once more.
  const double unit = dtype == DType::kF32 ? 0 : dtype == DType::kF16 ? 0x1p-9 : 0x1p-6;
  check_values(got, want, 1e-6 + unit);
  const nn::RopeAngles angles = nn::rope_angles(o);
  const HostTensor reference = nn::rope_reference(x, angles.cos, angles.sin, call);
  check_values(reference, want, 1e-14);
}

TEST_CASE("rope: scores depend on the distance of two positions only") {
  const auto queue = queue_under_test();
  if (!queue) {
    return;
  }
  const RopePairing pairing = GENERATE(RopePairing::kHalf, RopePairing::kInterleaved);
  const HostTensor q = random_tensor(1, {1, 64});
  const HostTensor k = random_tensor(2, {1, 64});
  const nn::RopeOptions o = options(64, 0, 4096, 10000);
  const auto score = [&](int64_t q_position, int64_t k_position) {
    const std::vector<double> a =
        rotate(*queue, q, o, at_position(q_position, pairing)).to_doubles();
    const std::vector<double> b =
        rotate(*queue, k, o, at_position(k_position, pairing)).to_doubles();
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  };
  // 64 products of values below 4, each rounded to float twice.
  const double tolerance = 64 * 4 * 4 * 1.2e-7;
  const double near = score(0, 3);
  CHECK(std::abs(score(4000, 4003) - near) <= tolerance);
  CHECK(std::abs(score(17, 20) - near) <= tolerance);
  CHECK(std::abs(score(0, 4) - near) > 100 * tolerance);
  CHECK(std::abs(score(3, 0) - near) > 100 * tolerance);
}

TEST_CASE("rope: a position outside the table is refused by name") {
  const auto queue = queue_under_test();
  if (!queue) {
    return;
  }
  const HostTensor x = random_tensor(3, {2, 1, 3, 8});
  const nn::RopeOptions o = options(8, 0, 16, 10000);
  RopeCall call;
  call.offset = 13;
  CHECK_NOTHROW(rotate(*queue, x, o, call));
  const auto fails = [&](const std::string& words) {
    CHECK_THROWS_AS(rotate(*queue, x, o, call), base::FormatError);
    CHECK_THROWS_WITH(rotate(*queue, x, o, call), Contains(words));
  };
  call.offset = 14;
  fails("allowed 0 to 15");
  call.offset = -1;
  fails("allowed 0 to 15");
  call.offset = std::numeric_limits<int64_t>::max();
  fails("allowed 0 to 15");
  call.offset = 0;
  call.positions = {0, 1, 2, 3, 4, 16};
  fails("position 16 at [1, 2]");
  call.positions = {0, -1, 2};
  fails("position -1 at [0, 1]");
  call.positions = {0, 1};
  fails("2 positions for batch 2 of length 3");
  call.positions = {0, 1, 2};
  call.offset = 1;
  CHECK_THROWS_AS(rotate(*queue, x, o, call), base::UsageError);
}

TEST_CASE("rope: odd and oversized rotary sizes and a bad theta are refused") {
  CHECK_THROWS_AS(nn::rope_angles(options(7, 0, 4, 10000)), base::FormatError);
  CHECK_THROWS_AS(nn::rope_angles(options(8, 3, 4, 10000)), base::UsageError);
  CHECK_THROWS_AS(nn::rope_angles(options(8, 10, 4, 10000)), base::UsageError);
  CHECK_THROWS_AS(nn::rope_angles(options(8, -2, 4, 10000)), base::UsageError);
  CHECK_THROWS_AS(nn::rope_angles(options(8, 0, 4, 0)), base::UsageError);
  CHECK_THROWS_AS(nn::rope_angles(options(8, 0, 4, NAN)), base::UsageError);
  CHECK_THROWS_AS(nn::rope_angles(options(8, 0, -1, 10000)), base::UsageError);
  CHECK_NOTHROW(nn::rope_angles(options(7, 6, 4, 10000)));
}

TEST_CASE("rope: tables and rows that do not fit are refused") {
  const auto queue = queue_under_test();
  if (!queue) {
    return;
  }
  CHECK_THROWS_AS(nn::RopeTable(*queue, random_tensor(1, {4, 2}), random_tensor(1, {4, 3})),
                  base::FormatError);
  CHECK_THROWS_AS(nn::RopeTable(*queue, random_tensor(1, {4}), random_tensor(1, {4})),
                  base::FormatError);
  CHECK_THROWS_WITH(rotate(*queue, random_tensor(1, {1, 6}), options(8, 0, 4, 10000), {}),
                    Contains("shorter than rope_dim 8"));
  CHECK_THROWS_AS(
      rotate(*queue, random_tensor(1, {1, 8}).to(DType::kF64), options(8, 0, 4, 10000), {}),
      base::FormatError);
  CHECK(rotate(*queue, random_tensor(1, {1, 2, 0, 8}), options(8, 0, 4, 10000), {}).shape() ==
        Shape{1, 2, 0, 8});
}

}  // namespace netcl::tests
