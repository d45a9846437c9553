// SPDX-License-Identifier: Apache-2.0
// A checked attention call with every default resolved: what all engines compute from. Making one
// is the only place where shapes are checked.
#ifndef NETCL_NN_ATTENTION_PROBLEM_H_
#define NETCL_NN_ATTENTION_PROBLEM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "nn/attention.h"

namespace netcl::nn {

// Element strides of a [B, heads, T, D] view whose innermost axis is contiguous.
struct HeadStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
};

// Element strides of a mask over [B, H, Tq, Tk]; 0 on a broadcast axis.
struct MaskStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
  int64_t column = 0;
};

struct AttentionProblem {
  int64_t batch = 0, heads = 0, kv_heads = 0, q_len = 0, kv_len = 0, head_dim = 0, v_head_dim = 0;
  int64_t past_len = 0;  // kv_len = past_len + new keys
  double scale = 1;
  double softcap = 0;
  bool causal = false;
  int64_t window_left = -1, window_right = -1;
  std::vector<int64_t> kv_lens;  // B entries, always filled
  std::vector<int64_t> offsets;  // B entries, always filled
  HeadStrides q, k, v, y;        // of the new k and v; past and present are [B, G, T, D] contiguous
  bool has_mask = false;
  bool mask_is_bool = false;
  MaskStrides mask;
  int64_t mask_columns = 0;  // keys at or past this column may not be attended
  core::Shape y_shape;       // in the layout of the options
  ScoreStage scores = ScoreStage::kNone;
  bool want_lse = false;

  // First and one-past-last key that causal, window and kv_lens leave visible to row i of batch b
  // (begin >= end: none). The mask may hide more.
  int64_t key_begin(int64_t b, int64_t i) const;
  int64_t key_end(int64_t b, int64_t i) const;
};

// The shapes and dtypes of one call, without the elements: lets tests check 64-bit index
// arithmetic.
struct AttentionShapes {
  core::Shape q, k, v;
  std::optional<core::Shape> mask, past_k, past_v;
  std::optional<core::DType> mask_dtype;
};

// Throws FormatError (UsageError for options that contradict each other).
AttentionProblem make_attention_problem(const AttentionShapes& shapes,
                                        const AttentionOptions& options,
                                        const std::vector<int64_t>& kv_lens);

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_PROBLEM_H_
