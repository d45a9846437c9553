// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/attention_problem.h"
#include "nn/present.h"

namespace netcl::nn {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Everything in double, and where it lies.
struct Operands {
  std::vector<double> q, k, v, mask;
  HeadStrides k_strides, v_strides;
};

// One row of scores at each stage, and which keys take part.
struct Row {
  std::vector<double> raw, capped, masked, weights;
  std::vector<bool> visible;
  double lse = kMinusInfinity;
};

// What the mask adds to a score: 0 for true, -inf for false and past its last column.
double mask_bias(const AttentionProblem& problem, const Operands& x, int64_t b, int64_t h,
                 int64_t i, int64_t j) {
  if (!problem.has_mask) {
    return 0;
  }
  if (j >= problem.mask_columns) {
    return kMinusInfinity;
  }
  const double value = x.mask[static_cast<size_t>(problem.mask.at(b, h, i) + j)];
  if (problem.mask_is_bool) {
    return value != 0 ? 0 : kMinusInfinity;
  }
  return value;
}

// Scores of row i of sequence s.
void compute_scores(const AttentionProblem& problem, const Operands& x, int64_t s, int64_t h,
                    int64_t i, Row& row) {
  const Sequence& sequence = problem.sequences[static_cast<size_t>(s)];
  const int64_t b = sequence.batch;
  const int64_t g = problem.kv_head_of(h);
  const double slope = static_cast<double>(problem.slope(s, h));
  const double* q = x.q.data() + problem.q.at(b, h, i);
  const int64_t begin = problem.key_begin(s, i);
  const int64_t end = problem.key_end(s, i);
  for (int64_t j = 0; j < problem.kv_len; ++j) {
    const double* k = x.k.data() + x.k_strides.at(b, g, j);
    double dot = 0;
    for (int64_t d = 0; d < problem.head_dim; ++d) {
      dot += q[d] * k[d];
    }
    const size_t at = static_cast<size_t>(j);
    row.raw[at] = problem.scale * dot;
    row.capped[at] = problem.softcap > 0
                         ? problem.softcap * std::tanh(row.raw[at] / problem.softcap)
                         : row.raw[at];
    const double bias = mask_bias(problem, x, b, h, i, j);
    const bool allowed = j >= begin && j < end && bias != kMinusInfinity;
    const double distance = std::abs(static_cast<double>(i + sequence.offset - j));
    row.masked[at] = allowed ? row.capped[at] - slope * distance + bias : kMinusInfinity;
    row.visible[at] = row.masked[at] != kMinusInfinity;
  }
}

// `sink` is -inf where there is none.
void compute_weights(Row& row, double sink) {
  double highest = sink;
  bool any = false;
  for (size_t j = 0; j < row.masked.size(); ++j) {
    any = any || row.visible[j];
    highest = row.visible[j] ? std::fmax(highest, row.masked[j]) : highest;
  }
  row.lse = sink;
  double sum = sink == kMinusInfinity ? 0 : std::exp(sink - highest);
  for (size_t j = 0; j < row.masked.size(); ++j) {
    row.weights[j] = row.visible[j] ? std::exp(row.masked[j] - highest) : 0;
    sum += row.weights[j];
  }
  if (!any) {
    return;
  }
  for (double& weight : row.weights) {
    weight /= sum;
  }
  row.lse = highest + std::log(sum);
}

// The weights that multiply V; an invisible key's value is not touched.
void compute_output(const AttentionProblem& problem, const Operands& x, int64_t b, int64_t h,
                    const Row& row, double* y) {
  const int64_t g = problem.kv_head_of(h);
  for (int64_t j = 0; j < problem.kv_len; ++j) {
    if (!row.visible[static_cast<size_t>(j)]) {
      continue;
    }
    const double* v = x.v.data() + x.v_strides.at(b, g, j);
    for (int64_t d = 0; d < problem.v_head_dim; ++d) {
      y[d] += row.weights[static_cast<size_t>(j)] * v[d];
    }
  }
}

const std::vector<double>& stage_of(const Row& row, ScoreStage stage) {
  switch (stage) {
    case ScoreStage::kRaw:
      return row.raw;
    case ScoreStage::kSoftcap:
      return row.capped;
    case ScoreStage::kMasked:
      return row.masked;
    default:
      return row.weights;
  }
}

Operands read_operands(const AttentionInputs& inputs, const AttentionProblem& problem,
                       ReferenceOutputs& outputs) {
  Operands x;
  x.q = inputs.q.to_host().to_doubles();
  x.k_strides = problem.k;
  x.v_strides = problem.v;
  const core::HostTensor k = inputs.k.to_host();
  const core::HostTensor v = inputs.v.to_host();
  if (problem.has_past) {
    outputs.present_k = core::HostTensor(k.dtype(), problem.present_k_shape());
    outputs.present_v = core::HostTensor(v.dtype(), problem.present_v_shape());
    join_past(inputs.past_k->to_host(), k, problem.k, outputs.present_k);
    join_past(inputs.past_v->to_host(), v, problem.v, outputs.present_v);
    x.k = outputs.present_k.to_doubles();
    x.v = outputs.present_v.to_doubles();
    x.k_strides = contiguous_strides(problem.kv_heads, problem.kv_len, problem.head_dim);
    x.v_strides = contiguous_strides(problem.kv_heads, problem.kv_len, problem.v_head_dim);
  } else {
    x.k = k.to_doubles();
    x.v = v.to_doubles();
  }
  if (problem.has_mask) {
    x.mask = inputs.mask->to_host().to_doubles();
  }
  return x;
}

}  // namespace

ReferenceOutputs attention_reference(const AttentionInputs& inputs, const AttentionOptions& options,
                                     const base::ProgressFn& progress) {
  const AttentionProblem problem = make_attention_problem(inputs, options, FloatTypes::kUpToF64);
  ReferenceOutputs outputs;
  const Operands x = read_operands(inputs, problem, outputs);
  outputs.y = core::HostTensor(core::DType::kF64, problem.y_shape);
  outputs.lse = core::HostTensor(core::DType::kF64, problem.lse_shape());
  if (problem.scores != ScoreStage::kNone) {
    outputs.scores = core::HostTensor(core::DType::kF64, problem.scores_shape());
  }
  if (outputs.lse.count() == 0) {
    return outputs;
  }
  const size_t keys = static_cast<size_t>(problem.kv_len);
  Row row;
  row.raw.resize(keys);
  row.capped.resize(keys);
  row.masked.resize(keys);
  row.weights.resize(keys);
  row.visible.resize(keys);
  double* const y = outputs.y.as<double>().data();
  uint64_t done = 0;
  for (size_t s = 0; s < problem.sequences.size(); ++s) {
    const Sequence& sequence = problem.sequences[s];
    const int64_t b = sequence.batch;
    for (int64_t h = 0; h < problem.heads; ++h) {
      for (int64_t i = sequence.q_begin; i < sequence.q_end; ++i) {
        const size_t row_index = static_cast<size_t>((b * problem.heads + h) * problem.q_len + i);
        compute_scores(problem, x, static_cast<int64_t>(s), h, i, row);
        compute_weights(row, static_cast<double>(problem.sink(h)));
        compute_output(problem, x, b, h, row, y + problem.y.at(b, h, i));
        outputs.lse.as<double>()[row_index] = row.lse;
        if (problem.scores != ScoreStage::kNone) {
          const std::vector<double>& from = stage_of(row, problem.scores);
          std::copy(from.begin(), from.end(),
                    outputs.scores.as<double>().data() + row_index * keys);
        }
        if (progress) {
          progress({"reference", "rows", ++done, static_cast<uint64_t>(outputs.lse.count())});
        }
      }
    }
  }
  return outputs;
}

}  // namespace netcl::nn
