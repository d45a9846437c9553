// SPDX-License-Identifier: Apache-2.0
// RotaryAttention in safetensors files and Hugging Face config.json files.
//
// Tensors, [out, in], under Hugging Face's names, each after a prefix such as
// "model.layers.0.self_attn.":
//   q_proj.weight  k_proj.weight  v_proj.weight  o_proj.weight  (+ .bias)  q_norm.weight
//   k_norm.weight
// The fused layout of the course's own package is read too, [in, out]:
//   qkv.weight (columns q | k | v)  qkv.bias  proj.weight  proj.bias  q_norm  k_norm
// Other tensors of the file are left alone.
//
// Conventions that weights cannot show stand in the file's metadata when we wrote it: rope_pairing,
// rope_theta, rope_dim, n_heads, n_kv_heads, max_seq_len, causal, norm_eps.
#ifndef NETCL_NN_ROTARY_ATTENTION_FILE_H_
#define NETCL_NN_ROTARY_ATTENTION_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "core/device.h"
#include "nn/rotary_attention.h"

namespace netcl::nn {

// What the caller or a config.json says about a module. Each value set here wins over the file's
// metadata, and metadata over the default: pairing `half` (Hugging Face checkpoints) or, for the
// fused layout, `interleaved`; theta 10000; all of head_dim rotated; causal; norm_eps 1e-6.
struct RotaryAttentionSettings {
  std::optional<int64_t> dim, n_heads, n_kv_heads, head_dim, max_seq_len;
  std::optional<RopePairing> pairing;
  std::optional<double> rope_theta;
  std::optional<int64_t> rope_dim;
  std::optional<bool> causal;
  std::optional<double> norm_eps;
};

// "half" and "interleaved"; nothing for other words.
std::optional<RopePairing> find_rope_pairing(std::string_view name);

// Reads config.json: hidden_size, num_attention_heads, num_key_value_heads (default
// num_attention_heads), head_dim, max_position_embeddings, rope_theta, partial_rotary_factor,
// rms_norm_eps, and our own rope_pairing; other fields are left alone. Throws IoError; FormatError
// naming the field for a wrong type or value, and for a rope_scaling that is not null, {} or of
// type "default", which RoPE here does not have.
RotaryAttentionSettings read_rotary_attention_config(const std::string& path);

// The module in the file `path` on `queue`. n_heads and max_seq_len must be known from settings or
// metadata; n_kv_heads and dim follow from the shapes and must agree where they are given. f64
// weights become f32. Throws IoError; FormatError naming file and tensor for missing tensors,
// shapes or values that disagree; UsageError when n_heads or max_seq_len is not known anywhere.
RotaryAttention load_rotary_attention(const core::Queue& queue, const std::string& path,
                                      const RotaryAttentionSettings& settings = {},
                                      const std::string& prefix = {});

// Writes all parameters, with the conventions as metadata, atomically. Throws IoError.
void save_rotary_attention(const std::string& path, const RotaryAttention& module,
                           const std::string& prefix = {});
// The same bytes to an output that is still to be committed; `where` is its path for messages.
void save_rotary_attention(base::OutputFile& out, const std::string& where,
                           const RotaryAttention& module, const std::string& prefix = {});

}  // namespace netcl::nn

#endif  // NETCL_NN_ROTARY_ATTENTION_FILE_H_
