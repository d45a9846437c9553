// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_host.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/cpu.h"
#include "base/error.h"
#include "nn/attention_tile.h"
#include "support/attention_cases.h"
#include "support/catch.h"

namespace netcl::tests {

namespace {

using Catch::Matchers::Contains;

core::Queue host_queue(size_t threads) {
  core::QueueOptions options;
  options.host_threads = threads;
  return core::DeviceManager::open("host", options).queue;
}

std::string judge_case(const core::Queue& queue, const AttentionCase& c) {
  const HostInputs inputs = make_inputs(c);
  const std::string fault =
      judge(run_attention(queue, inputs, c.options), run_reference(inputs, c.options),
            plain_float_attention(inputs, c.options));
  return fault.empty() ? "" : fault + " | " + c.text();
}

}  // namespace

TEST_CASE("attention host: random calls are as near to the reference as plain float") {
  const core::Queue queue = host_queue(0);
  base::Rng rng(20240607);
  for (int n = 0; n < 600; ++n) {
    CHECK(judge_case(queue, random_attention_case(rng)) == "");
  }
}

TEST_CASE("attention host: sizes around a tile and odd head sizes") {
  const core::Queue queue = host_queue(0);
  const int64_t dim = GENERATE(1, 20, 40, 59, 65, 72, 96, 111, 128, 192, 256, 257);
  for (const int64_t length : {1, 15, 17, 63, 64, 65, 127, 129, 255, 257}) {
    AttentionCase c;
    c.heads = c.kv_heads = 1;
    c.q_len = c.kv_len = length;
    c.head_dim = c.v_head_dim = dim;
    c.options.causal = length % 2 == 1;
    c.options.want_lse = true;
    CHECK(judge_case(queue, c) == "");
  }
}

TEST_CASE("attention host: query and key lengths far apart") {
  const core::Queue queue = host_queue(0);
  for (const auto& [q_len, kv_len] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 339}, {239, 1}, {3, 799}, {113, 203}, {257, 64}, {600, 600}}) {
    for (const int64_t left : {-1, 10}) {
      AttentionCase c;
      c.q_len = q_len;
      c.kv_len = kv_len;
      c.head_dim = c.v_head_dim = 32;
      c.options.causal = true;
      c.options.window_left = left;
      c.options.want_lse = true;
      CHECK(judge_case(queue, c) == "");
    }
  }
}

TEST_CASE("attention host: the number of threads changes no bit") {
  base::Rng rng(7);
  const core::Queue one = host_queue(1);
  const core::Queue two = host_queue(2);
  const core::Queue five = host_queue(5);
  for (int n = 0; n < 40; ++n) {
    const AttentionCase c = random_attention_case(rng);
    const HostInputs inputs = make_inputs(c);
    const HostOutputs want = run_attention(one, inputs, c.options);
    for (const core::Queue& queue : {two, five, one}) {
      const HostOutputs got = run_attention(queue, inputs, c.options);
      CHECK(same_bits(got.y, want.y) == "");
      if (want.lse.has_value()) {
        CHECK(same_bits(*got.lse, *want.lse) == "");
      }
      if (want.scores.has_value()) {
        CHECK(same_bits(*got.scores, *want.scores) == "");
      }
    }
  }
}

TEST_CASE("attention host: kernel names are auto and host") {
  const core::Queue queue = host_queue(1);
  AttentionCase c;
  const HostInputs inputs = make_inputs(c);
  for (const std::string name : {"auto", "host"}) {
    c.options.kernel = name;
    CHECK_NOTHROW(run_attention(queue, inputs, c.options));
  }
  c.options.kernel = "tiled";
  CHECK_THROWS_AS(run_attention(queue, inputs, c.options), base::UsageError);
  CHECK_THROWS_WITH(run_attention(queue, inputs, c.options), Contains("allowed auto and host"));
}

TEST_CASE("attention host: tensors of two queues are refused") {
  const AttentionCase c;
  nn::AttentionInputs inputs = upload(host_queue(1), make_inputs(c));
  inputs.v = core::Tensor::from_host(host_queue(1), inputs.v.to_host());
  CHECK_THROWS_WITH(nn::attention(inputs, {}), Contains("v and q are on different queues"));
}

TEST_CASE("attention tile: the instruction set keeps to the limit of the process") {
  const base::CpuLevel before = base::cpu_level_limit();
  base::limit_cpu_level(base::CpuLevel::kSse2);
  CHECK(std::string(nn::tile_functions().name) == "baseline");
  base::limit_cpu_level(before);
  CHECK(nn::tile_functions().level <= before);
}

TEST_CASE("attention tile: every instruction set computes its three formulas") {
  base::Rng rng(11);
  constexpr int64_t kDim = 37;
  constexpr int64_t kWidth = 2 * nn::kTileWidthAlign;
  for (const nn::TileFunctions* tile : nn::runnable_tile_functions()) {
    for (const int64_t rows : {1, 3, 4, 7, 64}) {
      INFO(tile->name << " rows " << rows);
      std::vector<float> q(static_cast<size_t>(rows * kDim));
      std::vector<float> kt(static_cast<size_t>(kDim * nn::kTileKeys));
      std::vector<float> s(static_cast<size_t>(rows * nn::kTileKeys));
      std::vector<float> v(static_cast<size_t>(nn::kTileKeys * kWidth));
      std::vector<float> acc(static_cast<size_t>(rows * kWidth), 1.0F);
      for (std::vector<float>* values : {&q, &kt, &v}) {
        for (float& value : *values) {
          value = static_cast<float>(rng.normal());
        }
      }
      tile->score(q.data(), rows, kDim, kt.data(), nn::kTileKeys, 0.5F, s.data());
      double worst = 0;
      for (int64_t at = 0; at < rows * nn::kTileKeys; ++at) {
        double dot = 0;
        for (int64_t d = 0; d < kDim; ++d) {
          dot +=
              static_cast<double>(q[static_cast<size_t>(at / nn::kTileKeys * kDim + d)]) *
              static_cast<double>(kt[static_cast<size_t>(d * nn::kTileKeys + at % nn::kTileKeys)]);
        }
        worst =
            std::max(worst, std::abs(static_cast<double>(s[static_cast<size_t>(at)]) - dot / 2));
      }
      CHECK(worst < 2e-5);

      const std::vector<float> scores = s;
      std::vector<float> highest(static_cast<size_t>(rows), 0.25F);
      std::vector<float> sum(static_cast<size_t>(rows), 2.0F);
      std::vector<float> keep(static_cast<size_t>(rows));
      tile->softmax(s.data(), rows, highest.data(), sum.data(), keep.data());
      tile->accumulate(s.data(), rows, keep.data(), v.data(), nn::kTileKeys, kWidth, acc.data());
      for (int64_t r = 0; r < rows; ++r) {
        const float* const row = scores.data() + r * nn::kTileKeys;
        const float top = std::max(0.25F, *std::max_element(row, row + nn::kTileKeys));
        const double kept = std::exp(0.25 - static_cast<double>(top));
        double total = 2 * kept;
        std::vector<double> want(static_cast<size_t>(kWidth), kept);
        for (int64_t j = 0; j < nn::kTileKeys; ++j) {
          const double p = std::exp(static_cast<double>(row[j]) - static_cast<double>(top));
          total += p;
          for (int64_t c = 0; c < kWidth; ++c) {
            want[static_cast<size_t>(c)] +=
                p * static_cast<double>(v[static_cast<size_t>(j * kWidth + c)]);
          }
        }
        const size_t at = static_cast<size_t>(r);
        CHECK(highest[at] == top);
        CHECK(std::abs(static_cast<double>(sum[at]) - total) < 1e-5 * total);
        double error = 0;
        for (int64_t c = 0; c < kWidth; ++c) {
          const double got = static_cast<double>(acc[static_cast<size_t>(r * kWidth + c)]);
          error = std::max(error, std::abs(got - want[static_cast<size_t>(c)]));
        }
        CHECK(error < 5e-5);
      }
    }
  }
}

TEST_CASE("attention tile: exp is right to two units in the last place and zero when hidden") {
  for (double x = 0; x > -87.2; x -= 0.0013) {
    const float from = static_cast<float>(x);
    const double want = std::exp(static_cast<double>(from));
    const double error = std::abs(static_cast<double>(nn::exp_nonpositive(from)) - want) / want;
    REQUIRE(error < 2 * 1.2e-7);
  }
  CHECK(nn::exp_nonpositive(0) == 1);
  CHECK(nn::exp_nonpositive(-88) == 0);
  CHECK(nn::exp_nonpositive(-std::numeric_limits<float>::infinity()) == 0);
  CHECK(std::isnan(nn::exp_nonpositive(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace netcl::tests
