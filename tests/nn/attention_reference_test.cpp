// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_reference.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/attention_cases.h"
#include "support/catch.h"

namespace netcl::tests {

namespace {

using core::DType;
using core::HostTensor;

HostTensor doubles(const core::Shape& shape, const std::vector<double>& values) {
  return HostTensor::from_doubles(shape, values);
}

}  // namespace

TEST_CASE("attention reference: one query with every step worked out by hand") {
  HostInputs inputs;
  inputs.q = doubles({1, 2}, {1, 2});
  inputs.k = doubles({3, 2}, {1, 0, 0, 1, 1, 1});
  inputs.v = doubles({3, 1}, {1, 10, 100});
  inputs.mask =
      doubles({1, 3}, {0.5, -0.25, -std::numeric_limits<double>::infinity()}).to(DType::kF32);
  nn::AttentionOptions options;
  options.scale = 0.5;
  options.softcap = 2;
  // Raw scores 0.5, 1, 1.5; then 2 tanh(s / 2); then the mask.
  const double s0 = 2 * std::tanh(0.25) + 0.5;
  const double s1 = 2 * std::tanh(0.5) - 0.25;
  const double sum = std::exp(s0) + std::exp(s1);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<nn::ScoreStage, std::vector<double>>> stages = {
      {nn::ScoreStage::kRaw, {0.5, 1, 1.5}},
      {nn::ScoreStage::kSoftcap, {2 * std::tanh(0.25), 2 * std::tanh(0.5), 2 * std::tanh(0.75)}},
      {nn::ScoreStage::kMasked, {s0, s1, -infinity}},
      {nn::ScoreStage::kWeights, {std::exp(s0) / sum, std::exp(s1) / sum, 0}}};
  for (const auto& [stage, want] : stages) {
    options.scores = stage;
    const nn::ReferenceOutputs got = run_reference(inputs, options);
    CHECK(difference(got.scores, doubles({1, 1, 1, 3}, want)).error < 1e-15);
    CHECK(difference(got.lse, doubles({1, 1, 1}, {std::log(sum)})).error < 1e-15);
    const double y = (std::exp(s0) * 1 + std::exp(s1) * 10) / sum;
    CHECK(difference(got.y, doubles({1, 1}, {y})).error < 1e-14);
  }
}

TEST_CASE("attention reference: f64 is for the reference alone") {
  HostInputs inputs;
  inputs.q = inputs.k = inputs.v = doubles({1, 2}, {1, 2});
  CHECK_NOTHROW(run_reference(inputs, {}));
  const core::Queue queue = core::DeviceManager::open("host").queue;
  CHECK_THROWS_AS(run_attention(queue, inputs, {}), base::FormatError);
  inputs.q = inputs.q.to(DType::kI32);
  CHECK_THROWS_AS(run_reference(inputs, {}), base::FormatError);
}

TEST_CASE("attention judge: a wrong element and a NaN are found") {
  AttentionCase c;
  c.q_len = c.kv_len = 9;
  c.head_dim = c.v_head_dim = 8;
  c.options.want_lse = true;
  c.options.scores = nn::ScoreStage::kMasked;
  c.options.causal = true;
  const HostInputs inputs = make_inputs(c);
  const nn::ReferenceOutputs want = run_reference(inputs, c.options);
  const HostOutputs plain = plain_float_attention(inputs, c.options);
  CHECK(judge(plain, want, plain) == "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double change : {1e-4, nan}) {
    HostOutputs wrong = plain;
    wrong.y.as<float>()[70] += static_cast<float>(change);
    CHECK(judge(wrong, want, plain).rfind("y: ", 0) == 0);
    wrong = plain;
    wrong.lse->as<float>()[3] += static_cast<float>(change);
    CHECK(judge(wrong, want, plain).rfind("lse: ", 0) == 0);
    wrong = plain;
    wrong.scores->as<float>()[0] += static_cast<float>(change);
    CHECK(judge(wrong, want, plain).rfind("scores: ", 0) == 0);
  }
  HostOutputs wrong = plain;
  wrong.scores->as<float>()[1] = 0;  // -inf in the reference
  CHECK(judge(wrong, want, plain) != "");
}

}  // namespace netcl::tests
