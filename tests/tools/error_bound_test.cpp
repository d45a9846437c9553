// SPDX-License-Identifier: Apache-2.0
#include "attn/error_bound.h"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.h"

using namespace netcl;
using attn::compare;
using core::DType;
using core::HostTensor;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensor doubles(const std::vector<double>& values) {
  return HostTensor::from_doubles({static_cast<int64_t>(values.size())}, values);
}

HostTensor stored(DType dtype, const std::vector<double>& values) {
  return doubles(values).to(dtype);
}

}  // namespace

TEST_CASE("error bound: a value rounded to its storage type passes and the next one fails") {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const double value : {1.0 / 3, -1e-5, 100.7, 0.0, 6e4}) {
      CHECK(compare(stored(dtype, {value}), doubles({value}), 0).passed);
      HostTensor off = stored(dtype, {value});
      if (dtype == DType::kF32) {
        off.as<float>()[0] = std::nextafter(std::nextafter(off.as<float>()[0], 1e9f), 1e9f);
      } else {
        off.as<uint16_t>()[0] = static_cast<uint16_t>(off.as<uint16_t>()[0] + 2);
      }
      const attn::Comparison comparison = compare(off, doubles({value}), 0);
      CHECK_FALSE(comparison.passed);
      CHECK(comparison.worst == 0);
    }
  }
}

TEST_CASE("error bound: NaN fails and infinities must be equal") {
  CHECK_FALSE(compare(stored(DType::kF32, {1, kNan}), doubles({1, 2}), 1e9).passed);
  CHECK_FALSE(compare(stored(DType::kF32, {kNan}), doubles({kNan}), 1e9).passed);
  CHECK_FALSE(compare(stored(DType::kF32, {1}), doubles({kNan}), 1e9).passed);
  CHECK_FALSE(compare(stored(DType::kF32, {kInf}), doubles({-kInf}), 1e9).passed);
  CHECK_FALSE(compare(stored(DType::kF32, {kInf}), doubles({1}), 1e9).passed);
  CHECK_FALSE(compare(stored(DType::kF32, {1}), doubles({kInf}), 1e9).passed);
  CHECK(compare(stored(DType::kF32, {kInf}), doubles({kInf}), 0).passed);
  CHECK(compare(stored(DType::kF16, {1e6}), doubles({1e6}), 0).passed);
  CHECK(std::isnan(compare(stored(DType::kF32, {kNan, 1}), doubles({1, 1}), 0).max_abs_error));
}

TEST_CASE("error bound: the element that exceeds its bound most is named") {
  const attn::Comparison comparison =
      compare(stored(DType::kF32, {1, 2.1, 3.5}), doubles({1, 2, 3}), 1e-3);
  CHECK_FALSE(comparison.passed);
  CHECK(comparison.worst == 2);
  CHECK(comparison.max_abs_error == Approx(0.5));
}

TEST_CASE("error bound: it grows with scores and values and ignores what is not finite") {
  const HostTensor q = HostTensor::from_doubles({2, 2}, std::vector<double>{3, 4, 0, kNan});
  const HostTensor k = HostTensor::from_doubles({1, 2}, std::vector<double>{0, 2});
  const HostTensor v = HostTensor::from_doubles({1, 1}, std::vector<double>{-7});
  attn::BoundInputs inputs;
  inputs.q = &q;
  inputs.k = &k;
  inputs.v = &v;
  inputs.head_dim = 2;
  inputs.scale = 0.5;
  const double unit = std::ldexp(1.0, -24);
  CHECK(attn::attention_error_bound(inputs) == Approx(7 * 8 * unit * (1 + 0.5 * 5 * 2)));
  inputs.rotation = 0.25;
  CHECK(attn::attention_error_bound(inputs) == Approx(7 * (8 * unit * (1 + 5) + 2 * 5 * 0.25)));
}
