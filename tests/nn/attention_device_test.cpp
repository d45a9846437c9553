// SPDX-License-Identifier: Apache-2.0
// The attention kernels against the double-precision reference.
#include <utility>

#include "nn/kernel_engines.h"
#include "support/catch.h"
#include "support/device.h"

namespace netcl::tests {

namespace {

using core::DType;

// One below, at and one above the tiles, and primes.
const std::vector<int64_t> kLengths = {1, 15, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257};
const std::vector<int64_t> kHeadDims = {1, 20, 40, 65, 72, 96, 128, 192, 256};

AttentionCase make_case(int64_t q_len, int64_t kv_len, int64_t head_dim) {
  AttentionCase c;
  c.seed = static_cast<uint64_t>(1000 * q_len + kv_len + head_dim);
  c.q_len = q_len;
  c.kv_len = kv_len;
  c.head_dim = c.v_head_dim = head_dim;
  // The yardstick is the plain computation's largest error: short calls need several rows for it.
  c.heads = c.kv_heads = q_len < 16 ? 8 : 1;
  c.options.want_lse = true;
  return c;
}

void check_lengths_and_head_dims(const KernelEngine& engine) {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  for (const int64_t head_dim : kHeadDims) {
    for (size_t at = 0; at < kLengths.size(); ++at) {
      AttentionCase c = make_case(kLengths[at], kLengths[at], head_dim);
      c.options.causal = (at + static_cast<size_t>(head_dim)) % 2 == 0;
      CHECK(fault_of(*queue, {engine}, c) == "");
    }
  }
}

// Random calls with head sizes and types from a short list: each entry is a program to build.
void check_random_calls(uint64_t seed, int calls, const std::vector<KernelEngine>& engines) {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  struct Program {
    int64_t head_dim, v_head_dim;
    DType q_dtype, kv_dtype;
  };
  const std::vector<Program> programs = {{8, 8, DType::kF32, DType::kF32},
                                         {17, 17, DType::kF16, DType::kF16},
                                         {40, 20, DType::kBF16, DType::kBF16},
                                         {3, 33, DType::kF32, DType::kF16}};
  base::Rng rng(seed);
  for (int call = 0; call < calls; ++call) {
    AttentionCase c = random_attention_case(rng);
    const Program& program = programs[rng.below(programs.size())];
    c.head_dim = program.head_dim;
    c.v_head_dim = program.v_head_dim;
    c.q_dtype = program.q_dtype;
    c.kv_dtype = program.kv_dtype;
    CHECK(fault_of(*queue, engines, c) == "");
  }
}

}  // namespace

TEST_CASE("attention on device: naive agrees at all lengths and head sizes") {
  check_lengths_and_head_dims(kNaive);
}

TEST_CASE("attention on device: wide tiles agree at all lengths and head sizes") {
  check_lengths_and_head_dims(kWideTiles);
}

TEST_CASE("attention on device: group tiles agree at all lengths and head sizes") {
  check_lengths_and_head_dims(kGroupTiles);
}

TEST_CASE("attention on device: panels agree at all lengths and head sizes") {
  check_lengths_and_head_dims(kChosenPanels);
}

TEST_CASE("attention on device: value head size may differ from key head size") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  const std::vector<std::pair<int64_t, int64_t>> dims = {{1, 3}, {64, 1}, {40, 65}, {128, 20}};
  for (const auto& [head_dim, v_head_dim] : dims) {
    AttentionCase c = make_case(33, 70, head_dim);
    c.v_head_dim = v_head_dim;
    CHECK(fault_of(*queue, {kNaive, kChosenTiles, kGroupTiles, kWidePanels, kSmallPanels}, c) ==
          "");
  }
}

TEST_CASE("attention on device: q_len and kv_len differ under every alignment and window") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  const std::vector<std::pair<int64_t, int64_t>> lengths = {{1, 257}, {5, 2},    {257, 3}, {33, 64},
                                                            {64, 33}, {17, 130}, {3, 3}};
  const std::vector<std::pair<int64_t, int64_t>> windows = {{-1, -1}, {2, -1}, {-1, 3},
                                                            {0, 0},   {20, 5}, {70, 0}};
  const std::vector<std::optional<int64_t>> offsets = {{}, -3, 0, 5, 40, -1000, 1000};
  for (const auto& [q_len, kv_len] : lengths) {
    for (const auto& [left, right] : windows) {
      for (size_t at = 0; at < offsets.size(); ++at) {
        AttentionCase c = make_case(q_len, kv_len, 8);
        c.options.causal = (at + static_cast<size_t>(q_len)) % 3 != 0;
        c.options.window_left = left;
        c.options.window_right = right;
        if (offsets[at].has_value()) {
          c.options.alignment = nn::Alignment::kExplicit;
          c.options.offsets = {*offsets[at]};
        }
        CHECK(fault_of(*queue,
                       {kNaive, kWideTiles, kGroupTiles, kSmallTiles, kWidePanels, kSmallPanels},
                       c) == "");
      }
    }
  }
}

TEST_CASE("attention on device: masks of every rank type and broadcast hide what they say") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  uint64_t seed = 77;
  for (size_t rank = 2; rank <= 4; ++rank) {
    for (const DType type : {DType::kBool, DType::kF32, DType::kF16, DType::kBF16}) {
      for (const int broadcast : {0, 1, 2, 3}) {
        for (const int64_t columns : {-1, 1, 33}) {
          AttentionCase c = make_case(35, 67, 8);
          c.seed = seed++;
          c.batch = 2;
          c.heads = 4;
          c.kv_heads = 2;
          c.mask = type == DType::kBool ? MaskKind::kBool : MaskKind::kFloat;
          c.mask_dtype = type;
          c.mask_rank = rank;
          c.mask_broadcast_rows = broadcast % 2 == 1;
          c.mask_broadcast_heads = broadcast >= 2;
          c.mask_columns = columns;
          c.options.causal = broadcast == 3;
          CHECK(fault_of(*queue, {kNaive, kWideTiles, kGroupTiles, kWidePanels, kSmallPanels}, c) ==
                "");
        }
      }
    }
  }
}

TEST_CASE("attention on device: storage types mix and give float results") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  const std::vector<std::pair<DType, DType>> types = {{DType::kF16, DType::kF16},
                                                      {DType::kBF16, DType::kBF16},
                                                      {DType::kF32, DType::kBF16},
                                                      {DType::kF16, DType::kBF16},
                                                      {DType::kBF16, DType::kF32}};
  for (const auto& [q, kv] : types) {
    AttentionCase c = make_case(18, 35, 20);
    c.q_dtype = q;
    c.kv_dtype = kv;
    c.options.scores = nn::ScoreStage::kRaw;
    CHECK(fault_of(*queue, {kNaive, kChosenTiles, kChosenPanels}, c) == "");
  }
}

TEST_CASE("attention on device: random calls agree on naive and wide tiles") {
  check_random_calls(2024, 120, {kNaive, kWideTiles});
}

TEST_CASE("attention on device: random calls agree on group tiles") {
  check_random_calls(2025, 120, {kGroupTiles});
}

TEST_CASE("attention on device: random calls agree on small and chosen tiles") {
  check_random_calls(2026, 60, {kSmallTiles, kChosenTiles});
}

TEST_CASE("attention on device: random calls agree on panels") {
  check_random_calls(2027, 120, {kChosenPanels, kWidePanels, kSmallPanels});
}

}  // namespace netcl::tests
