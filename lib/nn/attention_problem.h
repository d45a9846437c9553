// SPDX-License-Identifier: Apache-2.0
// A checked attention call with every default resolved: what all engines compute from. Making one
// is the only place where shapes are checked.
#ifndef NETCL_NN_ATTENTION_PROBLEM_H_
#define NETCL_NN_ATTENTION_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "nn/attention.h"

namespace netcl::nn {

// Lengths are at most kMaxLength and offsets lie in [-kMaxLength, kMaxLength], so that sums of a
// length, an offset and a window bound fit int64_t.
inline constexpr int64_t kMaxLength = int64_t{1} << 60;

// Element strides of a [B, heads, T, D] view whose innermost axis is contiguous.
struct HeadStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;

  // Element index of [b, h, row, 0].
  int64_t at(int64_t b, int64_t h, int64_t i) const { return b * batch + h * head + i * row; }
};

// A q, k, v, y or rope operand seen as [B, heads, T, D], whatever its layout.
struct HeadView {
  int64_t batch = 1, heads = 1, length = 0, width = 0;
  HeadStrides strides;  // 0 for a tensor without elements
};

// Reads `shape` in `layout`; `packed_heads` is the number of heads for Layout::kPacked. `where` and
// `name` begin the message; with `is_sequence` kBshd may be [T, H, D]. Throws FormatError for a
// rank that the layout does not have, a packed axis that is no multiple of the heads, no heads,
// width 0, or a length past kMaxLength.
HeadView view_heads(const core::Shape& shape, Layout layout, int64_t packed_heads,
                    std::string_view where, std::string_view name, bool is_sequence = false);

// Element strides of a mask over [B, H, Tq, Tk]; 0 on a broadcast axis. The column stride is 1
// (keys are padded, not broadcast: a last axis of 1 lets key 0 alone be seen).
struct MaskStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
  int64_t column = 0;

  // Element index of [b, h, i, 0].
  int64_t at(int64_t b, int64_t h, int64_t i) const { return b * batch + h * head + i * row; }
};

// The rows and keys of one batch item, or of one packed sequence: query rows [q_begin, q_end) of
// the tensors' batch item `batch` may see keys [k_begin, k_end). Row i is aligned with key i +
// offset; both count from the start of the tensor.
struct Sequence {
  int64_t batch = 0;
  int64_t q_begin = 0, q_end = 0;
  int64_t k_begin = 0, k_end = 0;
  int64_t offset = 0;

  friend bool operator==(const Sequence&, const Sequence&) = default;
};

struct AttentionProblem {
  int64_t batch = 0, heads = 0, kv_heads = 0, q_len = 0, kv_len = 0, head_dim = 0, v_head_dim = 0;
  int64_t past_len = 0;  // kv_len = past_len + new keys
  bool has_past = false;
  double scale = 1;
  double softcap = 0;
  bool causal = false;
  int64_t window_left = -1, window_right = -1;  // -1 = open
  std::vector<Sequence> sequences;              // B of them in order, or the packed ones
  bool is_packed = false;
  std::vector<float> slopes;  // [sequences, H] or empty: ALiBi
  std::vector<float> sinks;   // [H] or empty
  HeadStrides q, k, v, y;     // of the new k and v; past and present are [B, G, T, D] contiguous
  bool has_mask = false;
  bool mask_is_bool = false;
  MaskStrides mask;
  int64_t mask_columns = 0;  // keys at or past this column may not be attended
  core::Shape y_shape;       // in the layout of the options
  ScoreStage scores = ScoreStage::kNone;
  bool want_lse = false;

  // KV head that query head h reads.
  int64_t kv_head_of(int64_t h) const { return h / (heads / kv_heads); }
  // First and one-past-last key that causal, window and lengths leave visible to row i of sequence
  // s (begin >= end: none). The mask may hide more. Neither decreases with i.
  int64_t key_begin(int64_t s, int64_t i) const;
  int64_t key_end(int64_t s, int64_t i) const;
  // Query rows of the longest sequence.
  int64_t most_rows() const;
  // ALiBi's slope; 0 without.
  float slope(int64_t s, int64_t h) const;
  // The sink's logit; -inf without.
  float sink(int64_t h) const;

  core::Shape lse_shape() const { return {batch, heads, q_len}; }
  core::Shape scores_shape() const { return {batch, heads, q_len, kv_len}; }
  core::Shape present_k_shape() const { return {batch, kv_heads, kv_len, head_dim}; }
  core::Shape present_v_shape() const { return {batch, kv_heads, kv_len, v_head_dim}; }
};

// Strides of a contiguous [B, heads, length, width] tensor: present_k and present_v.
HeadStrides contiguous_strides(int64_t heads, int64_t length, int64_t width);

// The shapes, dtypes and small lists of one call, without the elements of its tensors: lets tests
// check 64-bit index arithmetic.
struct AttentionShapes {
  core::Shape q, k, v;
  std::optional<core::Shape> mask, past_k, past_v;
  std::optional<core::DType> mask_dtype;  // with `mask`: bool, f32, f16 or bf16
  std::vector<float> alibi_slopes = {}, sinks = {};
  std::vector<int64_t> cu_seqlens_q = {}, cu_seqlens_k = {};
};

// Throws FormatError naming the two shapes or values that disagree: ranks, batch, heads, head_dim,
// key counts, mask and past shapes, kv_lens outside [0, Tk], the number of offsets, slopes or sinks
// and their values, bounds of packed sequences, element counts past int64_t. Throws UsageError for
// options that contradict each other or are out of range: packed sequences with past or kv_lens,
// scale or softcap not finite, softcap negative, offsets without Alignment::kExplicit, heads
// without Layout::kPacked. Axes may be 0 long except heads and head sizes.
AttentionProblem make_attention_problem(const AttentionShapes& shapes,
                                        const AttentionOptions& options,
                                        const std::vector<int64_t>& kv_lens);

// Which element types q, k and v may have: f32, f16, bf16, and for the reference f64 too.
enum class FloatTypes { kUpToF32, kUpToF64 };

// The same from the tensors of a call; checks dtypes and that all tensors are of q's queue too.
AttentionProblem make_attention_problem(const AttentionInputs& inputs,
                                        const AttentionOptions& options,
                                        FloatTypes allowed = FloatTypes::kUpToF32);

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_PROBLEM_H_
