// SPDX-License-Identifier: Apache-2.0
// Every attention kernel launched on buffers longer than its tensors: what lies behind an input
// changes nothing, what lies behind an output is not written.
#include <algorithm>
#include <limits>

#include "core/kernel.h"
#include "kernels/attn_shape.h"
#include "nn/kernel_engines.h"
#include "support/catch.h"
#include "support/device.h"

namespace netcl::tests {

namespace {

using core::DType;
using core::HostTensor;
using core::Tensor;

constexpr int64_t kGuard = 300;  // elements behind a tensor
constexpr float kUntouched = 12345;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Sizes that divide by no tile. B = 1, H = 2, G = 1.
constexpr int64_t kHeads = 2, kQLen = 33, kKvLen = 35, kDim = 5;

// `host` with kGuard NaN behind it, as one axis.
Tensor guarded_input(const core::Queue& queue, const HostTensor& host) {
  std::vector<float> values = host.to_floats();
  values.insert(values.end(), kGuard, kNaN);
  return Tensor::from_host(queue,
                           HostTensor::from_floats({static_cast<int64_t>(values.size())}, values));
}

Tensor guarded_output(const core::Queue& queue, int64_t count) {
  const std::vector<float> values(static_cast<size_t>(count + kGuard), kUntouched);
  return Tensor::from_host(queue, HostTensor::from_floats({count + kGuard}, values));
}

// The elements before the guard; checks the guard.
std::vector<float> inside(const Tensor& output, int64_t count) {
  std::vector<float> values = output.to_host().to_floats();
  int touched = 0;
  for (size_t at = static_cast<size_t>(count); at < values.size(); ++at) {
    touched += values[at] == kUntouched ? 0 : 1;
  }
  CHECK(touched == 0);
  values.resize(static_cast<size_t>(count));
  return values;
}

AttnShape contiguous_shape(int64_t q_len, int64_t kv_len) {
  AttnShape shape{};
  shape.batch = 1;
  shape.heads = kHeads;
  shape.kv_heads = 1;
  shape.q_len = q_len;
  shape.kv_len = kv_len;
  shape.head_dim = shape.v_head_dim = kDim;
  shape.q_batch = shape.y_batch = kHeads * q_len * kDim;
  shape.q_head = shape.y_head = q_len * kDim;
  shape.k_batch = shape.v_batch = shape.k_head = shape.v_head = kv_len * kDim;
  shape.q_row = shape.k_row = shape.v_row = shape.y_row = kDim;
  shape.mask_row = kv_len;
  shape.mask_column = 1;
  shape.mask_columns = kv_len;
  shape.window_left = shape.window_right = -1;
  shape.scale = 0.5F;
  shape.mask_type = STORAGE_F32;
  shape.stage = STAGE_MASKED;
  return shape;
}

}  // namespace

TEST_CASE("attention guards: kernels neither read nor write past their tensors") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c;
  c.heads = kHeads;
  c.q_len = kQLen;
  c.kv_len = kKvLen;
  c.head_dim = c.v_head_dim = kDim;
  c.mask = MaskKind::kFloat;
  c.options.scale = 0.5;
  c.options.want_lse = true;
  c.options.scores = nn::ScoreStage::kMasked;
  const HostInputs inputs = make_inputs(c);
  const Tensor q = guarded_input(*queue, inputs.q);
  const Tensor k = guarded_input(*queue, inputs.k);
  const Tensor v = guarded_input(*queue, inputs.v);
  const Tensor mask = guarded_input(*queue, *inputs.mask);
  const std::vector<int64_t> sequence = {0, 0, kQLen, 0, kKvLen, 0};  // AttnSequence
  const Tensor sequences = Tensor::from_host(*queue, HostTensor::from_int64s({1, 6}, sequence));
  std::vector<float> no_terms;  // AttnHeadTerms of each head
  for (int64_t h = 0; h < kHeads; ++h) {
    no_terms.insert(no_terms.end(), {0.0F, -std::numeric_limits<float>::infinity()});
  }
  const Tensor terms = Tensor::from_host(*queue, HostTensor::from_floats({1, kHeads, 2}, no_terms));
  const AttnShape shape = contiguous_shape(kQLen, kKvLen);
  constexpr int64_t kRows = kHeads * kQLen;

  const core::KernelMacros naive;
  core::KernelMacros tiled = {{"HEAD_DIM", "5"}, {"V_HEAD_DIM", "5"}};
  struct Launch {
    std::string kernel;
    core::KernelMacros macros;
    std::vector<size_t> global, local;
    KernelEngine engine;
  };
  const size_t items = std::min<size_t>(64, queue->device().max_work_group_size);
  REQUIRE(items == 64);
  for (const Launch& launch :
       {Launch{"attention_naive", naive, {64, kHeads, 1}, {16, 1, 1}, kNaive},
        Launch{"attention_tiled", tiled, {2 * items, kHeads, 1}, {items, 1, 1}, kGroupTiles}}) {
    INFO(launch.kernel);
    const Tensor y = guarded_output(*queue, kRows * kDim);
    const Tensor lse = guarded_output(*queue, kRows);
    core::Kernel kernel = core::Kernel::get(*queue, launch.kernel, launch.kernel, launch.macros);
    kernel.arg(y).arg(lse).arg(q).arg(k).arg(v).arg(mask).arg(sequences).arg(terms).arg(shape);
    kernel.run(launch.global, launch.local);
    const HostOutputs want = run_kernel(*queue, launch.engine, inputs, c.options);
    CHECK(inside(y, kRows * kDim) == want.y.to_floats());
    CHECK(inside(lse, kRows) == want.lse->to_floats());
  }

  const Tensor scores = guarded_output(*queue, kRows * kKvLen);
  core::Kernel kernel = core::Kernel::get(*queue, "attention_scores", "attention_scores", {});
  kernel.arg(scores).arg(q).arg(k).arg(mask).arg(sequences).arg(terms).arg(shape);
  kernel.run({48, kHeads, 1}, {16, 1, 1});
  CHECK(inside(scores, kRows * kKvLen) ==
        run_kernel(*queue, kNaive, inputs, c.options).scores->to_floats());
}

TEST_CASE("attention guards: joining past and new keys writes present alone") {
  const auto queue = require_device_queue();
  if (!queue) {
    return;
  }
  AttentionCase c;
  c.q_len = 3;
  c.kv_len = 4;
  c.past_len = 7;
  c.head_dim = c.v_head_dim = kDim;
  const HostInputs inputs = make_inputs(c);
  constexpr int64_t kCount = 11 * kDim;
  KvConcatShape shape{};
  shape.kv_heads = 1;
  shape.past_len = 7;
  shape.kv_len = 11;
  shape.dim = kDim;
  shape.past_batch = shape.past_head = 7 * kDim;
  shape.fresh_batch = shape.fresh_head = 4 * kDim;
  shape.past_row = shape.fresh_row = kDim;
  shape.count = kCount;
  const Tensor present = guarded_output(*queue, kCount);
  core::Kernel kernel = core::Kernel::get(*queue, "kv_concat", "kv_concat", {});
  kernel.arg(present)
      .arg(guarded_input(*queue, *inputs.past_k))
      .arg(guarded_input(*queue, inputs.k))
      .arg(shape);
  kernel.run({64}, {64});
  CHECK(inside(present, kCount) == run_reference(inputs, c.options).present_k.to_floats());
}

}  // namespace netcl::tests
