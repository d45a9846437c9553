// SPDX-License-Identifier: Apache-2.0
// The worked example of the chapter "Tokens & Attention": three tokens, head dimension 2, causal.
#include <cmath>

#include "nn/engines.h"
#include "support/catch.h"

namespace netcl::tests {

namespace {

HostInputs chapter_inputs() {
  HostInputs inputs;
  inputs.q = core::HostTensor::from_floats({3, 2}, std::vector<float>{1, 0, 0, 2, 1, 1});
  inputs.k = core::HostTensor::from_floats({3, 2}, std::vector<float>{1, 0, 1, 1, 0, 2});
  inputs.v = core::HostTensor::from_floats({3, 2}, std::vector<float>{10, 1, 20, 2, 30, 3});
  return inputs;
}

std::vector<double> scores_at(const Engine& engine, nn::ScoreStage stage, double scale) {
  nn::AttentionOptions options;
  options.causal = true;
  options.scores = stage;
  options.scale = scale;
  const HostOutputs outputs = engine.run(chapter_inputs(), options);
  REQUIRE(outputs.scores->shape() == core::Shape{1, 1, 3, 3});
  return outputs.scores->to_doubles();
}

void check_values(const std::vector<double>& got, const std::vector<double>& want,
                  double tolerance) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("element " << i << ": got " << got[i] << ", want " << want[i]);
    if (std::isinf(want[i])) {
      CHECK(got[i] == want[i]);
    } else {
      CHECK(std::abs(got[i] - want[i]) <= tolerance * std::max(1.0, std::abs(want[i])));
    }
  }
}

}  // namespace

TEST_CASE("chapter example: every printed step is reproduced") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    const double root = std::sqrt(2.0);
    constexpr double kPrinted = 5.01e-4;  // the chapter prints three decimals
    check_values(scores_at(engine, nn::ScoreStage::kRaw, 1), {1, 1, 0, 0, 2, 4, 1, 2, 2},
                 engine.tolerance);
    check_values(scores_at(engine, nn::ScoreStage::kRaw, 1 / root),
                 {0.707, 0.707, 0, 0, 1.414, 2.828, 0.707, 1.414, 1.414}, kPrinted);
    check_values(scores_at(engine, nn::ScoreStage::kMasked, 1 / root),
                 {0.707, -INFINITY, -INFINITY, 0, 1.414, -INFINITY, 0.707, 1.414, 1.414}, kPrinted);
    check_values(scores_at(engine, nn::ScoreStage::kWeights, 1 / root),
                 {1, 0, 0, 0.196, 0.804, 0, 0.198, 0.401, 0.401}, kPrinted);
  }
}

TEST_CASE("chapter example: weights and outputs equal their closed forms") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    // Row 1 has scores 0 and sqrt(2), row 2 has s, 2s, 2s with s = 1 / sqrt(2).
    const double a = std::exp(std::sqrt(2.0));
    const double b = std::exp(1 / std::sqrt(2.0));
    check_values(
        scores_at(engine, nn::ScoreStage::kWeights, 1 / std::sqrt(2.0)),
        {1, 0, 0, 1 / (1 + a), a / (1 + a), 0, 1 / (1 + 2 * b), b / (1 + 2 * b), b / (1 + 2 * b)},
        engine.tolerance);
    nn::AttentionOptions options;
    options.causal = true;
    options.want_lse = true;
    const HostOutputs outputs = engine.run(chapter_inputs(), options);
    REQUIRE(outputs.y.shape() == core::Shape{3, 2});
    check_values(outputs.y.to_doubles(),
                 {10, 1, (10 + 20 * a) / (1 + a), (1 + 2 * a) / (1 + a),
                  (10 + 50 * b) / (1 + 2 * b), (1 + 5 * b) / (1 + 2 * b)},
                 engine.tolerance);
    check_values(outputs.lse->to_doubles(),
                 {1 / std::sqrt(2.0), std::log(1 + a), std::log(b + 2 * b * b)}, engine.tolerance);
  }
}

TEST_CASE("chapter example: the variance of a dot product is its dimension and 1 when scaled") {
  // s = q.k of standard normal vectors has variance d and fourth moment 3 d^2 + 6 d, so the sample
  // variance of N values has standard deviation sqrt((2 d^2 + 6 d) / N); five of them are allowed.
  constexpr int64_t kSamples = 5000;
  for (const Engine& engine : engines_under_test()) {
    for (const int64_t dim : {16, 64}) {
      INFO(engine.name << " d_k " << dim);
      AttentionCase c;
      c.seed = 71;
      c.batch = kSamples;
      c.head_dim = c.v_head_dim = dim;
      c.options.scores = nn::ScoreStage::kRaw;
      for (const bool scaled : {false, true}) {
        c.options.scale = scaled ? std::nullopt : std::optional<double>(1.0);
        const HostOutputs outputs = engine.run(make_inputs(c), c.options);
        double sum = 0;
        double squares = 0;
        for (const double s : outputs.scores->to_doubles()) {
          sum += s;
          squares += s * s;
        }
        const double d = static_cast<double>(dim);
        const double n = static_cast<double>(kSamples);
        const double wanted = scaled ? 1 : d;
        const double mean = sum / n;
        const double variance = squares / n - mean * mean;
        CHECK(std::abs(mean) <= 5 * std::sqrt(wanted / n));
        CHECK(std::abs(variance - wanted) <= 5 * wanted / d * std::sqrt((2 * d * d + 6 * d) / n));
      }
    }
  }
}

}  // namespace netcl::tests
