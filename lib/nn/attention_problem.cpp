// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"

namespace netcl::nn {

namespace {

using base::FormatError;
using base::UsageError;
using core::DType;
using core::Shape;

std::string number(int64_t value) {
  return std::to_string(value);
}

HeadStrides interleaved_strides(int64_t heads, int64_t length, int64_t width) {
  return {length * heads * width, width, heads * width};
}

// An empty tensor has strides of 0: products of its other axes may pass int64_t.
HeadStrides strides_for(const Shape& shape, Layout layout, int64_t heads, int64_t length,
                        int64_t width) {
  if (shape.count() == 0) {
    return {};
  }
  return layout == Layout::kBhsd ? contiguous_strides(heads, length, width)
                                 : interleaved_strides(heads, length, width);
}

void check_rank(const Shape& shape, const std::string& place, size_t least, size_t most,
                std::string_view wanted) {
  if (shape.rank() < least || shape.rank() > most) {
    throw FormatError(place + " has shape " + shape.text() + "; this layout wants " +
                      std::string(wanted));
  }
}

// "attention: q [..] and k [..] disagree: head_dim 8 and 7"
[[noreturn]] void disagree(std::string_view a_name, const Shape& a, std::string_view b_name,
                           const Shape& b, std::string_view what, int64_t a_value,
                           int64_t b_value) {
  throw FormatError("attention: " + std::string(a_name) + " " + a.text() + " and " +
                    std::string(b_name) + " " + b.text() + " disagree: " + std::string(what) + " " +
                    number(a_value) + " and " + number(b_value));
}

void check_options(const AttentionOptions& options) {
  // The engines compute in float: a factor past its range would turn every score into NaN.
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (options.scale.has_value() && !(std::abs(*options.scale) <= kLargest)) {
    throw UsageError("attention: scale is " + std::to_string(*options.scale) +
                     "; it must be finite in float");
  }
  if (!(options.softcap >= 0 && options.softcap <= kLargest)) {
    throw UsageError("attention: softcap is " + std::to_string(options.softcap) +
                     "; it must be finite in float and > 0, or 0 for none");
  }
  const bool has_explicit = options.alignment == Alignment::kExplicit;
  if (has_explicit && options.offsets.empty()) {
    throw UsageError("attention: explicit alignment without offsets; give one, or one per batch");
  }
  if (!has_explicit && !options.offsets.empty()) {
    throw UsageError("attention: offsets are given but the alignment is not explicit");
  }
  for (const int64_t offset : options.offsets) {
    if (offset < -kMaxLength || offset > kMaxLength) {
      throw UsageError("attention: causal offset " + number(offset) + " is out of range; allowed " +
                       number(-kMaxLength) + " to " + number(kMaxLength));
    }
  }
  if (options.layout == Layout::kPacked) {
    if (options.heads < 1 || options.kv_heads < 1) {
      throw UsageError("attention: packed layout with heads " + number(options.heads) +
                       " and kv_heads " + number(options.kv_heads) +
                       "; both must be given and at least 1");
    }
  } else if (options.heads != 0 || options.kv_heads != 0) {
    throw UsageError("attention: heads and kv_heads are for the packed layout only");
  }
}

void check_agreement(const AttentionShapes& shapes, const HeadView& q, const HeadView& k,
                     const HeadView& v) {
  if (shapes.q.rank() != shapes.k.rank()) {
    disagree("q", shapes.q, "k", shapes.k, "rank", static_cast<int64_t>(shapes.q.rank()),
             static_cast<int64_t>(shapes.k.rank()));
  }
  if (shapes.k.rank() != shapes.v.rank()) {
    disagree("k", shapes.k, "v", shapes.v, "rank", static_cast<int64_t>(shapes.k.rank()),
             static_cast<int64_t>(shapes.v.rank()));
  }
  if (q.batch != k.batch) {
    disagree("q", shapes.q, "k", shapes.k, "batch", q.batch, k.batch);
  }
  if (q.width != k.width) {
    disagree("q", shapes.q, "k", shapes.k, "head_dim", q.width, k.width);
  }
  if (k.batch != v.batch) {
    disagree("k", shapes.k, "v", shapes.v, "batch", k.batch, v.batch);
  }
  if (k.heads != v.heads) {
    disagree("k", shapes.k, "v", shapes.v, "kv_heads", k.heads, v.heads);
  }
  if (k.length != v.length) {
    disagree("k", shapes.k, "v", shapes.v, "kv_len", k.length, v.length);
  }
  if (q.heads % k.heads != 0) {
    throw FormatError("attention: q " + shapes.q.text() + " has " + number(q.heads) +
                      " heads, not a multiple of the " + number(k.heads) + " kv_heads of k " +
                      shapes.k.text());
  }
}

// Keys of the past that stand before the new ones; 0 without past.
int64_t past_length(const AttentionShapes& shapes, const HeadView& k, const HeadView& v) {
  if (shapes.past_k.has_value() != shapes.past_v.has_value()) {
    throw FormatError("attention: past_k and past_v must be given together");
  }
  if (!shapes.past_k.has_value()) {
    return 0;
  }
  const auto check = [](const Shape& past, std::string_view past_name, const HeadView& view,
                        const Shape& fresh, std::string_view fresh_name) {
    if (past.rank() != 4) {
      throw FormatError("attention: " + std::string(past_name) + " has shape " + past.text() +
                        "; wanted [batch, kv_heads, past_len, head_dim]");
    }
    const int64_t wanted[] = {view.batch, view.heads, past[2], view.width};
    constexpr std::string_view kAxes[] = {"batch", "kv_heads", "past_len", "head size"};
    for (size_t axis = 0; axis < 4; ++axis) {
      if (past[axis] != wanted[axis]) {
        disagree(past_name, past, fresh_name, fresh, kAxes[axis], past[axis], wanted[axis]);
      }
    }
    if (past[2] > kMaxLength - view.length) {
      disagree(past_name, past, fresh_name, fresh, "together too long:", past[2], view.length);
    }
  };
  check(*shapes.past_k, "past_k", k, shapes.k, "k");
  check(*shapes.past_v, "past_v", v, shapes.v, "v");
  if ((*shapes.past_k)[2] != (*shapes.past_v)[2]) {
    disagree("past_k", *shapes.past_k, "past_v", *shapes.past_v, "past_len", (*shapes.past_k)[2],
             (*shapes.past_v)[2]);
  }
  return (*shapes.past_k)[2];
}

// A sequence for each batch item, without offsets.
void resolve_batch(AttentionProblem& problem, const std::vector<int64_t>& kv_lens) {
  const size_t batch = static_cast<size_t>(problem.batch);
  if (!kv_lens.empty() && kv_lens.size() != batch) {
    throw FormatError("attention: " + std::to_string(kv_lens.size()) + " kv_lens for batch " +
                      number(problem.batch));
  }
  for (size_t b = 0; b < batch; ++b) {
    const int64_t keys = kv_lens.empty() ? problem.kv_len : kv_lens[b];
    if (keys < 0 || keys > problem.kv_len) {
      throw FormatError("attention: kv_lens[" + std::to_string(b) + "] is " + number(keys) +
                        "; allowed 0 to kv_len " + number(problem.kv_len));
    }
    problem.sequences.push_back({static_cast<int64_t>(b), 0, problem.q_len, 0, keys, 0});
  }
}

void check_bounds(const std::vector<int64_t>& bounds, int64_t total, const std::string& name,
                  const std::string& total_name) {
  const std::string place = "attention: " + name;
  if (bounds.front() != 0) {
    throw FormatError(place + "[0] is " + number(bounds.front()) + "; it must be 0");
  }
  for (size_t s = 1; s < bounds.size(); ++s) {
    if (bounds[s] < bounds[s - 1]) {
      throw FormatError(place + "[" + std::to_string(s) + "] is " + number(bounds[s]) +
                        ", less than the " + number(bounds[s - 1]) + " before it");
    }
  }
  if (bounds.back() != total) {
    throw FormatError(place + " ends at " + number(bounds.back()) + "; it must end at " +
                      total_name + " " + number(total));
  }
}

// A sequence for each packed one, without offsets.
void resolve_packed(AttentionProblem& problem, const AttentionShapes& shapes,
                    const std::vector<int64_t>& kv_lens) {
  const std::vector<int64_t>& q = shapes.cu_seqlens_q;
  const std::vector<int64_t>& k = shapes.cu_seqlens_k;
  if (q.size() != k.size()) {
    throw FormatError("attention: cu_seqlens_q has " + std::to_string(q.size()) +
                      " bounds and cu_seqlens_k " + std::to_string(k.size()) +
                      "; both must have one more than there are sequences");
  }
  if (!kv_lens.empty() || problem.has_past) {
    throw UsageError(std::string("attention: packed sequences with ") +
                     (problem.has_past ? "a past; their keys are all in k"
                                       : "kv_lens; cu_seqlens_k has their lengths"));
  }
  if (problem.batch != 1) {
    throw FormatError("attention: packed sequences in batch " + number(problem.batch) +
                      "; they lie one after the other in a batch of 1");
  }
  check_bounds(q, problem.q_len, "cu_seqlens_q", "q_len");
  check_bounds(k, problem.kv_len, "cu_seqlens_k", "kv_len");
  problem.is_packed = true;
  for (size_t s = 0; s + 1 < q.size(); ++s) {
    problem.sequences.push_back({0, q[s], q[s + 1], k[s], k[s + 1], 0});
  }
}

void resolve_sequences(AttentionProblem& problem, const AttentionShapes& shapes,
                       const AttentionOptions& options, const std::vector<int64_t>& kv_lens) {
  if (shapes.cu_seqlens_q.empty() && shapes.cu_seqlens_k.empty()) {
    resolve_batch(problem, kv_lens);
  } else {
    resolve_packed(problem, shapes, kv_lens);
  }
  const size_t count = problem.sequences.size();
  const bool is_explicit = options.alignment == Alignment::kExplicit;
  if (is_explicit && options.offsets.size() != 1 && options.offsets.size() != count) {
    throw FormatError(
        "attention: " + std::to_string(options.offsets.size()) + " causal offsets for " +
        (problem.is_packed ? std::to_string(count) + " packed sequences; give 1 or one for each"
                           : "batch " + number(problem.batch) + "; give 1 or one per batch"));
  }
  for (size_t s = 0; s < count; ++s) {
    Sequence& sequence = problem.sequences[s];
    int64_t offset = 0;
    if (options.alignment == Alignment::kBottomRight) {
      offset = (sequence.k_end - sequence.k_begin) - (sequence.q_end - sequence.q_begin);
    } else if (is_explicit) {
      offset = options.offsets[options.offsets.size() == 1 ? 0 : s];
    }
    sequence.offset = sequence.k_begin - sequence.q_begin + offset;
  }
}

// ALiBi slopes and sinks.
void resolve_head_terms(AttentionProblem& problem, const AttentionShapes& shapes) {
  const size_t heads = static_cast<size_t>(problem.heads);
  const size_t sequences = problem.sequences.size();
  const std::vector<float>& slopes = shapes.alibi_slopes;
  if (!slopes.empty() && slopes.size() != heads && slopes.size() != sequences * heads) {
    throw FormatError("attention: " + std::to_string(slopes.size()) + " ALiBi slopes for " +
                      number(problem.heads) + " heads and " +
                      (problem.is_packed ? std::to_string(sequences) + " packed sequences"
                                         : "batch " + number(problem.batch)) +
                      "; give one per head, or that for each " +
                      (problem.is_packed ? "sequence" : "batch item"));
  }
  for (size_t at = 0; at < slopes.size(); ++at) {
    // Times a distance of at most 2 * kMaxLength the slope stays finite in float.
    if (!(std::abs(slopes[at]) <= static_cast<float>(kMaxLength))) {
      throw FormatError("attention: ALiBi slope " + std::to_string(at) + " is " +
                        std::to_string(slopes[at]) + "; allowed -2^60 to 2^60");
    }
  }
  for (size_t s = 0; s < sequences && !slopes.empty(); ++s) {
    const auto first =
        slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() == heads ? 0 : s * heads);
    problem.slopes.insert(problem.slopes.end(), first, first + problem.heads);
  }
  if (!shapes.sinks.empty() && shapes.sinks.size() != heads) {
    throw FormatError("attention: " + std::to_string(shapes.sinks.size()) + " sinks for " +
                      number(problem.heads) + " heads");
  }
  for (size_t h = 0; h < shapes.sinks.size(); ++h) {
    if (!(shapes.sinks[h] <= std::numeric_limits<float>::max())) {
      throw FormatError("attention: sink " + std::to_string(h) + " is " +
                        std::to_string(shapes.sinks[h]) + "; allowed finite numbers and -inf");
    }
  }
  problem.sinks = shapes.sinks;
}

void resolve_mask(AttentionProblem& problem, const AttentionShapes& shapes) {
  const Shape& mask = *shapes.mask;
  const DType dtype = shapes.mask_dtype.value_or(DType::kBool);
  if (dtype != DType::kBool && dtype != DType::kF32 && dtype != DType::kF16 &&
      dtype != DType::kBF16) {
    throw FormatError("attention: mask has type " + std::string(core::dtype_name(dtype)) +
                      "; allowed bool, f32, f16 and bf16");
  }
  const std::string target = Shape{problem.batch, problem.heads, problem.q_len, 0}.text();
  if (mask.rank() < 2 || mask.rank() > 4) {
    throw FormatError("attention: mask has shape " + mask.text() +
                      "; wanted rank 2 to 4, right-aligned to [batch, heads, q_len, kv_len]");
  }
  problem.has_mask = true;
  problem.mask_is_bool = dtype == DType::kBool;
  problem.mask_columns = mask[mask.rank() - 1];
  if (problem.mask_columns > problem.kv_len) {
    throw FormatError("attention: mask " + mask.text() + " has " + number(problem.mask_columns) +
                      " columns but there are " + number(problem.kv_len) + " keys");
  }
  problem.mask.column = 1;
  const int64_t full[] = {problem.batch, problem.heads, problem.q_len};
  constexpr std::string_view kAxes[] = {"batch", "heads", "q_len"};
  int64_t* const strides[] = {&problem.mask.batch, &problem.mask.head, &problem.mask.row};
  int64_t stride = problem.mask_columns;
  for (size_t back = 2; back <= mask.rank(); ++back) {
    const int64_t size = mask[mask.rank() - back];
    const size_t axis = 4 - back;
    if (size != 1 && size != full[axis]) {
      throw FormatError("attention: mask " + mask.text() + " has " + number(size) + " for " +
                        std::string(kAxes[axis]) + " " + number(full[axis]) + "; allowed 1 or " +
                        number(full[axis]));
    }
    if (mask.count() != 0) {
      *strides[axis] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
}

Shape shape_of_y(const AttentionProblem& problem, const Shape& q, Layout layout) {
  std::vector<int64_t> dims(q.dims().begin(), q.dims().end());
  if (layout != Layout::kPacked) {
    dims.back() = problem.v_head_dim;
  } else if (problem.v_head_dim > std::numeric_limits<int64_t>::max() / problem.heads) {
    throw FormatError("attention: output of " + number(problem.heads) + " heads of size " +
                      number(problem.v_head_dim) + " has too many elements");
  } else {
    dims.back() = problem.heads * problem.v_head_dim;
  }
  return Shape(std::span<const int64_t>(dims));
}

}  // namespace

int64_t AttentionProblem::key_begin(int64_t s, int64_t i) const {
  const Sequence& sequence = sequences[static_cast<size_t>(s)];
  if (window_left < 0) {
    return sequence.k_begin;
  }
  return std::max(sequence.k_begin, i + sequence.offset - window_left);
}

int64_t AttentionProblem::key_end(int64_t s, int64_t i) const {
  const Sequence& sequence = sequences[static_cast<size_t>(s)];
  int64_t end = sequence.k_end;
  const int64_t aligned = i + sequence.offset;
  if (causal) {
    end = std::min(end, aligned + 1);
  }
  if (window_right >= 0) {
    end = std::min(end, aligned + window_right + 1);
  }
  return std::max<int64_t>(0, end);
}

int64_t AttentionProblem::most_rows() const {
  int64_t most = 0;
  for (const Sequence& sequence : sequences) {
    most = std::max(most, sequence.q_end - sequence.q_begin);
  }
  return most;
}

float AttentionProblem::slope(int64_t s, int64_t h) const {
  return slopes.empty() ? 0 : slopes[static_cast<size_t>(s * heads + h)];
}

float AttentionProblem::sink(int64_t h) const {
  return sinks.empty() ? -std::numeric_limits<float>::infinity() : sinks[static_cast<size_t>(h)];
}

HeadView view_heads(const Shape& shape, Layout layout, int64_t packed_heads, std::string_view where,
                    std::string_view name, bool is_sequence) {
  const std::string place = std::string(where) + ": " + std::string(name);
  HeadView view;
  if (layout == Layout::kBhsd) {
    check_rank(shape, place, 2, 4, "[B, H, T, D], [H, T, D] or [T, D]");
    const size_t rank = shape.rank();
    view.batch = rank == 4 ? shape[0] : 1;
    view.heads = rank >= 3 ? shape[rank - 3] : 1;
    view.length = shape[rank - 2];
    view.width = shape[rank - 1];
  } else if (layout == Layout::kBshd) {
    check_rank(shape, place, is_sequence ? 3 : 4, 4,
               is_sequence ? "[T, H, D] or [1, T, H, D]" : "[B, T, H, D]");
    const size_t rank = shape.rank();
    view.batch = rank == 4 ? shape[0] : 1;
    view.length = shape[rank - 3];
    view.heads = shape[rank - 2];
    view.width = shape[rank - 1];
  } else {
    check_rank(shape, place, 3, 3, "[B, T, heads * D]");
    if (shape[2] % packed_heads != 0) {
      throw FormatError(place + " " + shape.text() + ": last axis " + number(shape[2]) +
                        " is not a multiple of its " + number(packed_heads) + " heads");
    }
    view.batch = shape[0];
    view.length = shape[1];
    view.heads = packed_heads;
    view.width = shape[2] / packed_heads;
  }
  if (view.heads < 1 || view.width < 1) {
    throw FormatError(place + " " + shape.text() + " has " + number(view.heads) +
                      " heads of size " + number(view.width) + "; both must be at least 1");
  }
  if (view.length > kMaxLength) {
    throw FormatError(place + " " + shape.text() + " is longer than " + number(kMaxLength));
  }
  view.strides = strides_for(shape, layout, view.heads, view.length, view.width);
  return view;
}

HeadStrides contiguous_strides(int64_t heads, int64_t length, int64_t width) {
  return {heads * length * width, length * width, width};
}

AttentionProblem make_attention_problem(const AttentionShapes& shapes,
                                        const AttentionOptions& options,
                                        const std::vector<int64_t>& kv_lens) {
  check_options(options);
  const bool is_packed = !shapes.cu_seqlens_q.empty() || !shapes.cu_seqlens_k.empty();
  const auto view = [&](const Shape& shape, int64_t heads, std::string_view name) {
    return view_heads(shape, options.layout, heads, "attention", name, is_packed);
  };
  const HeadView q = view(shapes.q, options.heads, "q");
  const HeadView k = view(shapes.k, options.kv_heads, "k");
  const HeadView v = view(shapes.v, options.kv_heads, "v");
  check_agreement(shapes, q, k, v);

  AttentionProblem problem;
  problem.batch = q.batch;
  problem.heads = q.heads;
  problem.kv_heads = k.heads;
  problem.q_len = q.length;
  problem.has_past = shapes.past_k.has_value();
  problem.past_len = past_length(shapes, k, v);
  problem.kv_len = problem.past_len + k.length;
  problem.head_dim = q.width;
  problem.v_head_dim = v.width;
  problem.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.width)));
  problem.softcap = options.softcap;
  problem.causal = options.causal;
  // A bound this large keeps every key, whatever the offset; clamping it keeps the sums in range.
  constexpr int64_t kWidest = int64_t{1} << 62;
  problem.window_left = std::clamp<int64_t>(options.window_left, -1, kWidest);
  problem.window_right = std::clamp<int64_t>(options.window_right, -1, kWidest);
  problem.scores = options.scores;
  problem.want_lse = options.want_lse;
  problem.y_shape = shape_of_y(problem, shapes.q, options.layout);
  problem.q = q.strides;
  problem.k = k.strides;
  problem.v = v.strides;
  problem.y = strides_for(problem.y_shape, options.layout, q.heads, q.length, v.width);
  resolve_sequences(problem, shapes, options, kv_lens);
  resolve_head_terms(problem, shapes);
  if (shapes.mask.has_value()) {
    resolve_mask(problem, shapes);
  }
  // Constructing the shapes of the other outputs checks their element counts.
  if (problem.scores != ScoreStage::kNone) {
    problem.scores_shape();
  }
  if (problem.has_past) {
    problem.present_k_shape();
    problem.present_v_shape();
  }
  return problem;
}

AttentionProblem make_attention_problem(const AttentionInputs& inputs,
                                        const AttentionOptions& options, FloatTypes allowed) {
  struct Named {
    const core::Tensor* tensor;
    std::string_view name;
  };
  const auto optional_tensor = [](const std::optional<core::Tensor>& tensor) {
    return tensor.has_value() ? &*tensor : nullptr;
  };
  const core::Tensor* const past_k = optional_tensor(inputs.past_k);
  const core::Tensor* const past_v = optional_tensor(inputs.past_v);
  const core::Tensor* const mask = optional_tensor(inputs.mask);
  for (const Named& named : {Named{&inputs.q, "q"}, Named{&inputs.k, "k"}, Named{&inputs.v, "v"},
                             Named{past_k, "past_k"}, Named{past_v, "past_v"}}) {
    if (named.tensor == nullptr) {
      continue;
    }
    const DType dtype = named.tensor->dtype();
    const bool is_f64 = dtype == DType::kF64;
    if (!core::is_floating(dtype) || (is_f64 && allowed != FloatTypes::kUpToF64)) {
      throw FormatError("attention: " + std::string(named.name) + " has type " +
                        std::string(core::dtype_name(dtype)) + "; allowed f32, f16 and bf16");
    }
  }
  const auto check_same_dtype = [](const core::Tensor* past, const core::Tensor& fresh,
                                   std::string_view past_name, std::string_view fresh_name) {
    if (past != nullptr && past->dtype() != fresh.dtype()) {
      throw FormatError("attention: " + std::string(past_name) + " is " +
                        std::string(core::dtype_name(past->dtype())) + " but " +
                        std::string(fresh_name) + " is " +
                        std::string(core::dtype_name(fresh.dtype())));
    }
  };
  check_same_dtype(past_k, inputs.k, "past_k", "k");
  check_same_dtype(past_v, inputs.v, "past_v", "v");
  for (const Named& named : {Named{&inputs.k, "k"}, Named{&inputs.v, "v"}, Named{mask, "mask"},
                             Named{past_k, "past_k"}, Named{past_v, "past_v"}}) {
    if (named.tensor != nullptr && !(named.tensor->queue() == inputs.q.queue())) {
      throw UsageError("attention: " + std::string(named.name) + " and q are on different queues");
    }
  }

  AttentionShapes shapes{inputs.q.shape(), inputs.k.shape(), inputs.v.shape(), {}, {}, {}, {}};
  if (mask != nullptr) {
    shapes.mask = mask->shape();
    shapes.mask_dtype = mask->dtype();
  }
  if (past_k != nullptr) {
    shapes.past_k = past_k->shape();
  }
  if (past_v != nullptr) {
    shapes.past_v = past_v->shape();
  }
  shapes.alibi_slopes = inputs.alibi_slopes;
  shapes.sinks = inputs.sinks;
  shapes.cu_seqlens_q = inputs.cu_seqlens_q;
  shapes.cu_seqlens_k = inputs.cu_seqlens_k;
  return make_attention_problem(shapes, options, inputs.kv_lens);
}

}  // namespace netcl::nn
