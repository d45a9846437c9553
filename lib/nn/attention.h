// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: one contract, three engines (reference in double, host in float,
// opencl). The engines differ in rounding only.
//
//   score = scale * q.k, then softcap, then ALiBi and mask, then softmax with the sink, then times
//   V
//
// Legend of shape comments, used in all of nn:
//   B batch   H heads   G kv_heads   Tq q_len   Tk kv_len (past included)   D head_dim   Dv
//   v_head_dim
// Query head h reads KV head h / (H / G); H must be a multiple of G.
//
// A key j is visible to query i of batch b when all of these hold:
//   j < kv_lens[b]                               (when kv_lens is given)
//   j <= i + offset[b]                           (when causal)
//   i + offset[b] - left <= j <= i + offset[b] + right   (window; a negative bound is open)
//   the boolean mask is true / the additive mask is not -inf, at [b, h, i, j]
// A score of -inf counts as not visible. A row that sees no key gives zeros, weights of zero and
// LSE = -inf (the sink, where there is one). Values at invisible positions never leak, NaN and Inf
// included.
//
// Packed sequences (cu_seqlens): q, k and v hold n sequences one after the other along T, in a
// batch of 1. Query row i of sequence s stands for row i - cu_seqlens_q[s] and sees keys of
// sequence s only; alignment, window and ALiBi count within the sequence. The result is that of n
// calls.
#ifndef NETCL_NN_ATTENTION_H_
#define NETCL_NN_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace netcl::nn {

// Where query row i stands among the keys: offset[b] such that row i is aligned with key i +
// offset[b].
enum class Alignment {
  kBottomRight,  // the last query with the last valid key: offset = kv_len - q_len (default)
  kTopLeft,      // the first query with the first key: offset = 0
  kExplicit,     // AttentionOptions::offsets
};

// Order of axes of q, k, v and of the output.
enum class Layout {
  kBhsd,    // [B, H, T, D]; rank 3 = [H, T, D] and rank 2 = [T, D] with the missing axes 1
  kBshd,    // [B, T, H, D]; with packed sequences also [T, H, D]
  kPacked,  // [B, T, H * D], with AttentionOptions::heads and kv_heads
};

// The scores an engine returns on request, [B, H, Tq, Tk].
enum class ScoreStage {
  kNone,
  kRaw,      // scale * q.k
  kSoftcap,  // after softcap
  kMasked,   // after ALiBi, mask, causal, window and kv_lens: -inf where not visible
  kWeights,  // after softmax; with a sink they add up to less than 1
};

struct AttentionOptions {
  std::optional<double> scale;  // default 1 / sqrt(D)
  double softcap = 0;           // cap * tanh(score / cap); 0 = off, else > 0
  bool causal = false;
  Alignment alignment = Alignment::kBottomRight;
  // kExplicit: one for all, or one per batch item or packed sequence; may be negative.
  std::vector<int64_t> offsets;
  int64_t window_left = -1;  // keys kept before the aligned position, itself excluded; -1 = open
  int64_t window_right = -1;
  Layout layout = Layout::kBhsd;
  int64_t heads = 0;  // kPacked only
  int64_t kv_heads = 0;
  bool want_lse = false;
  ScoreStage scores = ScoreStage::kNone;
  std::string kernel =
      "auto";  // opencl: auto, naive, tiled, panel; an unknown name is a UsageError
};

// q [B,H,Tq,D], k [B,G,Tk,D], v [B,G,Tk,Dv] in the layout of the options, f32, f16 or bf16 each.
struct AttentionInputs {
  core::Tensor q;
  core::Tensor k;
  core::Tensor v;
  // bool (true = may attend), or floating (added to the score); right-aligned to [B, H, Tq, Tk]
  // with broadcasting, rank 2 to 4; a last axis shorter than Tk is padded with "may not attend".
  std::optional<core::Tensor> mask;
  // [B, G, P, D] and [B, G, P, Dv] (always this order of axes): keys before k. Tk = P + new keys.
  std::optional<core::Tensor> past_k;
  std::optional<core::Tensor> past_v;
  // Valid keys per batch (B entries in [0, Tk]); empty = all.
  std::vector<int64_t> kv_lens = {};
  // Adds -slope * |i + offset - j| to the score of query i and key j: H slopes, or H for each batch
  // item or packed sequence; finite, of at most 2^60. Empty = none. nn/alibi.h has the usual ones.
  std::vector<float> alibi_slopes = {};
  // One more logit per head (H of them) in the maximum and the denominator of the softmax, without
  // a value; -inf = none. Empty = none.
  std::vector<float> sinks = {};
  // Packed sequences: n + 1 bounds each, from 0 to Tq and to Tk, never decreasing. Empty = none.
  // They exclude past and kv_lens.
  std::vector<int64_t> cu_seqlens_q = {};
  std::vector<int64_t> cu_seqlens_k = {};
};

struct AttentionOutputs {
  core::Tensor y;  // layout and dtype of q; last axis Dv (or H * Dv)
  // [B, H, Tq] f32: log-sum-exp of the visible scores, and of the sink where there is one
  std::optional<core::Tensor> lse;
  std::optional<core::Tensor> scores;     // [B, H, Tq, Tk] f32
  std::optional<core::Tensor> present_k;  // [B, G, Tk, D] when past_k was given
  std::optional<core::Tensor> present_v;
};

// Runs on the device of q's queue: the host engine or OpenCL. All tensors must be of that queue.
// Throws FormatError naming the two shapes or values that disagree, before any work; DeviceError
// when something does not fit the device, with wanted and allowed bytes. Cost: O(B H Tq Tk (D +
// Dv)) time; memory beyond the outputs O(tile), on CPU devices a packed copy of k and v too (never
// Tq x Tk unless scores are asked for).
// Deterministic: the same input gives the same bits on the same device.
AttentionOutputs attention(const AttentionInputs& inputs, const AttentionOptions& options);

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_H_
