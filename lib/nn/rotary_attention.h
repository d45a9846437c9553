// SPDX-License-Identifier: Apache-2.0
// The chapter's RotaryAttention: multi-head attention with rotary positions and its four
// projections, grouped-query where n_kv_heads < n_heads.
//
//   q, k, v = x Wq^T, x Wk^T, x Wv^T (+ biases)     [B, S, heads, head_dim]
//   q, k    = per-head RMS norm                     (only with qk_norm)
//   q, k    = RoPE at positions 0 .. S - 1, with the frequencies for the longest position of the
//             call where the scaling depends on it (nn/rope_scaling.h)
//   y       = attention(q, k, v) Wo^T (+ bias)      [B, S, dim]
//
// All of it runs on one queue, the host engine or an OpenCL device. q, k, v and the attention's
// result are fp32 whatever x and the weights are stored as.
#ifndef NETCL_NN_ROTARY_ATTENTION_H_
#define NETCL_NN_ROTARY_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/host_tensor.h"
#include "core/tensor.h"
#include "nn/attention.h"
#include "nn/attention_reference.h"
#include "nn/rope.h"

namespace netcl::nn {

// The conventions. The defaults are the chapter's.
struct RotaryAttentionConfig {
  int64_t head_dim = 0;  // 0 = dim / n_heads
  RopePairing pairing = RopePairing::kInterleaved;
  double rope_theta = 10000;
  RopeScaling rope_scaling = {};
  int64_t rope_dim = 0;         // rotated elements of a head; 0 = all
  bool causal = true;           // these four of forward(); run() takes AttentionOptions
  int64_t window = 0;           // keys that a row sees, itself included; 0 = no window
  double softcap = 0;           // 0 = off
  std::optional<double> scale;  // default 1 / sqrt(head_dim)
  bool bias = false;            // seeded initialisation only: zero biases on all projections
  bool qk_norm = false;         // seeded initialisation only: gammas of one
  double norm_eps = 1e-6;       // of the QK norm
  uint64_t seed = 0;

  // Those of the course's own package, version 0.4.4: as the defaults, with QK norm.
  static RotaryAttentionConfig netcl();
};

// Largest max_seq_len: the table of angles takes memory for each of its positions.
inline constexpr int64_t kMaxPositions = int64_t{1} << 24;

struct RotaryAttentionSizes {
  int64_t dim = 0, n_heads = 0, n_kv_heads = 0, max_seq_len = 0;
};

// A weight [out, in] and a bias [out].
struct Projection {
  core::HostTensor weight;
  std::optional<core::HostTensor> bias;
};

// Parameters in host memory. Shapes: q [H * D, dim], k and v [G * D, dim], o [dim, H * D]; norms
// [D], both or none. f32, f16 or bf16.
struct RotaryAttentionWeights {
  Projection q, k, v, o;
  std::optional<core::HostTensor> q_norm, k_norm;
};

// Weights U(-l, l) with l = sqrt(6 / (in + out)), q, k and v seen as one matrix (Glorot and Bengio,
// 2010, equation 16), drawn from base::Rng(seed) in double, q, k, v, o in this order, row by row:
// the same on every device. Biases 0, gammas 1. Throws UsageError for impossible sizes.
RotaryAttentionWeights make_rotary_attention_weights(const RotaryAttentionSizes& sizes,
                                                     const RotaryAttentionConfig& config);

// A parameter on the device, under its Hugging Face name ("q_proj.weight", "o_proj.bias",
// "q_norm.weight").
struct NamedParameter {
  std::string name;
  core::Tensor tensor;
};

struct RotaryAttentionOutputs {
  core::Tensor y;
  AttentionOutputs attention;  // y [B, S, H, D]; lse and scores when asked for
};

struct RotaryAttentionReference {
  core::HostTensor y;  // f64
  ReferenceOutputs attention;
};

// q, k [B, S, heads, head_dim] after norm and RoPE, and v, f32.
struct RotaryProjections {
  core::Tensor q, k, v;
};

// Copies share the parameters. Not safe for use from several threads at once (its queue is not).
class RotaryAttention {
 public:
  // With seeded weights. Throws UsageError for sizes that contradict each other (named), the errors
  // of RopeTable, DeviceError.
  RotaryAttention(const core::Queue& queue, int64_t dim, int64_t n_heads, int64_t n_kv_heads,
                  int64_t max_seq_len, const RotaryAttentionConfig& config = {});
  // With given weights. Throws FormatError naming a weight whose shape or dtype disagrees.
  RotaryAttention(const core::Queue& queue, const RotaryAttentionSizes& sizes,
                  const RotaryAttentionConfig& config, const RotaryAttentionWeights& weights);

  // y of x's shape and dtype; x [B, S, dim] or [S, dim], f32, f16 or bf16. Throws FormatError for
  // another shape and for S > max_seq_len, naming both.
  core::Tensor forward(const core::Tensor& x) const;
  core::Tensor operator()(const core::Tensor& x) const { return forward(x); }

  // The same with the options and side outputs of attention(); the layout is the module's.
  // `positions` as in RopeCall: empty = 0 .. S - 1, else S or B * S of them below max_seq_len.
  RotaryAttentionOutputs run(const core::Tensor& x, const AttentionOptions& options,
                             const std::vector<int64_t>& positions = {}) const;

  // What forward() passes to run().
  AttentionOptions attention_options() const;

  // The part of run() before attention. x [B, S, dim].
  RotaryProjections project(const core::Tensor& x,
                            const std::vector<int64_t>& positions = {}) const;

  // The oracle: run() in double, from the same weights. O(B S dim^2 + B H S^2 D) on one thread.
  RotaryAttentionReference reference(const core::HostTensor& x, const AttentionOptions& options,
                                     const std::vector<int64_t>& positions = {},
                                     const base::ProgressFn& progress = {}) const;
  core::HostTensor reference_forward(const core::HostTensor& x) const;

  // The table of angles for a call on x of `length` positions.
  RopeOptions rope_options(int64_t length, const std::vector<int64_t>& positions = {}) const;

  const RotaryAttentionSizes& sizes() const { return sizes_; }
  // head_dim and rope_dim filled in; bias and qk_norm as the weights are.
  const RotaryAttentionConfig& config() const { return config_; }
  const core::Queue& queue() const { return table_.cos().queue(); }
  // All parameters in the order q, k, v, o (weight, bias), q_norm, k_norm.
  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  // Nothing when there is no such parameter.
  std::optional<core::Tensor> find_parameter(const std::string& name) const;

 private:
  core::Tensor parameter(const std::string& name) const;
  core::Tensor as_batch(const core::Tensor& x) const;
  RopeTable table_for(int64_t length, const std::vector<int64_t>& positions) const;
  RopeCall rope_call(const std::vector<int64_t>& positions) const;

  RotaryAttentionSizes sizes_;
  RotaryAttentionConfig config_;
  RopeTable table_;  // of short sequences, where the scaling tells them apart
  std::vector<NamedParameter> parameters_;
};

}  // namespace netcl::nn

#endif  // NETCL_NN_ROTARY_ATTENTION_H_
