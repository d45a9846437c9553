// SPDX-License-Identifier: Apache-2.0
#include "attn/attention_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nn/attention_reference.h"

namespace netcl::attn {

namespace {

using core::HostTensor;
using nn::ScoreStage;

// Rows [0, rows) of one head of a tensor as [rows, width].
std::vector<double> head_rows(const std::vector<double>& all, const nn::HeadStrides& strides,
                              int64_t batch, int64_t head, int64_t rows, int64_t width) {
  std::vector<double> out;
  for (int64_t row = 0; row < rows; ++row) {
    const auto first = static_cast<std::ptrdiff_t>(batch * strides.batch + head * strides.head +
                                                   row * strides.row);
    out.insert(out.end(), all.begin() + first, all.begin() + first + width);
  }
  return out;
}

// Matrix `index` of a stack of q_len x kv_len matrices.
std::vector<double> matrix_of(const std::vector<double>& all, int64_t index, int64_t size) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

PassOutputs run_stage(const AttentionPass& pass, ScoreStage stage, bool unscaled) {
  nn::AttentionOptions options = pass.options;
  options.scores = stage;
  if (unscaled) {
    options.scale = 1;
  }
  return run_pass(pass, options);
}

}  // namespace

PassOutputs run_pass(const AttentionPass& pass, const nn::AttentionOptions& options,
                     RunTimes* times, const base::ProgressFn& progress) {
  RunTimes ignored;
  RunTimes& taken = times == nullptr ? ignored : *times;
  const core::Queue& queue = pass.inputs.q.queue();
  PassOutputs outputs;
  if (pass.reference) {
    std::optional<nn::ReferenceOutputs> exact;
    taken =
        timed_run(queue, [&] { exact = nn::attention_reference(pass.inputs, options, progress); });
    taken.kernel = "reference";
    outputs.y = std::move(exact->y);
    if (options.want_lse) {
      outputs.lse = std::move(exact->lse);
    }
    if (options.scores != ScoreStage::kNone) {
      outputs.scores = std::move(exact->scores);
    }
    return outputs;
  }
  std::optional<nn::AttentionOutputs> computed;
  taken = timed_run(queue, [&] { computed = nn::attention(pass.inputs, options); });
  outputs.y = computed->y.to_host();
  if (computed->lse.has_value()) {
    outputs.lse = computed->lse->to_host();
  }
  if (computed->scores.has_value()) {
    outputs.scores = computed->scores->to_host();
  }
  return outputs;
}

HostTensor scores_at(const AttentionPass& pass, ScoreStage stage) {
  return std::move(*run_stage(pass, stage, false).scores);
}

std::string mask_text(const nn::AttentionOptions& options, const nn::AttentionInputs& inputs) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (options.causal) {
    switch (options.alignment) {
      case nn::Alignment::kBottomRight:
        add("causal, bottom-right");
        break;
      case nn::Alignment::kTopLeft:
        add("causal, top-left");
        break;
      case nn::Alignment::kExplicit:
        add("causal, offset " + (options.offsets.size() == 1 ? std::to_string(options.offsets[0])
                                                             : std::string("by batch")));
        break;
    }
  }
  if (options.window_left >= 0 || options.window_right >= 0) {
    const auto side = [](int64_t keys) { return std::to_string(std::max<int64_t>(keys, -1)); };
    add("window " + side(options.window_left) + "," + side(options.window_right));
  }
  if (inputs.mask.has_value()) {
    add(inputs.mask->dtype() == core::DType::kBool ? "boolean mask" : "additive mask");
  }
  if (!inputs.kv_lens.empty()) {
    add("key lengths");
  }
  if (!inputs.cu_seqlens_q.empty()) {
    add("packed sequences");
  }
  return text;
}

Explanation explain_pass(const AttentionPass& pass) {
  const nn::AttentionProblem& problem = pass.problem;
  Explanation all;
  all.batch = problem.batch;
  all.heads = problem.heads;
  all.q_len = problem.q_len;
  all.kv_len = problem.kv_len;
  all.head_dim = problem.head_dim;
  all.v_head_dim = problem.v_head_dim;
  all.scale = problem.scale;
  all.default_scale = !pass.options.scale.has_value();
  all.softcap = problem.softcap;
  all.mask = mask_text(pass.options, pass.inputs);
  all.alibi = !problem.slopes.empty();

  const std::vector<double> raw = run_stage(pass, ScoreStage::kRaw, true).scores->to_doubles();
  const std::vector<double> scaled = scores_at(pass, ScoreStage::kRaw).to_doubles();
  const std::vector<double> masked = scores_at(pass, ScoreStage::kMasked).to_doubles();
  std::vector<double> softcap;
  if (problem.softcap != 0) {
    softcap = scores_at(pass, ScoreStage::kSoftcap).to_doubles();
  }
  const PassOutputs last = run_stage(pass, ScoreStage::kWeights, false);
  const std::vector<double> weights = last.scores->to_doubles();
  const std::vector<double> y = last.y.to_doubles();
  const std::vector<double> v = pass.inputs.v.to_host().to_doubles();

  const int64_t size = problem.q_len * problem.kv_len;
  const int64_t group = problem.heads / problem.kv_heads;
  for (int64_t index = 0; index < problem.batch * problem.heads; ++index) {
    ExplainPart part;
    part.batch = index / problem.heads;
    part.head = index % problem.heads;
    part.raw = matrix_of(raw, index, size);
    part.scaled = matrix_of(scaled, index, size);
    if (!softcap.empty()) {
      part.softcap = matrix_of(softcap, index, size);
    }
    part.masked = matrix_of(masked, index, size);
    part.weights = matrix_of(weights, index, size);
    part.sink = static_cast<double>(problem.sink(part.head));
    part.v =
        head_rows(v, problem.v, part.batch, part.head / group, problem.kv_len, problem.v_head_dim);
    part.y = head_rows(y, problem.y, part.batch, part.head, problem.q_len, problem.v_head_dim);
    all.parts.push_back(std::move(part));
  }
  return all;
}

Heatmap heatmap_of(const AttentionPass& pass) {
  const nn::AttentionProblem& problem = pass.problem;
  Heatmap map;
  map.heads = problem.heads;
  map.q_len = problem.q_len;
  map.kv_len = problem.kv_len;
  const auto count = static_cast<size_t>(problem.heads * problem.q_len * problem.kv_len);
  const std::vector<float> weights = scores_at(pass, ScoreStage::kWeights).to_floats();
  const std::vector<float> masked = scores_at(pass, ScoreStage::kMasked).to_floats();
  map.weights.assign(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(count));
  map.visible.resize(count);
  std::transform(masked.begin(), masked.begin() + static_cast<std::ptrdiff_t>(count),
                 map.visible.begin(), [](float score) {
                   return score == -std::numeric_limits<float>::infinity() ? uint8_t{0}
                                                                           : uint8_t{1};
                 });
  return map;
}

}  // namespace netcl::attn
