// SPDX-License-Identifier: Apache-2.0
#include "support/attention_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "nn/attention_problem.h"
#include "nn/present.h"

namespace netcl::tests {

namespace {

using core::DType;
using core::HostTensor;
using core::Shape;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

int64_t pick(base::Rng& rng, const std::vector<int64_t>& values) {
  return values[rng.below(values.size())];
}

bool chance(base::Rng& rng, double probability) {
  return rng.uniform() < probability;
}

// Shape of q, k or v in a layout.
Shape shape_in(nn::Layout layout, int64_t batch, int64_t heads, int64_t length, int64_t width) {
  if (layout == nn::Layout::kBhsd) {
    return {batch, heads, length, width};
  }
  if (layout == nn::Layout::kBshd) {
    return {batch, length, heads, width};
  }
  return {batch, length, heads * width};
}

HostTensor normal_tensor(base::Rng& rng, DType dtype, const Shape& shape) {
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (double& value : values) {
    value = rng.normal();
  }
  return HostTensor::from_doubles(shape, values).to(dtype);
}

HostTensor make_mask(base::Rng& rng, const AttentionCase& c) {
  const int64_t keys = c.kv_len + std::max<int64_t>(c.past_len, 0);
  const int64_t columns = c.mask_columns < 0 ? keys : c.mask_columns;
  const int64_t full[] = {c.batch, c.mask_broadcast_heads ? 1 : c.heads,
                          c.mask_broadcast_rows ? 1 : c.q_len, columns};
  const Shape shape(std::span<const int64_t>(full + (4 - c.mask_rank), c.mask_rank));
  std::vector<double> values(static_cast<size_t>(shape.count()));
  const size_t width = static_cast<size_t>(columns);
  for (size_t at = 0; at < values.size(); at += width) {
    const bool hide_all = chance(rng, 0.125);
    for (size_t j = 0; j < width; ++j) {
      if (c.mask == MaskKind::kBool) {
        values[at + j] = !hide_all && chance(rng, 0.7) ? 1 : 0;
      } else {
        values[at + j] = hide_all || chance(rng, 0.2) ? kMinusInfinity : rng.normal();
      }
    }
  }
  return HostTensor::from_doubles(shape, values)
      .to(c.mask == MaskKind::kBool ? DType::kBool : c.mask_dtype);
}

// Elements of a call as floats, and where keys and values lie.
struct FloatOperands {
  std::vector<float> q, k, v, mask;
  nn::HeadStrides k_strides, v_strides;
};

// One score row in float, at every stage.
struct FloatRow {
  explicit FloatRow(size_t keys) : raw(keys), capped(keys), masked(keys), weights(keys) {}
  std::vector<float> raw, capped, masked, weights;
  float lse = kMinusInfinity;

  const std::vector<float>& stage(nn::ScoreStage stage) const {
    const std::vector<float>* const stages[] = {&raw, &raw, &capped, &masked, &weights};
    return *stages[static_cast<size_t>(stage)];
  }
};

float float_bias(const nn::AttentionProblem& problem, const std::vector<float>& mask, int64_t b,
                 int64_t h, int64_t i, int64_t j) {
  if (!problem.has_mask) {
    return 0;
  }
  if (j >= problem.mask_columns) {
    return kMinusInfinity;
  }
  const float value = mask[static_cast<size_t>(problem.mask.at(b, h, i) + j)];
  return problem.mask_is_bool ? (value != 0 ? 0.0F : kMinusInfinity) : value;
}

// Scores and weights of query row [h, i] of sequence s.
void fill_float_row(const nn::AttentionProblem& problem, const FloatOperands& x, int64_t s,
                    int64_t h, int64_t i, FloatRow& row) {
  const nn::Sequence& sequence = problem.sequences[static_cast<size_t>(s)];
  const int64_t b = sequence.batch;
  const float scale = static_cast<float>(problem.scale);
  const float softcap = static_cast<float>(problem.softcap);
  const float* const q = x.q.data() + problem.q.at(b, h, i);
  const float sink = problem.sink(h);
  float highest = sink;
  for (int64_t j = 0; j < problem.kv_len; ++j) {
    const float* const k = x.k.data() + x.k_strides.at(b, problem.kv_head_of(h), j);
    float dot = 0;
    for (int64_t d = 0; d < problem.head_dim; ++d) {
      dot += q[d] * k[d];
    }
    const size_t at = static_cast<size_t>(j);
    row.raw[at] = dot * scale;
    row.capped[at] = softcap > 0 ? softcap * std::tanh(row.raw[at] / softcap) : row.raw[at];
    const float bias = float_bias(problem, x.mask, b, h, i, j);
    const bool allowed = j >= problem.key_begin(s, i) && j < problem.key_end(s, i);
    const float distance = static_cast<float>(std::abs(i + sequence.offset - j));
    row.masked[at] = allowed && bias != kMinusInfinity
                         ? row.capped[at] - problem.slope(s, h) * distance + bias
                         : kMinusInfinity;
    highest = std::max(highest, row.masked[at]);
  }
  float sum = sink == kMinusInfinity ? 0 : std::exp(sink - highest);
  for (size_t j = 0; j < row.masked.size(); ++j) {
    row.weights[j] = row.masked[j] == kMinusInfinity ? 0 : std::exp(row.masked[j] - highest);
    sum += row.weights[j];
  }
  row.lse = sum > 0 ? highest + std::log(sum) : kMinusInfinity;
  for (float& weight : row.weights) {
    weight = sum > 0 ? weight / sum : 0;
  }
}

FloatOperands float_operands(const nn::AttentionProblem& problem, const HostInputs& inputs,
                             HostOutputs& out) {
  FloatOperands x;
  x.q = inputs.q.to_floats();
  x.k_strides = problem.k;
  x.v_strides = problem.v;
  if (problem.has_past) {
    out.present_k = HostTensor(inputs.k.dtype(), problem.present_k_shape());
    out.present_v = HostTensor(inputs.v.dtype(), problem.present_v_shape());
    nn::join_past(*inputs.past_k, inputs.k, problem.k, *out.present_k);
    nn::join_past(*inputs.past_v, inputs.v, problem.v, *out.present_v);
    x.k_strides = nn::contiguous_strides(problem.kv_heads, problem.kv_len, problem.head_dim);
    x.v_strides = nn::contiguous_strides(problem.kv_heads, problem.kv_len, problem.v_head_dim);
  }
  x.k = out.present_k.value_or(inputs.k).to_floats();
  x.v = out.present_v.value_or(inputs.v).to_floats();
  if (inputs.mask.has_value()) {
    x.mask = inputs.mask->to_floats();
  }
  return x;
}

nn::AttentionShapes shapes_of(const HostInputs& inputs) {
  nn::AttentionShapes shapes{inputs.q.shape(), inputs.k.shape(), inputs.v.shape(), {}, {}, {}, {}};
  if (inputs.mask.has_value()) {
    shapes.mask = inputs.mask->shape();
    shapes.mask_dtype = inputs.mask->dtype();
  }
  if (inputs.past_k.has_value()) {
    shapes.past_k = inputs.past_k->shape();
    shapes.past_v = inputs.past_v->shape();
  }
  shapes.alibi_slopes = inputs.alibi_slopes;
  shapes.sinks = inputs.sinks;
  shapes.cu_seqlens_q = inputs.cu_seqlens_q;
  shapes.cu_seqlens_k = inputs.cu_seqlens_k;
  return shapes;
}

core::Queue host_queue() {
  static const core::Queue queue = core::DeviceManager::open("host").queue;
  return queue;
}

// What rounding may do to a value that the plain computation got right by luck.
double rounding_floor(const HostTensor& values, DType dtype) {
  double largest = 0;
  for (const double value : values.to_doubles()) {
    if (std::isfinite(value)) {
      largest = std::max(largest, std::abs(value));
    }
  }
  const int bits = dtype == DType::kF16 ? 10 : dtype == DType::kBF16 ? 7 : 23;
  return std::max(std::ldexp(largest, 1 - bits), std::ldexp(std::max(1.0, largest), 2 - 23));
}

std::string judge_one(const char* name, const HostTensor& got, const HostTensor& want,
                      const HostTensor& plain) {
  const Difference ours = difference(got, want);
  const Difference yardstick = difference(plain, want);
  const double allowed = 2 * yardstick.error + rounding_floor(want, got.dtype());
  if (std::isfinite(yardstick.error) && ours.error <= allowed) {
    return "";
  }
  std::ostringstream out;
  out << name << ": error " << ours.error << " above " << allowed << " (plain float "
      << yardstick.error << "); " << ours.text;
  return out.str();
}

}  // namespace

std::string AttentionCase::text() const {
  std::ostringstream out;
  out << "seed " << seed << " B " << batch << " H " << heads << " G " << kv_heads << " Tq " << q_len
      << " Tk " << kv_len << " past " << past_len << " D " << head_dim << " Dv " << v_head_dim
      << " q " << core::dtype_name(q_dtype) << " kv " << core::dtype_name(kv_dtype) << " mask "
      << static_cast<int>(mask) << " rank " << mask_rank << (mask_broadcast_rows ? " rows=1" : "")
      << (mask_broadcast_heads ? " heads=1" : "") << " columns " << mask_columns << " causal "
      << options.causal << " alignment " << static_cast<int>(options.alignment) << " window "
      << options.window_left << ',' << options.window_right << " softcap " << options.softcap
      << " layout " << static_cast<int>(options.layout) << " scores "
      << static_cast<int>(options.scores) << " kernel " << options.kernel << " kv_lens";
  for (const int64_t length : kv_lens) {
    out << ' ' << length;
  }
  out << " offsets";
  for (const int64_t offset : options.offsets) {
    out << ' ' << offset;
  }
  out << (alibi ? alibi_by_batch ? " alibi by batch" : " alibi" : "") << (sinks ? " sinks" : "");
  for (const std::vector<int64_t>* bounds : {&cu_seqlens_q, &cu_seqlens_k}) {
    out << (bounds == &cu_seqlens_q ? " cu_seqlens_q" : " cu_seqlens_k");
    for (const int64_t bound : *bounds) {
      out << ' ' << bound;
    }
  }
  return out.str();
}

// Bounds of `count` sequences, empty ones among them, in `total` rows.
std::vector<int64_t> random_bounds(base::Rng& rng, size_t count, int64_t total) {
  std::vector<int64_t> bounds = {0, total};
  while (bounds.size() <= count) {
    bounds.push_back(static_cast<int64_t>(rng.below(static_cast<uint64_t>(total) + 1)));
  }
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

// Makes packed sequences of the case: one batch item, no past and no key lengths.
void pack_sequences(base::Rng& rng, AttentionCase& c) {
  const size_t count = 1 + rng.below(5);
  c.batch = 1;
  c.past_len = -1;
  c.kv_lens.clear();
  c.mask_columns = std::min(c.mask_columns, c.kv_len);
  c.cu_seqlens_q = random_bounds(rng, count, c.q_len);
  c.cu_seqlens_k = random_bounds(rng, count, c.kv_len);
  if (!c.options.offsets.empty()) {
    c.options.offsets.resize(chance(rng, 0.5) ? 1 : count, 2);
  }
}

AttentionCase random_attention_case(base::Rng& rng) {
  static const std::vector<int64_t> kLengths = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129};
  static const std::vector<int64_t> kWidths = {1, 2, 3, 8, 16, 17, 20, 32, 33, 40, 64, 65, 96};
  AttentionCase c;
  c.seed = rng.next();
  c.batch = pick(rng, {1, 1, 2, 3});
  c.kv_heads = pick(rng, {1, 2, 3});
  c.heads = c.kv_heads * pick(rng, {1, 2, 3});
  c.q_len = pick(rng, kLengths);
  c.kv_len = chance(rng, 0.5) ? c.q_len : pick(rng, kLengths);
  c.past_len = chance(rng, 0.25) ? pick(rng, {0, 1, 7, 64}) : -1;
  c.head_dim = pick(rng, kWidths);
  c.v_head_dim = chance(rng, 0.7) ? c.head_dim : pick(rng, kWidths);
  const std::vector<DType> types = {DType::kF32, DType::kF32, DType::kF16, DType::kBF16};
  c.q_dtype = types[rng.below(types.size())];
  c.kv_dtype = chance(rng, 0.8) ? c.q_dtype : types[rng.below(types.size())];
  const int64_t keys = c.kv_len + std::max<int64_t>(c.past_len, 0);
  c.mask = static_cast<MaskKind>(pick(rng, {0, 0, 1, 2}));
  c.mask_dtype = types[rng.below(types.size())];
  c.mask_rank = static_cast<size_t>(pick(rng, {2, 3, 4}));
  c.mask_broadcast_rows = chance(rng, 0.2);
  c.mask_broadcast_heads = chance(rng, 0.4);
  c.mask_columns = chance(rng, 0.2) ? static_cast<int64_t>(rng.below(keys) + 1) : -1;
  if (chance(rng, 0.3)) {
    for (int64_t b = 0; b < c.batch; ++b) {
      c.kv_lens.push_back(static_cast<int64_t>(rng.below(keys + 1)));
    }
  }
  nn::AttentionOptions& options = c.options;
  options.causal = chance(rng, 0.5);
  options.alignment = static_cast<nn::Alignment>(pick(rng, {0, 0, 1, 2}));
  if (options.alignment == nn::Alignment::kExplicit) {
    const int64_t count = chance(rng, 0.5) ? 1 : c.batch;
    for (int64_t b = 0; b < count; ++b) {
      options.offsets.push_back(static_cast<int64_t>(rng.below(2 * keys + 1)) - keys);
    }
  }
  options.window_left = chance(rng, 0.3) ? pick(rng, {0, 1, 2, 20, 64}) : -1;
  options.window_right = chance(rng, 0.3) ? pick(rng, {0, 1, 3, 40}) : -1;
  options.softcap = chance(rng, 0.3) ? 1.5 : 0;
  if (chance(rng, 0.3)) {
    options.scale = 0.3;
  }
  options.layout = static_cast<nn::Layout>(pick(rng, {0, 0, 1, 2}));
  if (options.layout == nn::Layout::kPacked) {
    options.heads = c.heads;
    options.kv_heads = c.kv_heads;
  }
  options.want_lse = chance(rng, 0.5);
  options.scores = static_cast<nn::ScoreStage>(pick(rng, {0, 0, 0, 1, 2, 3, 4}));
  c.sinks = chance(rng, 0.25);
  c.alibi = chance(rng, 0.25);
  c.alibi_by_batch = c.alibi && chance(rng, 0.5);
  if (chance(rng, 0.25)) {
    pack_sequences(rng, c);
  }
  return c;
}

HostInputs make_inputs(const AttentionCase& c) {
  base::Rng rng(c.seed);
  const nn::Layout layout = c.options.layout;
  HostInputs inputs;
  inputs.q = normal_tensor(rng, c.q_dtype, shape_in(layout, c.batch, c.heads, c.q_len, c.head_dim));
  inputs.k =
      normal_tensor(rng, c.kv_dtype, shape_in(layout, c.batch, c.kv_heads, c.kv_len, c.head_dim));
  inputs.v =
      normal_tensor(rng, c.kv_dtype, shape_in(layout, c.batch, c.kv_heads, c.kv_len, c.v_head_dim));
  if (c.past_len >= 0) {
    inputs.past_k = normal_tensor(rng, c.kv_dtype, {c.batch, c.kv_heads, c.past_len, c.head_dim});
    inputs.past_v = normal_tensor(rng, c.kv_dtype, {c.batch, c.kv_heads, c.past_len, c.v_head_dim});
  }
  if (c.mask != MaskKind::kNone) {
    inputs.mask = make_mask(rng, c);
  }
  inputs.kv_lens = c.kv_lens;
  const bool is_packed = !c.cu_seqlens_q.empty();
  const int64_t sequences = is_packed ? static_cast<int64_t>(c.cu_seqlens_q.size()) - 1 : c.batch;
  for (int64_t at = 0; c.alibi && at < (c.alibi_by_batch ? sequences : 1) * c.heads; ++at) {
    inputs.alibi_slopes.push_back(static_cast<float>(2 * rng.uniform() - 1));
  }
  for (int64_t h = 0; c.sinks && h < c.heads; ++h) {
    inputs.sinks.push_back(chance(rng, 0.125) ? kMinusInfinity : static_cast<float>(rng.normal()));
  }
  inputs.cu_seqlens_q = c.cu_seqlens_q;
  inputs.cu_seqlens_k = c.cu_seqlens_k;
  return inputs;
}

nn::AttentionInputs upload(const core::Queue& queue, const HostInputs& inputs) {
  nn::AttentionInputs up{core::Tensor::from_host(queue, inputs.q),
                         core::Tensor::from_host(queue, inputs.k),
                         core::Tensor::from_host(queue, inputs.v),
                         {},
                         {},
                         {},
                         inputs.kv_lens,
                         inputs.alibi_slopes,
                         inputs.sinks,
                         inputs.cu_seqlens_q,
                         inputs.cu_seqlens_k};
  if (inputs.mask.has_value()) {
    up.mask = core::Tensor::from_host(queue, *inputs.mask);
  }
  if (inputs.past_k.has_value()) {
    up.past_k = core::Tensor::from_host(queue, *inputs.past_k);
  }
  if (inputs.past_v.has_value()) {
    up.past_v = core::Tensor::from_host(queue, *inputs.past_v);
  }
  return up;
}

HostOutputs download(const nn::AttentionOutputs& outputs) {
  HostOutputs down;
  down.y = outputs.y.to_host();
  const auto copy = [](const std::optional<core::Tensor>& from, std::optional<HostTensor>& to) {
    if (from.has_value()) {
      to = from->to_host();
    }
  };
  copy(outputs.lse, down.lse);
  copy(outputs.scores, down.scores);
  copy(outputs.present_k, down.present_k);
  copy(outputs.present_v, down.present_v);
  return down;
}

HostOutputs run_attention(const core::Queue& queue, const HostInputs& inputs,
                          const nn::AttentionOptions& options) {
  return download(nn::attention(upload(queue, inputs), options));
}

nn::ReferenceOutputs run_reference(const HostInputs& inputs, const nn::AttentionOptions& options) {
  return nn::attention_reference(upload(host_queue(), inputs), options);
}

HostOutputs plain_float_attention(const HostInputs& inputs, const nn::AttentionOptions& options) {
  const nn::AttentionProblem problem =
      nn::make_attention_problem(shapes_of(inputs), options, inputs.kv_lens);
  HostOutputs out;
  const FloatOperands x = float_operands(problem, inputs, out);
  std::vector<float> y(static_cast<size_t>(problem.y_shape.count()));
  std::vector<float> lse(static_cast<size_t>(problem.lse_shape().count()));
  const size_t keys = static_cast<size_t>(problem.kv_len);
  std::vector<float> scores(options.scores == nn::ScoreStage::kNone ? 0 : lse.size() * keys);
  FloatRow row(keys);
  for (size_t s = 0; s < problem.sequences.size(); ++s) {
    const nn::Sequence& sequence = problem.sequences[s];
    const int64_t b = sequence.batch;
    for (int64_t h = 0; h < problem.heads; ++h) {
      for (int64_t i = sequence.q_begin; i < sequence.q_end; ++i) {
        fill_float_row(problem, x, static_cast<int64_t>(s), h, i, row);
        float* const yi = y.data() + problem.y.at(b, h, i);
        for (int64_t j = 0; j < problem.kv_len; ++j) {
          const float weight = row.weights[static_cast<size_t>(j)];
          const float* const v = x.v.data() + x.v_strides.at(b, problem.kv_head_of(h), j);
          for (int64_t d = 0; d < problem.v_head_dim && weight != 0; ++d) {
            yi[d] += weight * v[d];
          }
        }
        const auto at = static_cast<std::ptrdiff_t>((b * problem.heads + h) * problem.q_len + i);
        lse[static_cast<size_t>(at)] = row.lse;
        const std::vector<float>& stage = row.stage(options.scores);
        if (options.scores != nn::ScoreStage::kNone) {
          std::copy(stage.begin(), stage.end(), scores.begin() + at * problem.kv_len);
        }
      }
    }
  }
  out.y = HostTensor::from_floats(problem.y_shape, y).to(inputs.q.dtype());
  out.lse = HostTensor::from_floats(problem.lse_shape(), lse);
  if (options.scores != nn::ScoreStage::kNone) {
    out.scores = HostTensor::from_floats(problem.scores_shape(), scores);
  }
  return out;
}

Difference difference(const HostTensor& got, const HostTensor& want) {
  Difference worst;
  if (!(got.shape() == want.shape())) {
    worst.error = std::numeric_limits<double>::infinity();
    worst.text = "shape " + got.shape().text() + ", want " + want.shape().text();
    return worst;
  }
  const std::vector<double> a = got.to_doubles();
  const std::vector<double> b = want.to_doubles();
  for (size_t i = 0; i < a.size(); ++i) {
    double error = 0;
    if (std::isinf(a[i]) || std::isinf(b[i])) {
      error = a[i] == b[i] ? 0 : std::numeric_limits<double>::infinity();
    } else {
      error = std::abs(a[i] - b[i]);
      error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    if (worst.index < 0 || error > worst.error) {
      worst.error = error;
      worst.index = static_cast<int64_t>(i);
      std::ostringstream out;
      out << "element " << i << ": got " << a[i] << ", want " << b[i];
      worst.text = out.str();
    }
  }
  return worst;
}

std::string judge(const HostOutputs& got, const nn::ReferenceOutputs& want,
                  const HostOutputs& plain) {
  std::string fault = judge_one("y", got.y, want.y, plain.y);
  if (fault.empty() && got.lse.has_value()) {
    fault = judge_one("lse", *got.lse, want.lse, *plain.lse);
  }
  if (fault.empty() && got.scores.has_value()) {
    fault = judge_one("scores", *got.scores, want.scores, *plain.scores);
  }
  if (fault.empty() && got.present_k.has_value()) {
    fault = same_bits(*got.present_k, want.present_k);
  }
  if (fault.empty() && got.present_v.has_value()) {
    fault = same_bits(*got.present_v, want.present_v);
  }
  return fault;
}

std::string same_bits(const HostTensor& got, const HostTensor& want) {
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape())) {
    return std::string(core::dtype_name(got.dtype())) + ' ' + got.shape().text() + ", want " +
           std::string(core::dtype_name(want.dtype())) + ' ' + want.shape().text();
  }
  const size_t element_bytes = core::dtype_size(got.dtype());
  for (size_t i = 0; i < static_cast<size_t>(got.count()); ++i) {
    if (std::memcmp(got.data() + i * element_bytes, want.data() + i * element_bytes,
                    element_bytes) != 0) {
      return "element " + std::to_string(i) + ": got " + std::to_string(got.to_doubles()[i]) +
             ", want " + std::to_string(want.to_doubles()[i]);
    }
  }
  return "";
}

}  // namespace netcl::tests
