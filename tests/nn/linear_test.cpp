// SPDX-License-Identifier: Apache-2.0
#include "nn/linear.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "nn/gemm.h"
#include "support/catch.h"
#include "support/device.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;
using nn::WeightLayout;

HostTensor random_tensor(DType dtype, const Shape& shape, base::Rng& rng) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (float& value : values) {
    value = static_cast<float>(rng.normal());
  }
  return HostTensor::from_floats(shape, values).to(dtype);
}

// Matrices of one call in host memory.
struct Sample {
  Sample(int64_t rows, int64_t in, int64_t out, WeightLayout weight_layout, bool with_bias,
         DType x_dtype, DType weight_dtype, DType y_type, base::Rng& rng)
      : layout(weight_layout),
        y_dtype(y_type),
        x(random_tensor(x_dtype, {rows, in}, rng)),
        weight(random_tensor(
            weight_dtype, layout == WeightLayout::kOutIn ? Shape{out, in} : Shape{in, out}, rng)),
        bias(random_tensor(weight_dtype, {out}, rng)),
        has_bias(with_bias) {}

  std::string text() const {
    return x.shape().text() + " " + std::string(core::dtype_name(x.dtype())) + " times " +
           weight.shape().text() + (layout == WeightLayout::kOutIn ? " out-in" : " in-out") +
           (has_bias ? " with bias" : "");
  }

  HostTensor reference() const {
    return nn::linear_reference(x, weight, has_bias ? &bias : nullptr, layout);
  }

  // The formula in float, one product after the other, rounded to the result's type.
  HostTensor plain_float() const {
    const std::vector<float> a = x.to_floats();
    const std::vector<float> b = weight.to_floats();
    const std::vector<float> offset = bias.to_floats();
    const int64_t rows = x.shape()[0];
    const int64_t in = x.shape()[1];
    const int64_t out = bias.shape()[0];
    std::vector<float> y;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < out; ++c) {
        float sum = 0;
        for (int64_t k = 0; k < in; ++k) {
          sum += a[static_cast<size_t>(r * in + k)] *
                 b[static_cast<size_t>(layout == WeightLayout::kOutIn ? c * in + k : k * out + c)];
        }
        y.push_back(has_bias ? sum + offset[static_cast<size_t>(c)] : sum);
      }
    }
    return HostTensor::from_floats({rows, out}, y).to(y_dtype);
  }

  WeightLayout layout;
  DType y_dtype;
  HostTensor x, weight, bias;
  bool has_bias;
};

// Largest |got - want|; infinite for different shapes and for NaN.
double largest_error(const HostTensor& got, const HostTensor& want) {
  if (got.shape() != want.shape()) {
    return std::numeric_limits<double>::infinity();
  }
  const std::vector<double> a = got.to_doubles();
  const std::vector<double> b = want.to_doubles();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double error = std::fabs(a[i] - b[i]);
    if (!(error <= largest)) {
      largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return largest;
}

// At most twice the error of the plain float computation; the floor is one rounding of a sum of
// products of the sample's size.
void judge(const Sample& sample, const HostTensor& y) {
  const HostTensor want = sample.reference();
  double size = 0;
  for (const double value : want.to_doubles()) {
    size = std::max(size, std::fabs(value));
  }
  CAPTURE(sample.text());
  CHECK(y.dtype() == sample.y_dtype);
  CHECK(largest_error(y, want) <= 2 * largest_error(sample.plain_float(), want) + size * 0x1p-23);
}

HostTensor run(const core::Queue& queue, const Sample& sample) {
  std::optional<Tensor> bias;
  if (sample.has_bias) {
    bias = Tensor::from_host(queue, sample.bias);
  }
  return nn::linear(Tensor::from_host(queue, sample.x), Tensor::from_host(queue, sample.weight),
                    bias, {sample.layout, sample.y_dtype})
      .to_host();
}

// The host engine's queue, and the device's where there is one.
std::vector<core::Queue> queues() {
  std::vector<core::Queue> result{core::DeviceManager::open("host").queue};
  if (const auto device = tests::require_device_queue()) {
    result.push_back(*device);
  }
  return result;
}

// x, weight, y. Every type at every place; each mix is a program that the device compiles.
constexpr std::array<DType, 3> kMixes[] = {{DType::kF16, DType::kF16, DType::kF16},
                                           {DType::kBF16, DType::kBF16, DType::kBF16},
                                           {DType::kF32, DType::kF16, DType::kF32},
                                           {DType::kF16, DType::kF32, DType::kBF16},
                                           {DType::kBF16, DType::kF32, DType::kF16}};

// A device that allows groups of `group` items.
core::DeviceInfo limited_device(core::DeviceKind kind, size_t group, uint64_t local_bytes) {
  core::DeviceInfo info;
  info.kind = kind;
  info.compute_units = 4;
  info.max_work_group_size = group;
  info.max_work_item_sizes = {group, group, group};
  info.local_mem_bytes = local_bytes;
  return info;
}

}  // namespace

TEST_CASE("linear: sizes around the tiles agree with double") {
  base::Rng rng(1);
  for (const core::Queue& queue : queues()) {
    for (const int64_t rows : {1, 17, 63, 64, 65, 97}) {
      for (const int64_t in : {1, 15, 64, 65, 257}) {
        for (const int64_t out : {1, 61, 64, 65, 263}) {
          const WeightLayout layout =
              rng.below(2) == 0 ? WeightLayout::kOutIn : WeightLayout::kInOut;
          const Sample sample(rows, in, out, layout, layout == WeightLayout::kOutIn, DType::kF32,
                              DType::kF32, DType::kF32, rng);
          judge(sample, run(queue, sample));
        }
      }
    }
  }
}

TEST_CASE("linear: mixed storage types agree with double") {
  base::Rng rng(2);
  for (const core::Queue& queue : queues()) {
    for (const auto& [x, weight, y] : kMixes) {
      const Sample sample(13, 37, 29, WeightLayout::kOutIn, true, x, weight, y, rng);
      judge(sample, run(queue, sample));
    }
  }
}

TEST_CASE("linear: every tile plan that can be chosen agrees with double") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  base::Rng rng(3);
  std::vector<nn::GemmPlan> plans;
  for (const core::DeviceKind kind : {core::DeviceKind::kCpu, core::DeviceKind::kGpu}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {1000, 10000}}) {
      for (const nn::GemmPlan& plan : nn::gemm_plans(limited_device(kind, 4096, 1 << 20), m, n)) {
        bool is_new = true;
        for (const nn::GemmPlan& known : plans) {
          is_new = is_new && (known.macros != plan.macros || known.kernel != plan.kernel);
        }
        if (is_new) {
          plans.push_back(plan);
        }
      }
    }
  }
  CHECK(plans.size() == 6);
  for (const nn::GemmPlan& plan : plans) {
    CAPTURE(plan.text());
    if (plan.group_x * plan.group_y > queue->device().max_work_group_size ||
        plan.local_bytes > queue->device().local_mem_bytes) {
      continue;
    }
    for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
      const int64_t rows = plan.tile_m + 1;
      const int64_t out = plan.tile_n + 3;
      for (const int64_t in : {int64_t{1}, int64_t{67}, int64_t{300}}) {
        const Sample sample(rows, in, out, layout, layout == WeightLayout::kInOut, DType::kF32,
                            DType::kF32, DType::kF32, rng);
        const Tensor y = Tensor::empty(*queue, DType::kF32, {rows, out});
        nn::GemmCall call{y,
                          Tensor::from_host(*queue, sample.x),
                          Tensor::from_host(*queue, sample.weight),
                          std::nullopt,
                          layout == WeightLayout::kOutIn,
                          rows,
                          out,
                          in};
        if (sample.has_bias) {
          call.bias = Tensor::from_host(*queue, sample.bias);
        }
        if (nn::run_gemm(call, plan)) {
          judge(sample, y.to_host());
        }
      }
    }
  }
}

TEST_CASE("gemm plans: they obey the limits of a device and end with one that fits any") {
  for (const core::DeviceKind kind : {core::DeviceKind::kCpu, core::DeviceKind::kGpu}) {
    for (const size_t group : {1, 16, 64, 128, 256, 1024}) {
      // 32 KiB is the least that OpenCL 1.2 lets a device have, 16 KiB that of OpenCL 1.0.
      for (const uint64_t local : {16u << 10, 32u << 10, 64u << 10, 1u << 20}) {
        const core::DeviceInfo device = limited_device(kind, group, local);
        for (const int64_t m : {1, 16, 17, 4096}) {
          const std::vector<nn::GemmPlan> plans = nn::gemm_plans(device, m, 4096);
          REQUIRE_FALSE(plans.empty());
          for (const nn::GemmPlan& plan : plans) {
            CHECK(plan.group_x * plan.group_y <= group);
            CHECK(plan.local_bytes <= local);
          }
          if (kind == core::DeviceKind::kGpu && group >= 64) {
            CHECK(plans.front().kernel == "gemm");
          }
          if (kind == core::DeviceKind::kCpu) {
            CHECK(plans.front().kernel == "gemm_panel");
          }
        }
      }
    }
  }
  CHECK(nn::gemm_plans(limited_device(core::DeviceKind::kGpu, 256, 1024), 64, 64).empty());
}

TEST_CASE("linear: leading axes are kept and empty ones give empty results") {
  base::Rng rng(4);
  for (const core::Queue& queue : queues()) {
    const Tensor weight = Tensor::from_host(queue, random_tensor(DType::kF32, {5, 3}, rng));
    const Tensor bias = Tensor::from_host(queue, random_tensor(DType::kF32, {5}, rng));
    const HostTensor x = random_tensor(DType::kF32, {2, 4, 3}, rng);
    const Tensor y = nn::linear(Tensor::from_host(queue, x), weight, bias);
    CHECK(y.shape() == Shape{2, 4, 5});
    const Tensor flat = nn::linear(Tensor::from_host(queue, x.reshaped({8, 3})), weight, bias);
    CHECK(flat.shape() == Shape{8, 5});
    CHECK(flat.to_host().to_floats() == y.to_host().to_floats());
    CHECK(nn::linear(Tensor::zeros(queue, DType::kF32, {3}), weight, bias).to_host().to_floats() ==
          bias.to_host().to_floats());
    CHECK(nn::linear(Tensor::zeros(queue, DType::kF32, {0, 3}), weight, bias).shape() ==
          Shape{0, 5});
    // No inputs: the bias alone.
    const Tensor narrow = Tensor::zeros(queue, DType::kF32, {5, 0});
    CHECK(
        nn::linear(Tensor::zeros(queue, DType::kF32, {1, 0}), narrow, bias).to_host().to_floats() ==
        bias.to_host().to_floats());
    CHECK(nn::linear(Tensor::zeros(queue, DType::kF32, {2, 0}), narrow).to_host().to_floats() ==
          std::vector<float>(10, 0.0f));
  }
}

TEST_CASE("matmul: small matrices are exact") {
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::vector<float> b{1, 0, 0, 1, 2, -1};
  for (const core::Queue& queue : queues()) {
    const Tensor y = nn::matmul(Tensor::from_host(queue, HostTensor::from_floats({2, 3}, a)),
                                Tensor::from_host(queue, HostTensor::from_floats({3, 2}, b)));
    CHECK(y.to_host().to_floats() == std::vector<float>{7, -1, 16, -1});
  }
}

TEST_CASE("linear: NaN and infinity stay in their rows and columns") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const core::Queue& queue : queues()) {
    std::vector<float> x(70 * 3, 1.0f);
    x[3 * 69 + 1] = nan;
    std::vector<float> weight(67 * 3, 1.0f);
    weight[3 * 66] = std::numeric_limits<float>::infinity();
    const std::vector<float> y =
        nn::linear(Tensor::from_host(queue, HostTensor::from_floats({70, 3}, x)),
                   Tensor::from_host(queue, HostTensor::from_floats({67, 3}, weight)))
            .to_host()
            .to_floats();
    for (size_t r = 0; r < 70; ++r) {
      for (size_t c = 0; c < 67; ++c) {
        const float value = y[r * 67 + c];
        if (r == 69) {
          CHECK(std::isnan(value));
        } else if (c == 66) {
          CHECK(std::isinf(value));
        } else {
          CHECK(value == 3.0f);
        }
      }
    }
  }
}

TEST_CASE("linear: the host gives the same bits for any number of threads") {
  base::Rng rng(5);
  const Sample sample(150, 200, 170, WeightLayout::kOutIn, true, DType::kF32, DType::kF32,
                      DType::kF32, rng);
  std::vector<float> first;
  for (const size_t threads : {1, 2, 3, 7}) {
    core::QueueOptions options;
    options.host_threads = threads;
    const std::vector<float> y =
        run(core::DeviceManager::open("host", options).queue, sample).to_floats();
    if (first.empty()) {
      first = y;
    }
    CHECK(y == first);
  }
}

TEST_CASE("linear: the device gives the same bits every time") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  base::Rng rng(6);
  const Sample sample(150, 300, 170, WeightLayout::kOutIn, true, DType::kF32, DType::kF32,
                      DType::kF32, rng);
  const std::vector<float> first = run(*queue, sample).to_floats();
  for (int i = 0; i < 5; ++i) {
    CHECK(run(*queue, sample).to_floats() == first);
  }
}

TEST_CASE("linear: shapes and types that disagree are named") {
  for (const core::Queue& queue : queues()) {
    const auto zeros = [&](const Shape& shape, DType dtype = DType::kF32) {
      return Tensor::zeros(queue, dtype, shape);
    };
    CHECK_THROWS_WITH(nn::linear(zeros({2, 3}), zeros({4, 5})),
                      Contains("[2, 3]") && Contains("[4, 5]"));
    CHECK_THROWS_AS(nn::linear(zeros({2, 3}), zeros({4, 5})), base::FormatError);
    CHECK_THROWS_AS(nn::linear(zeros({}), zeros({4, 5})), base::FormatError);
    CHECK_THROWS_AS(nn::linear(zeros({3}), zeros({3})), base::FormatError);
    CHECK_THROWS_WITH(nn::linear(zeros({2, 3}), zeros({4, 3}), zeros({3})),
                      Contains("bias [3]") && Contains("4 outputs"));
    CHECK_THROWS_AS(nn::linear(zeros({2, 3}), zeros({4, 3}), zeros({1, 4})), base::FormatError);
    CHECK_THROWS_WITH(nn::linear(zeros({2, 3}, DType::kI32), zeros({4, 3})), Contains("i32"));
    CHECK_THROWS_WITH(nn::linear(zeros({2, 3}), zeros({4, 3}, DType::kF64)), Contains("f64"));
    CHECK_THROWS_AS(nn::matmul(zeros({2, 3, 1}), zeros({1, 3})), base::FormatError);
    CHECK_THROWS_AS(nn::matmul(zeros({2, 3}), zeros({2, 3})), base::FormatError);
  }
}
