// SPDX-License-Identifier: Apache-2.0
// What a Hugging Face config.json says about the attention of a layer.
#ifndef NETCL_NN_ROTARY_ATTENTION_CONFIG_H_
#define NETCL_NN_ROTARY_ATTENTION_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_file.h"
#include "nn/rope.h"
#include "nn/rope_scaling.h"

namespace netcl::nn {

// What the caller or a config.json says about a module. Each value set here wins over the metadata
// of a weight file, and metadata over the default: pairing `half` (Hugging Face checkpoints) or,
// for the fused layout, `interleaved`; theta 10000, unscaled; all of head_dim rotated; causal; no
// window; no softcap; scale 1 / sqrt(head_dim); norm_eps 1e-6.
struct RotaryAttentionSettings {
  std::optional<int64_t> dim, n_heads, n_kv_heads, head_dim, max_seq_len;
  std::optional<RopePairing> pairing;
  std::optional<double> rope_theta;
  std::optional<RopeScaling> rope_scaling;
  std::optional<int64_t> rope_dim;
  std::optional<bool> causal;
  std::optional<int64_t> window;  // keys that a row sees, itself included
  std::optional<double> softcap, scale;
  std::optional<double> norm_eps;
  std::optional<bool> attention_bias;  // q, k and v have biases, or none has
};

// Reads
//   hidden_size, num_attention_heads, num_key_value_heads (default num_attention_heads), head_dim
//   (default hidden_size / num_attention_heads), attention_bias, rms_norm_eps
//   rope_theta, rope_scaling, rope_parameters, partial_rotary_factor, rope_interleave and our own
//   rope_pairing (nn/rope_config.h); without the last two, model types that rotate neighbours in
//   transformers (Cohere, GLM, Helium, Ernie 4.5) are interleaved
//   max_position_embeddings: max_seq_len; dynamic and yarn reach to factor times their length
//   sliding_window, unless use_sliding_window is false or layer_types are all full_attention
//   attn_logit_softcapping (softcap), query_pre_attn_scalar x (scale x^-1/2), attention_multiplier
//   (scale)
// Refuses, by name, keys that change attention in another way, and layer types that differ: a
// module is one layer, so keep its type in layer_types. Fields that say nothing about attention are
// left alone, among them those of dropout. Throws IoError; FormatError naming the field.
RotaryAttentionSettings read_rotary_attention_config(const std::string& path);

// The same from the object in a file; `where` names it in messages.
RotaryAttentionSettings parse_rotary_attention_config(const base::Json& config,
                                                      const std::string& where);

}  // namespace netcl::nn

#endif  // NETCL_NN_ROTARY_ATTENTION_CONFIG_H_
