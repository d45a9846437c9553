// SPDX-License-Identifier: Apache-2.0
#include "nn/rotary_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "nn/rms_norm.h"
#include "support/attention_cases.h"
#include "support/catch.h"
#include "support/device.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using core::DType;
using core::HostTensor;
using core::Shape;
using core::Tensor;
using nn::RopePairing;
using nn::RotaryAttention;
using nn::RotaryAttentionConfig;
using nn::RotaryAttentionSizes;
using nn::RotaryAttentionWeights;

std::vector<core::Queue> queues() {
  std::vector<core::Queue> result{core::DeviceManager::open("host").queue};
  if (const auto device = tests::require_device_queue()) {
    result.push_back(*device);
  }
  return result;
}

HostTensor normal_tensor(const Shape& shape, uint64_t seed, DType dtype = DType::kF32) {
  base::Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (float& value : values) {
    value = static_cast<float>(rng.normal());
  }
  return HostTensor::from_floats(shape, values).to(dtype);
}

// Weights of a module with biases and gammas that are not trivial.
RotaryAttentionWeights lively_weights(const RotaryAttentionSizes& sizes,
                                      const RotaryAttentionConfig& config) {
  RotaryAttentionWeights weights = nn::make_rotary_attention_weights(sizes, config);
  uint64_t seed = 100;
  for (nn::Projection* projection : {&weights.q, &weights.k, &weights.v, &weights.o}) {
    if (projection->bias) {
      projection->bias = normal_tensor(projection->bias->shape(), ++seed);
    }
  }
  if (weights.q_norm) {
    weights.q_norm = normal_tensor(weights.q_norm->shape(), ++seed);
    weights.k_norm = normal_tensor(weights.k_norm->shape(), ++seed);
  }
  return weights;
}

// The module's formula in float, one operation after the other.
class PlainFloat {
 public:
  PlainFloat(const RotaryAttention& module, const HostTensor& x) : module_(module) {
    const Shape& shape = x.shape();
    batch_ = shape.rank() == 3 ? shape[0] : 1;
    length_ = shape[shape.rank() - 2];
    const RotaryAttentionSizes& sizes = module.sizes();
    tests::HostInputs inputs;
    const std::vector<float> rows = x.to_floats();
    inputs.q = heads(rows, "q_proj", "q_norm", sizes.n_heads, true);
    inputs.k = heads(rows, "k_proj", "k_norm", sizes.n_kv_heads, true);
    inputs.v = heads(rows, "v_proj", "", sizes.n_kv_heads, false);
    nn::AttentionOptions options = module.attention_options();
    options.layout = nn::Layout::kBshd;
    const std::vector<float> attended = tests::plain_float_attention(inputs, options).y.to_floats();
    y_ = HostTensor::from_floats(shape, project(attended, "o_proj")).to(x.dtype());
  }
  const HostTensor& y() const { return y_; }

 private:
  std::vector<float> values(const std::string& name) const {
    const auto tensor = module_.find_parameter(name);
    return tensor ? tensor->to_host().to_floats() : std::vector<float>();
  }

  std::vector<float> project(const std::vector<float>& rows, const std::string& name) const {
    const std::vector<float> weight = values(name + ".weight");
    const std::vector<float> bias = values(name + ".bias");
    const size_t count = static_cast<size_t>(batch_ * length_);
    const size_t in = rows.size() / count;
    const size_t out = weight.size() / in;
    std::vector<float> result;
    for (size_t r = 0; r < count; ++r) {
      for (size_t c = 0; c < out; ++c) {
        float sum = 0;
        for (size_t k = 0; k < in; ++k) {
          sum += rows[r * in + k] * weight[c * in + k];
        }
        result.push_back(bias.empty() ? sum : sum + bias[c]);
      }
    }
    return result;
  }

  void norm(float* head, const std::vector<float>& gamma) const {
    float sum = 0;
    for (size_t i = 0; i < gamma.size(); ++i) {
      sum += head[i] * head[i];
    }
    const float root = std::sqrt(sum / static_cast<float>(gamma.size()) +
                                 static_cast<float>(module_.config().norm_eps));
    for (size_t i = 0; i < gamma.size(); ++i) {
      head[i] = head[i] / root * gamma[i];
    }
  }

  void rotate(float* head, int64_t position) const {
    const RotaryAttentionConfig& config = module_.config();
    const int64_t pairs = config.rope_dim / 2;
    for (int64_t c = 0; c < pairs; ++c) {
      const double angle = static_cast<double>(position) *
                           std::pow(config.rope_theta, -2.0 * static_cast<double>(c) /
                                                           static_cast<double>(config.rope_dim));
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      const bool half = config.pairing == RopePairing::kHalf;
      float& first = head[half ? c : 2 * c];
      float& second = head[half ? c + pairs : 2 * c + 1];
      const float a = first;
      const float b = second;
      first = a * cosine - b * sine;
      second = a * sine + b * cosine;
    }
  }

  HostTensor heads(const std::vector<float>& rows, const std::string& name,
                   const std::string& norm_name, int64_t count, bool rotated) const {
    std::vector<float> result = project(rows, name);
    const std::vector<float> gamma = values(norm_name + ".weight");
    const int64_t dim = module_.config().head_dim;
    for (int64_t row = 0; row < batch_ * length_ * count; ++row) {
      float* head = result.data() + row * dim;
      if (!gamma.empty()) {
        norm(head, gamma);
      }
      if (rotated) {
        rotate(head, row / count % length_);
      }
    }
    return HostTensor::from_floats({batch_, length_, count, dim}, result);
  }

  const RotaryAttention& module_;
  int64_t batch_ = 0, length_ = 0;
  HostTensor y_;
};

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

double largest_value(const HostTensor& tensor) {
  double largest = 0;
  for (const double value : tensor.to_doubles()) {
    largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

void judge(const RotaryAttention& module, const HostTensor& x) {
  const HostTensor y = module(Tensor::from_host(module.queue(), x)).to_host();
  const HostTensor want = module.reference_forward(x);
  CHECK(y.shape() == x.shape());
  CHECK(y.dtype() == x.dtype());
  CHECK(want.dtype() == DType::kF64);
  const double plain = largest_error(PlainFloat(module, x).y(), want);
  CHECK(std::isfinite(plain));
  CHECK(largest_error(y, want) <= 2 * plain + largest_value(want) * 0x1p-22);
}

struct ModuleCase {
  RotaryAttentionSizes sizes;
  RotaryAttentionConfig config;
  Shape x;
  DType dtype = DType::kF32;
};

std::vector<ModuleCase> module_cases() {
  std::vector<ModuleCase> cases;
  const auto add = [&](RotaryAttentionSizes sizes, const Shape& x) -> ModuleCase& {
    cases.push_back({sizes, {}, x, DType::kF32});
    cases.back().config.seed = cases.size();
    return cases.back();
  };
  add({64, 4, 4, 32}, {2, 17, 64});
  add({64, 4, 2, 32}, {2, 17, 64}).config.pairing = RopePairing::kHalf;
  add({48, 6, 1, 40}, {33, 48}).config.qk_norm = true;
  ModuleCase& wide = add({40, 2, 2, 9}, {3, 9, 40});  // head_dim other than dim / n_heads
  wide.config.head_dim = 72;
  wide.config.bias = true;
  wide.config.rope_theta = 500;
  ModuleCase& partial = add({32, 2, 1, 8}, {1, 8, 32});
  partial.config.rope_dim = 6;
  partial.config.causal = false;
  partial.config.bias = true;
  partial.config.qk_norm = true;
  add({6, 3, 3, 5}, {1, 5, 6});
  add({2, 1, 1, 1}, {1, 1, 2});
  add({64, 4, 4, 32}, {1, 20, 64}).dtype = DType::kF16;
  add({64, 4, 2, 32}, {1, 20, 64}).dtype = DType::kBF16;
  return cases;
}

}  // namespace

TEST_CASE("rotary attention: every engine agrees with double") {
  for (const core::Queue& queue : queues()) {
    size_t index = 0;
    for (const ModuleCase& entry : module_cases()) {
      CAPTURE(queue.device().name, index++, entry.x.text());
      const RotaryAttention module(queue, entry.sizes, entry.config,
                                   lively_weights(entry.sizes, entry.config));
      judge(module, normal_tensor(entry.x, 7, entry.dtype));
    }
  }
}

TEST_CASE("rotary attention: a seed gives the same module on every device") {
  const RotaryAttentionConfig config = RotaryAttentionConfig::netcl();
  const RotaryAttentionWeights weights = nn::make_rotary_attention_weights({64, 4, 2, 8}, config);
  for (const core::Queue& queue : queues()) {
    const RotaryAttention module(queue, 64, 4, 2, 8, config);
    const auto equal = [&](const std::string& name, const HostTensor& want) {
      return module.find_parameter(name)->to_host().to_floats() == want.to_floats();
    };
    CHECK(module.parameters().size() == 6);
    CHECK(equal("q_proj.weight", weights.q.weight));
    CHECK(equal("k_proj.weight", weights.k.weight));
    CHECK(equal("v_proj.weight", weights.v.weight));
    CHECK(equal("o_proj.weight", weights.o.weight));
    CHECK(equal("q_norm.weight", *weights.q_norm));
    CHECK_FALSE(module.find_parameter("q_proj.bias"));
    CHECK(module.config().qk_norm);
    CHECK(module.config().head_dim == 16);
    CHECK(module.config().rope_dim == 16);
  }
  // Uniform within the limit of the fused matrix: 64 inputs, 64 + 2 * 32 outputs.
  const double limit = std::sqrt(6.0 / (64 + 128));
  double sum = 0;
  double squares = 0;
  for (const double value : weights.q.weight.to_doubles()) {
    CHECK(std::fabs(value) <= limit * (1 + 1e-7));
    sum += value;
    squares += value * value;
  }
  CHECK(std::fabs(sum / 4096) < 0.01);
  CHECK(std::fabs(squares / 4096 - limit * limit / 3) < 0.002);
  RotaryAttentionConfig other = config;
  other.seed = 1;
  CHECK(nn::make_rotary_attention_weights({64, 4, 2, 8}, other).q.weight.to_floats() !=
        weights.q.weight.to_floats());
}

TEST_CASE("rotary attention: interleaved weights reordered per head equal half pairing") {
  const RotaryAttentionSizes sizes{32, 2, 1, 8};
  RotaryAttentionConfig config;
  config.qk_norm = true;
  config.bias = true;
  const RotaryAttentionWeights interleaved = lively_weights(sizes, config);
  RotaryAttentionWeights half = interleaved;
  // Rows 0, 2, 4, ..., 1, 3, 5, ... of each head.
  const auto reorder = [](HostTensor& tensor) {
    const size_t row = tensor.byte_count() / static_cast<size_t>(tensor.shape()[0]);
    const HostTensor from = tensor;
    for (size_t r = 0; r < static_cast<size_t>(tensor.shape()[0]); ++r) {
      const size_t in_head = r % 16;
      const size_t source = r - in_head + (in_head < 8 ? 2 * in_head : 2 * (in_head - 8) + 1);
      std::memcpy(tensor.data() + r * row, from.data() + source * row, row);
    }
  };
  for (nn::Projection* projection : {&half.q, &half.k}) {
    reorder(projection->weight);
    reorder(*projection->bias);
  }
  reorder(*half.q_norm);
  reorder(*half.k_norm);
  const HostTensor x = normal_tensor({2, 8, 32}, 3);
  for (const core::Queue& queue : queues()) {
    const RotaryAttention first(queue, sizes, config, interleaved);
    RotaryAttentionConfig half_config = config;
    half_config.pairing = RopePairing::kHalf;
    const RotaryAttention second(queue, sizes, half_config, half);
    CHECK(largest_error(first.reference_forward(x), second.reference_forward(x)) < 1e-13);
    CHECK(largest_error(first(Tensor::from_host(queue, x)).to_host(),
                        second(Tensor::from_host(queue, x)).to_host()) < 1e-5);
    // The conventions matter: the same weights under the other pairing differ.
    const RotaryAttention wrong(queue, sizes, half_config, interleaved);
    CHECK(largest_error(first.reference_forward(x), wrong.reference_forward(x)) > 1e-2);
  }
}

TEST_CASE("rotary attention: grouped heads equal repeated key and value heads") {
  const RotaryAttentionWeights grouped = nn::make_rotary_attention_weights({32, 4, 2, 8}, {});
  RotaryAttentionWeights repeated = grouped;
  const auto repeat = [](const HostTensor& weight) {
    HostTensor result(DType::kF32, {32, 32});
    const size_t head = 8 * 32 * sizeof(float);
    for (size_t h = 0; h < 4; ++h) {
      std::memcpy(result.data() + h * head, weight.data() + h / 2 * head, head);
    }
    return result;
  };
  repeated.k.weight = repeat(grouped.k.weight);
  repeated.v.weight = repeat(grouped.v.weight);
  const HostTensor x = normal_tensor({1, 8, 32}, 4);
  for (const core::Queue& queue : queues()) {
    const RotaryAttention first(queue, {32, 4, 2, 8}, {}, grouped);
    const RotaryAttention second(queue, {32, 4, 4, 8}, {}, repeated);
    CHECK(largest_error(first(Tensor::from_host(queue, x)).to_host(),
                        second(Tensor::from_host(queue, x)).to_host()) < 1e-6);
  }
}

TEST_CASE("rotary attention: only distances between positions matter") {
  const HostTensor x = normal_tensor({2, 4, 32}, 5);
  for (const core::Queue& queue : queues()) {
    const RotaryAttention module(queue, 32, 2, 2, 5000);
    const Tensor device_x = Tensor::from_host(queue, x);
    const nn::AttentionOptions options = module.attention_options();
    const HostTensor near = module.run(device_x, options).y.to_host();
    CHECK(largest_error(module.run(device_x, options, {0, 1, 2, 3}).y.to_host(), near) == 0);
    CHECK(largest_error(module.run(device_x, options, {4000, 4001, 4002, 4003}).y.to_host(), near) <
          1e-4);
    CHECK(largest_error(module.run(device_x, options, {0, 2, 4, 6}).y.to_host(), near) > 1e-3);
    // Positions of each batch.
    const HostTensor mixed = module.run(device_x, options, {0, 1, 2, 3, 0, 2, 4, 6}).y.to_host();
    CHECK(largest_error(mixed, near) > 1e-3);
    CHECK(largest_error(mixed, module.reference(x, options, {0, 1, 2, 3, 0, 2, 4, 6}).y) < 1e-5);
    CHECK_THROWS_WITH(module.run(device_x, options, {0, 1, 2, 5000}), Contains("5000"));
  }
}

TEST_CASE("rotary attention: a causal module never reads later rows") {
  HostTensor x = normal_tensor({1, 6, 32}, 6);
  for (const core::Queue& queue : queues()) {
    const RotaryAttention module(queue, 32, 2, 2, 8);
    const std::vector<float> before = module(Tensor::from_host(queue, x)).to_host().to_floats();
    HostTensor changed = x;
    for (size_t i = 5 * 32; i < 6 * 32; ++i) {
      changed.as<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    }
    const std::vector<float> after =
        module(Tensor::from_host(queue, changed)).to_host().to_floats();
    for (size_t i = 0; i < 6 * 32; ++i) {
      if (i < 5 * 32) {
        CHECK(std::fabs(after[i] - before[i]) <= 1e-6f);
      } else {
        CHECK(std::isnan(after[i]));
      }
    }
  }
}

TEST_CASE("rotary attention: side outputs come with run") {
  const HostTensor x = normal_tensor({2, 5, 16}, 8);
  for (const core::Queue& queue : queues()) {
    const RotaryAttention module(queue, 16, 2, 1, 5);
    nn::AttentionOptions options = module.attention_options();
    options.want_lse = true;
    options.scores = nn::ScoreStage::kWeights;
    const nn::RotaryAttentionOutputs got = module.run(Tensor::from_host(queue, x), options);
    const nn::RotaryAttentionReference want = module.reference(x, options);
    REQUIRE(got.attention.scores);
    REQUIRE(got.attention.lse);
    CHECK(largest_error(got.attention.scores->to_host(), want.attention.scores) < 1e-5);
    CHECK(largest_error(got.attention.lse->to_host(), want.attention.lse) < 1e-5);
    CHECK(largest_error(got.y.to_host(), want.y) < 1e-5);
    const nn::RotaryProjections heads = module.project(Tensor::from_host(queue, x));
    CHECK(heads.q.shape() == Shape{2, 5, 2, 8});
    CHECK(heads.v.shape() == Shape{2, 5, 1, 8});
  }
}

TEST_CASE("rotary attention: empty batches and sequences give empty results") {
  for (const core::Queue& queue : queues()) {
    const RotaryAttention module(queue, 16, 2, 1, 5);
    for (const Shape& shape : {Shape{0, 5, 16}, Shape{2, 0, 16}, Shape{0, 16}}) {
      CHECK(module(Tensor::zeros(queue, DType::kF32, shape)).shape() == shape);
    }
  }
}

TEST_CASE("rotary attention: sizes that contradict each other are refused") {
  const core::Queue queue = core::DeviceManager::open("host").queue;
  const auto make = [&](int64_t dim, int64_t heads, int64_t kv_heads, int64_t length) {
    RotaryAttention(queue, dim, heads, kv_heads, length);
  };
  CHECK_THROWS_WITH(make(250, 4, 4, 8), Contains("dim 250") && Contains("n_heads 4"));
  CHECK_THROWS_AS(make(250, 4, 4, 8), base::UsageError);
  CHECK_THROWS_WITH(make(256, 4, 3, 8), Contains("n_heads 4") && Contains("n_kv_heads 3"));
  CHECK_THROWS_AS(make(256, 4, 8, 8), base::UsageError);
  for (const int64_t bad : {0, -4}) {
    CHECK_THROWS_AS(make(bad, 4, 4, 8), base::UsageError);
    CHECK_THROWS_AS(make(256, bad, 4, 8), base::UsageError);
    CHECK_THROWS_AS(make(256, 4, bad, 8), base::UsageError);
    CHECK_THROWS_AS(make(256, 4, 4, bad), base::UsageError);
  }
  CHECK_THROWS_AS(make(256, 4, 4, nn::kMaxPositions + 1), base::UsageError);
  CHECK_THROWS_AS(make(15, 5, 5, 8), base::Error);  // heads of 3 elements make no pairs
  RotaryAttentionConfig config;
  config.rope_dim = 100;
  CHECK_THROWS_AS(RotaryAttention(queue, 64, 4, 4, 8, config), base::Error);
}

TEST_CASE("rotary attention: inputs of another shape and too long ones are refused") {
  for (const core::Queue& queue : queues()) {
    const RotaryAttention module(queue, 16, 2, 1, 5);
    const auto zeros = [&](const Shape& shape, DType dtype = DType::kF32) {
      return Tensor::zeros(queue, dtype, shape);
    };
    CHECK_THROWS_AS(module(zeros({1, 6, 16})), base::FormatError);
    CHECK_THROWS_WITH(module(zeros({1, 6, 16})), Contains("6") && Contains("max_seq_len is 5"));
    CHECK_THROWS_AS(module(zeros({1, 5, 8})), base::FormatError);
    CHECK_THROWS_AS(module(zeros({16})), base::FormatError);
    CHECK_THROWS_AS(module(zeros({1, 1, 5, 16})), base::FormatError);
    CHECK_THROWS_AS(module(zeros({5, 16}, DType::kI32)), base::FormatError);
    CHECK_THROWS_AS(module.reference_forward(HostTensor(DType::kF32, {6, 16})), base::FormatError);
  }
}

TEST_CASE("rotary attention: weights of another shape or type are named") {
  const core::Queue queue = core::DeviceManager::open("host").queue;
  const RotaryAttentionSizes sizes{16, 2, 1, 5};
  const auto fails = [&](const auto& change) -> std::string {
    RotaryAttentionWeights weights = nn::make_rotary_attention_weights(sizes, {});
    change(weights);
    try {
      RotaryAttention(queue, sizes, {}, weights);
    } catch (const base::FormatError& error) {
      return error.what();
    }
    return {};
  };
  CHECK_THAT(fails([](auto& w) {
               w.k.weight = HostTensor(DType::kF32, {16, 16});
             }),
             Contains("k_proj.weight") && Contains("[16, 16]") && Contains("[8, 16]"));
  CHECK_THAT(fails([](auto& w) { w.v.bias = HostTensor(DType::kF32, {16}); }),
             Contains("v_proj.bias") && Contains("[16]"));
  CHECK_THAT(fails([](auto& w) {
               w.o.weight = HostTensor(DType::kI32, {16, 16});
             }),
             Contains("o_proj.weight") && Contains("i32"));
  CHECK_THAT(fails([](auto& w) { w.q_norm = HostTensor(DType::kF32, {8}); }),
             Contains("k_norm.weight"));
  CHECK(fails([](auto&) {}).empty());
}

TEST_CASE("rms norm: rows have unit mean square and gamma scales columns") {
  const HostTensor x = normal_tensor({3, 5, 24}, 9);
  const HostTensor gamma = normal_tensor({24}, 10);
  for (const core::Queue& queue : queues()) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      const HostTensor stored = x.to(dtype);
      const HostTensor y =
          nn::rms_norm(Tensor::from_host(queue, stored), Tensor::from_host(queue, gamma), 1e-6)
              .to_host();
      CHECK(y.dtype() == dtype);
      const HostTensor want = nn::rms_norm_reference(stored, gamma, 1e-6);
      const double rounding = dtype == DType::kF32 ? 0x1p-21 : largest_error(want.to(dtype), want);
      CHECK(largest_error(y, want) <= 2 * rounding + 1e-6);
    }
    const HostTensor ones = HostTensor::from_floats({24}, std::vector<float>(24, 1.0f));
    const std::vector<double> y =
        nn::rms_norm(Tensor::from_host(queue, x), Tensor::from_host(queue, ones), 0)
            .to_host()
            .to_doubles();
    double squares = 0;
    for (size_t i = 0; i < 24; ++i) {
      squares += y[i] * y[i];
    }
    CHECK(squares == Approx(24).epsilon(1e-5));
    const Tensor device_x = Tensor::from_host(queue, x);
    CHECK_THROWS_AS(nn::rms_norm(device_x, Tensor::zeros(queue, DType::kF32, {5}), 1e-6),
                    base::FormatError);
    CHECK_THROWS_AS(nn::rms_norm(device_x, Tensor::from_host(queue, gamma), -1), base::UsageError);
  }
}
