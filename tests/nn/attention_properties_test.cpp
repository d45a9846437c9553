// SPDX-License-Identifier: Apache-2.0
// What attention must satisfy whatever the engine: relations between calls, and cases whose answer
// can be worked out by hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "nn/engines.h"
#include "support/catch.h"

namespace netcl::tests {

namespace {

using core::DType;
using core::HostTensor;
using core::Shape;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows `order` of axis 2 of a [B, H, T, D] tensor.
HostTensor take_rows(const HostTensor& from, const std::vector<int64_t>& order) {
  const Shape& shape = from.shape();
  const int64_t length = static_cast<int64_t>(order.size());
  HostTensor to(from.dtype(), {shape[0], shape[1], length, shape[3]});
  const int64_t row_bytes = shape[3] * static_cast<int64_t>(core::dtype_size(from.dtype()));
  for (int64_t head = 0; head < shape[0] * shape[1]; ++head) {
    for (int64_t i = 0; i < length; ++i) {
      const std::byte* const row =
          from.data() + (head * shape[2] + order[static_cast<size_t>(i)]) * row_bytes;
      std::copy(row, row + row_bytes, to.data() + (head * length + i) * row_bytes);
    }
  }
  return to;
}

std::vector<int64_t> range(int64_t begin, int64_t end) {
  std::vector<int64_t> out(static_cast<size_t>(end - begin));
  std::iota(out.begin(), out.end(), begin);
  return out;
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  base::Rng rng(seed);
  std::vector<int64_t> out = range(0, count);
  for (size_t i = out.size(); i > 1; --i) {
    std::swap(out[i - 1], out[rng.below(i)]);
  }
  return out;
}

HostTensor constant(const Shape& shape, double value) {
  return HostTensor::from_doubles(shape,
                                  std::vector<double>(static_cast<size_t>(shape.count()), value));
}

// q and k of zeros, so that all visible keys weigh the same; V row j is values[j] in every column.
HostInputs uniform_inputs(int64_t q_len, const std::vector<double>& values, int64_t dim) {
  const int64_t keys = static_cast<int64_t>(values.size());
  HostInputs inputs;
  inputs.q = constant({1, 1, q_len, dim}, 0).to(DType::kF32);
  inputs.k = constant({1, 1, keys, dim}, 0).to(DType::kF32);
  std::vector<double> v;
  for (const double value : values) {
    v.insert(v.end(), static_cast<size_t>(dim), value);
  }
  inputs.v = HostTensor::from_doubles({1, 1, keys, dim}, v).to(DType::kF32);
  return inputs;
}

// y of uniform_inputs: one value per row, all columns equal.
std::vector<double> row_values(const Engine& engine, const HostInputs& inputs,
                               const nn::AttentionOptions& options) {
  const HostTensor y = engine.run(inputs, options).y;
  const std::vector<double> all = y.to_doubles();
  const size_t dim = static_cast<size_t>(y.shape()[y.shape().rank() - 1]);
  std::vector<double> rows;
  for (size_t at = 0; at < all.size(); at += dim) {
    for (size_t c = 1; c < dim; ++c) {
      REQUIRE(all[at + c] == all[at]);
    }
    rows.push_back(all[at]);
  }
  return rows;
}

void check_rows(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("row " << i << ": got " << got[i] << ", want " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= 1e-6 * std::abs(want[i]));
  }
}

// Equality up to rounding of a few operations on values of order 1.
void check_near(const Engine& engine, const HostTensor& got, const HostTensor& want) {
  const Difference worst = difference(got, want);
  INFO(worst.text);
  CHECK(worst.error <= 10 * engine.tolerance);
}

// y of a [1, H, T, D] call as the rows [begin, end) of `whole`.
HostTensor part_of(const HostTensor& whole, int64_t begin, int64_t end) {
  return take_rows(whole, range(begin, end));
}

AttentionCase square_case(int64_t length, int64_t dim) {
  AttentionCase c;
  c.batch = 2;
  c.heads = c.kv_heads = 2;
  c.q_len = c.kv_len = length;
  c.head_dim = c.v_head_dim = dim;
  return c;
}

// Sets every element at `keys` of axis 2 of a [B, G, T, D] tensor to a value, NaN and Inf in turn.
void poison_rows(HostTensor& tensor, const std::vector<int64_t>& keys) {
  const float values[] = {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()};
  const Shape shape = tensor.shape();
  const auto elements = tensor.as<float>();
  for (int64_t head = 0; head < shape[0] * shape[1]; ++head) {
    for (const int64_t j : keys) {
      for (int64_t d = 0; d < shape[3]; ++d) {
        elements[static_cast<size_t>((head * shape[2] + j) * shape[3] + d)] = values[(j + d) % 3];
      }
    }
  }
}

}  // namespace

TEST_CASE("attention: without mask and positions permuting tokens permutes outputs") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    const AttentionCase c = square_case(70, 16);
    HostInputs inputs = make_inputs(c);
    const HostOutputs straight = engine.run(inputs, c.options);
    const std::vector<int64_t> order = shuffled(70, 3);
    inputs.q = take_rows(inputs.q, order);
    inputs.k = take_rows(inputs.k, order);
    inputs.v = take_rows(inputs.v, order);
    check_near(engine, engine.run(inputs, c.options).y, take_rows(straight.y, order));
  }
}

TEST_CASE("attention: the order of keys does not matter") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(131, 20);
    c.q_len = 9;
    HostInputs inputs = make_inputs(c);
    const HostOutputs straight = engine.run(inputs, c.options);
    const std::vector<int64_t> order = shuffled(131, 4);
    inputs.k = take_rows(inputs.k, order);
    inputs.v = take_rows(inputs.v, order);
    check_near(engine, engine.run(inputs, c.options).y, straight.y);
  }
}

TEST_CASE("attention: adding one number to all scores changes the log-sum-exp only") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(66, 16);
    c.options.want_lse = true;
    HostInputs inputs = make_inputs(c);
    inputs.mask = constant({66, 66}, 0).to(DType::kF32);
    const HostOutputs straight = engine.run(inputs, c.options);
    inputs.mask = constant({66, 66}, 4).to(DType::kF32);
    const HostOutputs shifted = engine.run(inputs, c.options);
    check_near(engine, shifted.y, straight.y);
    std::vector<double> lse = straight.lse->to_doubles();
    for (double& value : lse) {
      value += 4;
    }
    check_near(engine, *shifted.lse, HostTensor::from_doubles(straight.lse->shape(), lse));
  }
}

TEST_CASE("attention: grouped heads equal repeated KV heads") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(65, 16);
    c.heads = 6;
    c.options.causal = true;
    HostInputs inputs = make_inputs(c);
    const HostOutputs grouped = engine.run(inputs, c.options);
    const auto repeat = [](const HostTensor& from) {
      const Shape& shape = from.shape();
      HostTensor to(from.dtype(), {shape[0], 6, shape[2], shape[3]});
      const size_t head_bytes = from.byte_count() / static_cast<size_t>(shape[0] * shape[1]);
      for (size_t head = 0; head < static_cast<size_t>(shape[0]) * 6; ++head) {
        const std::byte* const at = from.data() + head / 3 * head_bytes;
        std::copy(at, at + head_bytes, to.data() + head * head_bytes);
      }
      return to;
    };
    inputs.k = repeat(inputs.k);
    inputs.v = repeat(inputs.v);
    CHECK(same_bits(engine.run(inputs, c.options).y, grouped.y) == "");
  }
}

TEST_CASE("attention: a window as long as the keys is no window") {
  const bool causal = GENERATE(false, true);
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(67, 16);
    c.options.causal = causal;
    const HostInputs inputs = make_inputs(c);
    const HostOutputs open = engine.run(inputs, c.options);
    c.options.window_left = c.options.window_right = 67;
    CHECK(same_bits(engine.run(inputs, c.options).y, open.y) == "");
    c.options.window_left = 5;
    CHECK(same_bits(engine.run(inputs, c.options).y, open.y) != "");
  }
}

TEST_CASE("attention: key lengths equal shorter keys") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(80, 16);
    c.q_len = 5;
    c.options.causal = true;
    HostInputs inputs = make_inputs(c);
    inputs.kv_lens = {37, 37};
    const HostOutputs limited = engine.run(inputs, c.options);
    inputs.kv_lens.clear();
    inputs.k = take_rows(inputs.k, range(0, 37));
    inputs.v = take_rows(inputs.v, range(0, 37));
    check_near(engine, limited.y, engine.run(inputs, c.options).y);
  }
}

TEST_CASE("attention: past keys equal keys given at once") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(75, 16);
    c.q_len = 9;
    c.options.causal = true;
    HostInputs inputs = make_inputs(c);
    const HostInputs whole = inputs;
    const HostOutputs at_once = engine.run(whole, c.options);
    for (const int64_t past : {0, 1, 66, 75}) {
      inputs.past_k = take_rows(whole.k, range(0, past));
      inputs.past_v = take_rows(whole.v, range(0, past));
      inputs.k = take_rows(whole.k, range(past, 75));
      inputs.v = take_rows(whole.v, range(past, 75));
      const HostOutputs split = engine.run(inputs, c.options);
      CHECK(same_bits(split.y, at_once.y) == "");
      CHECK(same_bits(*split.present_k, whole.k) == "");
      CHECK(same_bits(*split.present_v, whole.v) == "");
    }
  }
}

TEST_CASE("attention: a prompt at once equals token by token and any chunks") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(64, 16);
    c.options.causal = true;
    const HostInputs whole = make_inputs(c);
    const HostOutputs at_once = engine.run(whole, c.options);
    const std::vector<std::vector<int64_t>> splits = {
        std::vector<int64_t>(64, 1), {7, 57}, {16, 16, 16, 16}, {1, 63}};
    for (const std::vector<int64_t>& chunks : splits) {
      HostInputs inputs;
      inputs.past_k = take_rows(whole.k, {});
      inputs.past_v = take_rows(whole.v, {});
      int64_t done = 0;
      for (const int64_t chunk : chunks) {
        const std::vector<int64_t> rows = range(done, done + chunk);
        inputs.q = take_rows(whole.q, rows);
        inputs.k = take_rows(whole.k, rows);
        inputs.v = take_rows(whole.v, rows);
        const HostOutputs step = engine.run(inputs, c.options);
        check_near(engine, step.y, take_rows(at_once.y, rows));
        inputs.past_k = step.present_k;
        inputs.past_v = step.present_v;
        done += chunk;
      }
      REQUIRE(done == 64);
    }
  }
}

TEST_CASE("attention: values at invisible keys change no bit") {
  const int64_t keys = 70;
  const nn::ScoreStage stage = GENERATE(nn::ScoreStage::kNone, nn::ScoreStage::kWeights);
  const std::string way = GENERATE(as<std::string>{}, "kv_lens", "causal", "window", "bool mask",
                                   "float mask", "short mask");
  for (const Engine& engine : engines_under_test()) {
    AttentionCase c = square_case(keys, 20);
    c.q_len = 3;
    c.options.want_lse = true;
    c.options.scores = stage;
    HostInputs inputs = make_inputs(c);
    std::vector<int64_t> hidden;
    INFO(engine.name << ", hidden by " << way);
    if (way == "kv_lens") {
      inputs.kv_lens = {33, 33};
      hidden = range(33, keys);
    } else if (way == "causal") {
      c.options.causal = true;
      c.options.alignment = nn::Alignment::kTopLeft;
      hidden = range(3, keys);
    } else if (way == "window") {
      c.options.window_left = 4;
      c.options.window_right = 2;
      hidden = range(0, keys - 3 - 4);
    } else {
      hidden = {0, 1, 17, 63, 64, 69};
      std::vector<double> mask(static_cast<size_t>(keys), way == "bool mask" ? 1 : 0);
      for (const int64_t j : hidden) {
        mask[static_cast<size_t>(j)] = way == "bool mask" ? 0 : -kInfinity;
      }
      inputs.mask = HostTensor::from_doubles({1, keys}, mask)
                        .to(way == "bool mask" ? DType::kBool : DType::kF32);
      if (way == "short mask") {
        inputs.mask = constant({1, 50}, 0).to(DType::kF32);
        hidden = range(50, keys);
      }
    }
    const HostOutputs clean = engine.run(inputs, c.options);
    poison_rows(inputs.k, hidden);
    poison_rows(inputs.v, hidden);
    const HostOutputs poisoned = engine.run(inputs, c.options);
    CHECK(same_bits(poisoned.y, clean.y) == "");
    CHECK(same_bits(*poisoned.lse, *clean.lse) == "");
    if (c.options.scores == nn::ScoreStage::kWeights) {
      CHECK(same_bits(*poisoned.scores, *clean.scores) == "");
    }
    CHECK(difference(clean.y, clean.y).error == 0);
  }
}

TEST_CASE("attention: a NaN that is visible is not hidden") {
  const std::string which = GENERATE(as<std::string>{}, "k", "v");
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name << ' ' << which);
    const AttentionCase c = square_case(5, 8);
    HostInputs inputs = make_inputs(c);
    poison_rows(which == "k" ? inputs.k : inputs.v, {3});
    const HostTensor y = engine.run(inputs, c.options).y;
    CHECK(difference(y, y).error == kInfinity);
  }
}

TEST_CASE("attention: rows that see no key are zero and leave their neighbours alone") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    nn::AttentionOptions options;
    options.causal = true;
    options.want_lse = true;
    const HostInputs inputs = uniform_inputs(5, {1, 2}, 8);
    CHECK(row_values(engine, inputs, options) == std::vector<double>{0, 0, 0, 1, 1.5});
    const std::vector<double> lse = engine.run(inputs, options).lse->to_doubles();
    CHECK(lse[0] == -kInfinity);
    CHECK(lse[2] == -kInfinity);
    CHECK(lse[3] == 0);
    CHECK(std::abs(lse[4] - std::log(2.0)) < 1e-6);
    HostInputs masked = uniform_inputs(2, {1, 2, 4}, 8);
    masked.mask =
        HostTensor::from_doubles({2, 3}, std::vector<double>{0, 0, 0, 1, 0, 1}).to(DType::kBool);
    CHECK(row_values(engine, masked, {}) == std::vector<double>{0, 2.5});
    masked.kv_lens = {0};
    CHECK(row_values(engine, masked, {}) == std::vector<double>{0, 0});
  }
}

TEST_CASE("attention: no keys give zeros and no queries give nothing") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(3, 8);
    c.kv_len = 0;
    c.options.want_lse = true;
    const HostOutputs no_keys = engine.run(make_inputs(c), c.options);
    for (const double value : no_keys.y.to_doubles()) {
      CHECK(value == 0);
    }
    for (const double value : no_keys.lse->to_doubles()) {
      CHECK(value == -kInfinity);
    }
    c.kv_len = 3;
    c.q_len = 0;
    CHECK(engine.run(make_inputs(c), c.options).y.shape() == Shape{2, 2, 0, 8});
    c.q_len = 3;
    c.batch = 0;
    CHECK(engine.run(make_inputs(c), c.options).y.shape() == Shape{0, 2, 3, 8});
  }
}

TEST_CASE("attention: causal rows align with the last key by default and the first on request") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    const HostInputs inputs = uniform_inputs(2, {1, 2, 4, 8, 16}, 8);
    nn::AttentionOptions options;
    options.causal = true;
    check_rows(row_values(engine, inputs, options), {3.75, 6.2});
    options.alignment = nn::Alignment::kTopLeft;
    check_rows(row_values(engine, inputs, options), {1, 1.5});
    options.alignment = nn::Alignment::kExplicit;
    options.offsets = {1};
    check_rows(row_values(engine, inputs, options), {1.5, 7.0 / 3});
    options.offsets = {-1};
    check_rows(row_values(engine, inputs, options), {0, 1});
  }
}

TEST_CASE("attention: causal is a choice and never guessed from equal lengths") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    check_rows(row_values(engine, uniform_inputs(3, {1, 2, 6}, 8), {}), {3, 3, 3});
  }
}

TEST_CASE("attention: query heads read KV heads in blocks") {
  for (const Engine& engine : engines_under_test()) {
    for (const auto& [heads, kv_heads] :
         std::vector<std::pair<int64_t, int64_t>>{{4, 2}, {6, 2}, {28, 4}, {8, 8}, {8, 1}}) {
      INFO(engine.name << " heads " << heads << " kv_heads " << kv_heads);
      HostInputs inputs;
      inputs.q = constant({1, heads, 1, 8}, 0).to(DType::kF32);
      inputs.k = constant({1, kv_heads, 2, 8}, 0).to(DType::kF32);
      std::vector<double> v;
      std::vector<double> want;
      for (int64_t g = 0; g < kv_heads; ++g) {
        v.insert(v.end(), 2 * 8, 10.0 * static_cast<double>(g + 1));
        want.insert(want.end(), static_cast<size_t>(heads / kv_heads),
                    10.0 * static_cast<double>(g + 1));
      }
      inputs.v = HostTensor::from_doubles({1, kv_heads, 2, 8}, v).to(DType::kF32);
      CHECK(row_values(engine, inputs, {}) == want);
    }
    HostInputs odd = uniform_inputs(1, {1}, 8);
    odd.q = constant({1, 5, 1, 8}, 0).to(DType::kF32);
    odd.k = odd.v = constant({1, 2, 1, 8}, 0).to(DType::kF32);
    CHECK_THROWS_AS(engine.run(odd, {}), base::FormatError);
  }
}

TEST_CASE("attention: a window of W keys counts the query's own") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    const std::vector<double> values = {1, 2, 4, 8, 16};
    nn::AttentionOptions options;
    options.causal = true;
    options.window_left = 2;
    check_rows(row_values(engine, uniform_inputs(5, values, 8), options),
               {1, 1.5, 7.0 / 3, 14.0 / 3, 28.0 / 3});
    check_rows(row_values(engine, uniform_inputs(1, values, 8), options), {28.0 / 3});
    options.window_left = 1;
    check_rows(row_values(engine, uniform_inputs(5, values, 8), options), {1, 1.5, 3, 6, 12});
    options = {};
    options.window_left = 1;
    options.window_right = 2;
    check_rows(row_values(engine, uniform_inputs(5, {0, 1, 2, 3, 4}, 8), options),
               {1, 1.5, 2.5, 3, 3.5});
  }
}

TEST_CASE("attention: a first tile without visible keys does not spoil later ones") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    const int64_t keys = 200;
    std::vector<double> values(static_cast<size_t>(keys));
    std::iota(values.begin(), values.end(), 1.0);
    HostInputs inputs = uniform_inputs(1, values, 8);
    std::vector<double> mask(static_cast<size_t>(keys), 0);
    mask[170] = mask[190] = 1;
    inputs.mask = HostTensor::from_doubles({1, keys}, mask).to(DType::kBool);
    check_rows(row_values(engine, inputs, {}), {181});
    for (double& entry : mask) {
      entry = entry != 0 ? 0 : -kInfinity;
    }
    inputs.mask = HostTensor::from_doubles({1, keys}, mask).to(DType::kF32);
    check_rows(row_values(engine, inputs, {}), {181});
  }
}

TEST_CASE("attention: softcap comes before the mask") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    HostInputs inputs = uniform_inputs(1, {1, 2, 4}, 8);
    inputs.mask =
        HostTensor::from_doubles({1, 3}, std::vector<double>{0, -kInfinity, 0}).to(DType::kF32);
    nn::AttentionOptions options;
    options.softcap = 1;
    options.scores = nn::ScoreStage::kWeights;
    const HostOutputs outputs = engine.run(inputs, options);
    CHECK(outputs.scores->to_doubles() == std::vector<double>{0.5, 0, 0.5});
    check_rows(row_values(engine, inputs, options), {2.5});
  }
}

TEST_CASE("attention: a sink takes part in maximum and denominator and has no value") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    HostInputs inputs = uniform_inputs(1, {1, 2, 6}, 8);
    nn::AttentionOptions options;
    options.want_lse = true;
    inputs.sinks = {0};  // as one more key of score 0 and value 0
    check_rows(row_values(engine, inputs, options), {9.0 / 4});
    CHECK(std::abs(engine.run(inputs, options).lse->to_doubles()[0] - std::log(4.0)) < 1e-6);
    inputs.sinks = {static_cast<float>(std::log(5.0))};
    check_rows(row_values(engine, inputs, options), {9.0 / 8});
    CHECK(std::abs(engine.run(inputs, options).lse->to_doubles()[0] - std::log(8.0)) < 1e-6);
    // A sink far above all scores: left out of the maximum it would overflow.
    inputs.sinks = {100};
    const double small = row_values(engine, inputs, options)[0];
    CHECK((small >= 0 && small < 1e-40));
    CHECK(std::abs(engine.run(inputs, options).lse->to_doubles()[0] - 100) < 1e-4);
    inputs.sinks = {3e38F};
    CHECK(row_values(engine, inputs, options) == std::vector<double>{0});
    // And far below: it weighs nothing.
    inputs.sinks = {-1e30F};
    check_rows(row_values(engine, inputs, options), {3});
    options.scores = nn::ScoreStage::kWeights;
    inputs.sinks = {0};
    CHECK(engine.run(inputs, options).scores->to_doubles() ==
          std::vector<double>{0.25, 0.25, 0.25});
  }
}

TEST_CASE("attention: where no key is visible the log-sum-exp is the sink") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    nn::AttentionOptions options;
    options.causal = true;
    options.want_lse = true;
    options.scores = nn::ScoreStage::kWeights;
    HostInputs inputs = uniform_inputs(3, {1, 2}, 8);
    inputs.sinks = {0.75};
    const HostOutputs outputs = engine.run(inputs, options);
    CHECK(row_values(engine, inputs, options)[0] == 0);
    CHECK(std::abs(outputs.lse->to_doubles()[0] - 0.75) < 1e-6);
    CHECK(outputs.scores->to_doubles()[0] == 0);
    CHECK(outputs.scores->to_doubles()[1] == 0);
    inputs = uniform_inputs(2, {}, 8);
    inputs.sinks = {-2};
    const HostOutputs no_keys = engine.run(inputs, options);
    CHECK(std::abs(no_keys.lse->to_doubles()[1] + 2) < 1e-6);
  }
}

TEST_CASE("attention: sinks of minus infinity and slopes of zero are none") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(67, 16);
    c.options.causal = true;
    c.options.want_lse = true;
    HostInputs inputs = make_inputs(c);
    const HostOutputs none = engine.run(inputs, c.options);
    inputs.sinks = {-std::numeric_limits<float>::infinity(),
                    -std::numeric_limits<float>::infinity()};
    inputs.alibi_slopes = {0, 0, 0, 0};
    const HostOutputs got = engine.run(inputs, c.options);
    CHECK(same_bits(got.y, none.y) == "");
    CHECK(same_bits(*got.lse, *none.lse) == "");
  }
}

TEST_CASE("attention: sinks and slopes go with their heads") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(33, 16);
    c.batch = 1;
    HostInputs inputs = make_inputs(c);
    inputs.sinks = {1, -1};
    inputs.alibi_slopes = {0.5, 0.125};
    const HostTensor y = engine.run(inputs, c.options).y;
    const auto head = [](const HostTensor& from, int64_t h) {
      HostTensor to(from.dtype(), {1, 1, from.shape()[2], from.shape()[3]});
      std::copy_n(from.data() + static_cast<size_t>(h) * to.byte_count(), to.byte_count(),
                  to.data());
      return to;
    };
    for (int64_t h = 0; h < 2; ++h) {
      HostInputs one;
      one.q = head(inputs.q, h);
      one.k = head(inputs.k, h);
      one.v = head(inputs.v, h);
      one.sinks = {inputs.sinks[static_cast<size_t>(h)]};
      one.alibi_slopes = {inputs.alibi_slopes[static_cast<size_t>(h)]};
      CHECK(same_bits(head(y, h), engine.run(one, c.options).y) == "");
    }
  }
}

TEST_CASE("attention: ALiBi is worked out by hand") {
  // Scores 0 less slope * distance with e^-slope = 1/2: weights fall by halves from the own key.
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    HostInputs inputs = uniform_inputs(2, {1, 2, 4}, 8);
    inputs.alibi_slopes = {static_cast<float>(std::log(2.0))};
    // Rows stand at keys 1 and 2.
    check_rows(row_values(engine, inputs, {}), {(0.5 + 2 + 2) / 2, (0.25 + 1 + 4) / 1.75});
    nn::AttentionOptions options;
    options.alignment = nn::Alignment::kTopLeft;  // at keys 0 and 1, causal or not
    check_rows(row_values(engine, inputs, options), {(1 + 1 + 1) / 1.75, (0.5 + 2 + 2) / 2});
    options.causal = true;
    check_rows(row_values(engine, inputs, options), {1, (0.5 + 2) / 1.5});
  }
}

TEST_CASE("attention: ALiBi equals the additive mask of its values") {
  const bool softcap = GENERATE(false, true);
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c = square_case(70, 16);
    c.q_len = 40;
    c.options.causal = true;
    c.options.softcap = softcap ? 1.5 : 0;
    HostInputs inputs = make_inputs(c);
    inputs.alibi_slopes = {0.25, 0.125, 0.5, -0.25};
    const HostOutputs alibi = engine.run(inputs, c.options);
    std::vector<double> bias;
    for (int64_t head = 0; head < 4; ++head) {
      for (int64_t i = 0; i < 40; ++i) {
        for (int64_t j = 0; j < 70; ++j) {
          bias.push_back(-static_cast<double>(inputs.alibi_slopes[static_cast<size_t>(head)]) *
                         std::abs(static_cast<double>(i + 30 - j)));
        }
      }
    }
    inputs.alibi_slopes.clear();
    inputs.mask = HostTensor::from_doubles({2, 2, 40, 70}, bias).to(DType::kF32);
    check_near(engine, alibi.y, engine.run(inputs, c.options).y);
  }
}

TEST_CASE("attention: packed sequences equal the sequences by themselves") {
  const nn::ScoreStage stage = GENERATE(nn::ScoreStage::kNone, nn::ScoreStage::kWeights);
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c;
    c.heads = 4;
    c.kv_heads = 2;
    c.q_len = 150;
    c.kv_len = 211;
    c.head_dim = c.v_head_dim = 16;
    c.sinks = true;
    c.options.causal = true;
    c.options.window_left = 50;
    c.options.want_lse = true;
    c.options.scores = stage;
    HostInputs packed = make_inputs(c);
    packed.alibi_slopes = {0.5, 0.25, 0.125, 0.0625};
    packed.cu_seqlens_q = {0, 70, 70, 75, 149, 150};
    packed.cu_seqlens_k = {0, 65, 70, 81, 81, 211};
    const HostOutputs got = engine.run(packed, c.options);
    for (size_t s = 0; s + 1 < packed.cu_seqlens_q.size(); ++s) {
      INFO("sequence " << s);
      const int64_t q0 = packed.cu_seqlens_q[s];
      const int64_t q1 = packed.cu_seqlens_q[s + 1];
      HostInputs one = packed;
      one.cu_seqlens_q.clear();
      one.cu_seqlens_k.clear();
      one.q = part_of(packed.q, q0, q1);
      one.k = part_of(packed.k, packed.cu_seqlens_k[s], packed.cu_seqlens_k[s + 1]);
      one.v = part_of(packed.v, packed.cu_seqlens_k[s], packed.cu_seqlens_k[s + 1]);
      const HostOutputs want = engine.run(one, c.options);
      // Panels of keys begin where the tensor's do, not where a sequence's do.
      if (engine.name == "panel") {
        check_near(engine, part_of(got.y, q0, q1), want.y);
      } else {
        CHECK(same_bits(part_of(got.y, q0, q1), want.y) == "");
      }
      for (int64_t h = 0; h < 4; ++h) {
        for (int64_t i = q0; i < q1; ++i) {
          const double a = got.lse->to_doubles()[static_cast<size_t>(h * 150 + i)];
          const double b = want.lse->to_doubles()[static_cast<size_t>(h * (q1 - q0) + i - q0)];
          REQUIRE((a == b || std::abs(a - b) < 1e-5));
        }
      }
    }
    if (stage == nn::ScoreStage::kWeights) {
      const std::vector<double> weights = got.scores->to_doubles();
      CHECK(weights[static_cast<size_t>(70 * 211 + 0)] == 0);    // a key of another sequence
      CHECK(weights[static_cast<size_t>(149 * 211 + 210)] > 0);  // the own one
    }
  }
}

TEST_CASE("attention: other sequences' values change no bit") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c;
    c.q_len = c.kv_len = 90;
    c.head_dim = c.v_head_dim = 16;
    c.options.want_lse = true;
    HostInputs inputs = make_inputs(c);
    inputs.cu_seqlens_q = inputs.cu_seqlens_k = {0, 31, 60, 90};
    const HostOutputs clean = engine.run(inputs, c.options);
    std::vector<int64_t> others = range(0, 31);
    for (const int64_t j : range(60, 90)) {
      others.push_back(j);
    }
    poison_rows(inputs.k, others);
    poison_rows(inputs.v, others);
    const HostOutputs poisoned = engine.run(inputs, c.options);
    CHECK(same_bits(part_of(poisoned.y, 31, 60), part_of(clean.y, 31, 60)) == "");
    const HostTensor first = part_of(poisoned.y, 0, 31);
    CHECK(difference(first, first).error == kInfinity);
  }
}

TEST_CASE("attention: the layouts of packed sequences give the same rows") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c;
    c.q_len = c.kv_len = 20;
    c.head_dim = c.v_head_dim = 8;
    c.cu_seqlens_q = c.cu_seqlens_k = {0, 7, 20};
    HostInputs inputs = make_inputs(c);
    const HostTensor want = engine.run(inputs, c.options).y;
    // One head: the order of its axis does not matter.
    for (HostTensor* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
      *tensor = HostTensor::from_floats({20, 1, 8}, tensor->to_floats());
    }
    c.options.layout = nn::Layout::kBshd;
    const HostTensor y = engine.run(inputs, c.options).y;
    CHECK(y.shape() == Shape{20, 1, 8});
    CHECK(y.to_doubles() == want.to_doubles());
    inputs.cu_seqlens_q.clear();
    inputs.cu_seqlens_k.clear();
    CHECK_THROWS_AS(engine.run(inputs, c.options), base::FormatError);
  }
}

TEST_CASE("attention: fp16 products above the largest fp16 number stay finite") {
  for (const Engine& engine : engines_under_test()) {
    INFO(engine.name);
    AttentionCase c;
    c.kv_len = 16;
    c.head_dim = c.v_head_dim = 128;
    c.q_dtype = c.kv_dtype = DType::kF16;
    HostInputs inputs = make_inputs(c);
    inputs.q = constant({1, 1, 1, 128}, 32).to(DType::kF16);
    inputs.k = constant({1, 1, 16, 128}, 32).to(DType::kF16);
    const std::vector<double> v = inputs.v.to_doubles();
    std::vector<double> mean(128, 0);
    for (size_t i = 0; i < v.size(); ++i) {
      mean[i % 128] += v[i] / 16;
    }
    const Difference worst =
        difference(engine.run(inputs, c.options).y, HostTensor::from_doubles({1, 1, 1, 128}, mean));
    INFO(worst.text);
    CHECK(worst.error <= 1e-3);  // half a unit in the last place of fp16 below 2
  }
}

}  // namespace netcl::tests
