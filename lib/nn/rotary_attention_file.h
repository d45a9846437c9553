// SPDX-License-Identifier: Apache-2.0
// RotaryAttention in safetensors files.
//
// Tensors, [out, in], under Hugging Face's names, each after a prefix such as
// "model.layers.0.self_attn.":
//   q_proj.weight  k_proj.weight  v_proj.weight  o_proj.weight  (+ .bias)  q_norm.weight
//   k_norm.weight
// The fused layout of the course's own package is read too, [in, out]:
//   qkv.weight (columns q | k | v)  qkv.bias  proj.weight  proj.bias  q_norm  k_norm
// Other tensors of the file are left alone, but for those after a prefix that is not empty: they
// would be part of this attention (sinks, other norms, scales of quantised weights). Only
// rotary_emb.inv_freq, which old checkpoints hold, follows from the configuration.
//
// Conventions that weights cannot show stand in the file's metadata when we wrote it: rope_pairing,
// rope_theta, rope_scaling (JSON), rope_dim, n_heads, n_kv_heads, max_seq_len, causal, window,
// softcap, scale, norm_eps; those of no effect are left out.
#ifndef NETCL_NN_ROTARY_ATTENTION_FILE_H_
#define NETCL_NN_ROTARY_ATTENTION_FILE_H_

#include <string>

#include "base/file.h"
#include "core/device.h"
#include "nn/rotary_attention.h"
#include "nn/rotary_attention_config.h"

namespace netcl::nn {

// The module in the file `path` on `queue`. n_heads and max_seq_len must be known from settings or
// metadata; n_kv_heads and dim follow from the shapes and must agree where they are given. f64
// weights become f32. Throws IoError; FormatError naming file and tensor for missing or unknown
// tensors, shapes, biases or values that disagree; UsageError when n_heads or max_seq_len is not
// known anywhere.
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
