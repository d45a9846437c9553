// SPDX-License-Identifier: Apache-2.0
// RotaryAttention with scaled RoPE, a window, a soft cap and a scale.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "core/safetensors_file.h"
#include "nn/rotary_attention.h"
#include "nn/rotary_attention_file.h"
#include "support/catch.h"
#include "support/device.h"
#include "support/temp_dir.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using core::HostTensor;
using core::Shape;
using core::Tensor;
using nn::RotaryAttention;
using nn::RotaryAttentionConfig;

constexpr int64_t kDim = 24, kHeads = 2, kKvHeads = 1, kMaxSeqLen = 48, kHeadDim = 12, kRopeDim = 8;
constexpr int64_t kTrained = 16;  // positions

std::vector<core::Queue> queues() {
  std::vector<core::Queue> result{core::DeviceManager::open("host").queue};
  if (const auto device = tests::require_device_queue()) {
    result.push_back(*device);
  }
  return result;
}

HostTensor random_x(int64_t batch, int64_t length) {
  base::Rng rng(7);
  HostTensor x(core::DType::kF32, {batch, length, kDim});
  for (float& value : x.as<float>()) {
    value = static_cast<float>(rng.normal());
  }
  return x;
}

std::vector<nn::RopeScaling> all_scalings() {
  nn::RopeYarn yarn;
  yarn.factor = 4;
  yarn.original_positions = kTrained;
  nn::RopeLongrope longrope;
  longrope.short_factor = {1, 1.5, 2, 3};
  longrope.long_factor = {2, 4, 8, 16};
  longrope.factor = 3;
  longrope.original_positions = kTrained;
  return {nn::RopeUnscaled{},
          nn::RopeLinear{3},
          nn::RopeDynamic{2, kTrained},
          yarn,
          nn::RopeLlama3{8, 1, 4, kTrained},
          longrope};
}

RotaryAttentionConfig config_with(const nn::RopeScaling& scaling) {
  RotaryAttentionConfig config;
  config.rope_scaling = scaling;
  config.rope_dim = kRopeDim;
  config.rope_theta = 100;
  config.seed = 3;
  return config;
}

RotaryAttention module_with(const core::Queue& queue, const RotaryAttentionConfig& config) {
  return {queue, kDim, kHeads, kKvHeads, kMaxSeqLen, config};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

// Rows [B, S, heads, D] turned by the formula as it is printed, interleaved.
void rotate(std::vector<double>& rows, int64_t heads, const std::vector<int64_t>& positions,
            const nn::RopeFrequencies& frequencies) {
  for (size_t row = 0; row < rows.size() / kHeadDim; ++row) {
    const size_t place = row / static_cast<size_t>(heads);
    const double m = static_cast<double>(positions[place % positions.size()]);
    for (size_t c = 0; c < kRopeDim / 2; ++c) {
      double& a = rows[row * kHeadDim + 2 * c];
      double& b = rows[row * kHeadDim + 2 * c + 1];
      const double f = frequencies.attention_factor;
      const double cos = f * std::cos(m * frequencies.radians[c]);
      const double sin = f * std::sin(m * frequencies.radians[c]);
      const double turned = a * cos - b * sin;
      b = a * sin + b * cos;
      a = turned;
    }
  }
}

}  // namespace

TEST_CASE("rotary scaling: q and k turn by the frequencies for the longest position of the call") {
  constexpr int64_t kLength = 3;
  const HostTensor x = random_x(2, kLength);
  struct Call {
    std::vector<int64_t> positions;
    int64_t sequence_length;
  };
  const std::vector<Call> calls = {{{0, 1, 2}, 3},
                                   {{15, 4, 9}, 16},
                                   {{16, 4, 9}, 17},
                                   {{0, 1, 2, 47, 3, 3}, 48},  // one batch item decides for both
                                   {{5, 1, 0}, 6}};            // short again
  for (const core::Queue& queue : queues()) {
    const RotaryAttention plain = module_with(queue, config_with(nn::RopeUnscaled{}));
    const nn::RotaryProjections raw = plain.project(Tensor::from_host(queue, x), {0, 0, 0});
    for (const nn::RopeScaling& scaling : all_scalings()) {
      CAPTURE(std::string(nn::rope_scaling_name(scaling)));
      const RotaryAttention module = module_with(queue, config_with(scaling));
      for (const Call& call : calls) {
        CAPTURE(call.sequence_length);
        const nn::RopeFrequencies frequencies =
            nn::rope_frequencies(scaling, 100, kRopeDim, call.sequence_length);
        const nn::RotaryProjections got =
            module.project(Tensor::from_host(queue, x), call.positions);
        std::vector<double> q = raw.q.to_host().to_doubles();
        std::vector<double> k = raw.k.to_host().to_doubles();
        rotate(q, kHeads, call.positions, frequencies);
        rotate(k, kKvHeads, call.positions, frequencies);
        CHECK(largest_difference(got.q.to_host().to_doubles(), q) < 4e-6);
        CHECK(largest_difference(got.k.to_host().to_doubles(), k) < 4e-6);
        CHECK(got.v.to_host().to_floats() == raw.v.to_host().to_floats());
      }
    }
  }
}

TEST_CASE(
    "rotary scaling: results are those of the reference in double, before and past training") {
  for (const core::Queue& queue : queues()) {
    for (const nn::RopeScaling& scaling : all_scalings()) {
      CAPTURE(std::string(nn::rope_scaling_name(scaling)));
      RotaryAttentionConfig config = config_with(scaling);
      config.window = 5;
      config.softcap = 2;
      config.scale = 0.7;
      const RotaryAttention module = module_with(queue, config);
      for (const int64_t length : {kTrained, kTrained + 1, kMaxSeqLen}) {
        const HostTensor x = random_x(1, length);
        const std::vector<double> y =
            module.forward(Tensor::from_host(queue, x)).to_host().to_doubles();
        CHECK(largest_difference(y, module.reference_forward(x).to_doubles()) < 1e-5);
      }
      CHECK_THROWS_AS(module.forward(Tensor::from_host(queue, random_x(1, kMaxSeqLen + 1))),
                      base::FormatError);
      CHECK_THROWS_AS(module.project(Tensor::from_host(queue, random_x(1, 2)), {0, kMaxSeqLen}),
                      base::FormatError);
      CHECK_THROWS_AS(module.project(Tensor::from_host(queue, random_x(1, 2)), {0, INT64_MAX}),
                      base::FormatError);
      CHECK_THROWS_AS(module.project(Tensor::from_host(queue, random_x(1, 2)), {0, -1}),
                      base::FormatError);
    }
  }
}

TEST_CASE("rotary scaling: window, soft cap and scale are those of a plain call") {
  const core::Queue queue = core::DeviceManager::open("host").queue;
  RotaryAttentionConfig config = config_with(nn::RopeLinear{3});
  const RotaryAttention plain = module_with(queue, config);
  config.window = 2;
  config.softcap = 1.5;
  config.scale = 0.25;
  const RotaryAttention module = module_with(queue, config);
  const Tensor x = Tensor::from_host(queue, random_x(1, 9));
  nn::AttentionOptions options;
  options.causal = true;
  options.window_left = 1;  // two keys, the own one included
  options.softcap = 1.5;
  options.scale = 0.25;
  const std::vector<float> y = module.forward(x).to_host().to_floats();
  CHECK(y == plain.run(x, options).y.to_host().to_floats());
  CHECK(y != plain.forward(x).to_host().to_floats());
  config.window = -1;
  CHECK_THROWS_AS(module_with(queue, config), base::UsageError);
}

TEST_CASE("rotary scaling: a saved module keeps its scaling, window, soft cap and scale") {
  const tests::TempDir dir;
  const core::Queue queue = core::DeviceManager::open("host").queue;
  for (const nn::RopeScaling& scaling : all_scalings()) {
    CAPTURE(std::string(nn::rope_scaling_name(scaling)));
    RotaryAttentionConfig config = config_with(scaling);
    config.window = 4;
    config.softcap = 0.1;
    config.scale = 1.0 / 3;
    const RotaryAttention module = module_with(queue, config);
    nn::save_rotary_attention(dir.file("m.safetensors"), module);
    const RotaryAttention loaded = nn::load_rotary_attention(queue, dir.file("m.safetensors"));
    CHECK(loaded.config().rope_scaling == scaling);
    CHECK(loaded.config().window == 4);
    CHECK(loaded.config().softcap == 0.1);
    CHECK(loaded.config().scale == 1.0 / 3);
    const Tensor x = Tensor::from_host(queue, random_x(1, kMaxSeqLen));
    CHECK(loaded.forward(x).to_host().to_floats() == module.forward(x).to_host().to_floats());
  }
}

TEST_CASE("rotary scaling: lists of another length and an odd rotary size are refused") {
  const core::Queue queue = core::DeviceManager::open("host").queue;
  RotaryAttentionConfig config = config_with(all_scalings().back());
  config.rope_dim = 6;
  CHECK_THROWS_WITH(module_with(queue, config),
                    Contains("rope: longrope: length of short_factor is 4"));
  config = config_with(nn::RopeLinear{2});
  config.rope_dim = 7;
  CHECK_THROWS_WITH(module_with(queue, config), Contains("rope_dim is 7"));
}
