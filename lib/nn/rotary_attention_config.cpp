// SPDX-License-Identifier: Apache-2.0
#include "nn/rotary_attention_config.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "nn/config_fields.h"
#include "nn/rope_config.h"

namespace netcl::nn {

namespace {

using base::FormatError;
using base::Json;

// Keys of other attentions. Harmless when null, false, 0 or empty.
constexpr const char* kRefused[] = {
    "alibi",                    // distances added to scores
    "attention_chunk_size",     // Llama 4: keys of the own chunk only
    "attention_k_eq_v",         // Gemma 4: no v_proj
    "attention_sinks",          // a score without a key
    "attention_value_scale",    // values scaled
    "attn_config",              // MPT: its own description
    "attn_output_gate",         // Qwen3 Next: results scaled by a gate
    "attn_temperature_tuning",  // Llama 4: queries scaled by position
    "clip_qkv",                 // OLMo: projections clipped
    "index_topk",               // DeepSeek V3.2: chosen keys only
    "key_multiplier",           // Falcon H1: keys scaled
    "kv_lora_rank",             // DeepSeek: projections by way of a latent vector
    "layer_block_sliding_window",
    "no_rope_layer_interval",  // SmolLM 3: layers without RoPE
    "no_rope_layers",
    "q_lora_rank",
    "qk_layernorm",  // Phi: layer norm of q and k
    "qk_norm",
    "scale_attn_by_inverse_layer_idx",
    "sliding_window_pattern",  // Gemma 3: windows by layer
    "use_bidirectional_attention",
    "use_qk_norm",  // Llama 4, Cohere, Hunyuan: other norms, or after RoPE
};

// Model types of transformers 5.24 whose attention has no key for what sets it apart.
struct RefusedType {
  std::string_view prefix;
  const char* why;
};
constexpr RefusedType kRefusedTypes[] = {
    {"gemma3", "its QK norm multiplies by 1 + weight"},
    {"gemma4", "its attention differs by layer"},
    {"gpt_oss", "its scores have sinks"},
    {"llama4", "its layers differ in RoPE and QK norm"},
    {"olmo2", "its QK norm spans all heads"},
    {"olmo3", "its QK norm spans all heads"},
};

// Rotate neighbours, (2c, 2c + 1), in transformers 5.24.
constexpr std::string_view kInterleavedTypes[] = {"cohere", "cohere2", "ernie4_5", "ernie4_5_moe",
                                                  "glm",    "glm4",    "helium"};

// Windows on every other layer or the like, as older files, without layer_types, leave unsaid.
constexpr std::string_view kMixedTypes[] = {"gemma2", "cohere2"};

bool is_harmless(const Json& value) {
  if (value.is_boolean()) {
    return !value.get<bool>();
  }
  if (value.is_number()) {
    return value.get<double>() == 0;
  }
  return value.empty();  // null, [], {}
}

[[noreturn]] void refuse(const std::string& where, const char* key, const Json& value,
                         const std::string& why) {
  const std::string text = value.is_string() ? value.get<std::string>() : base::to_text(value);
  throw FormatError(where + ": field '" + key + "': " + base::quote(text) + "; " + why);
}

void refuse_other_attention(const Json& config, const std::string& where,
                            const std::string& model_type) {
  for (const char* key : kRefused) {
    const Json* value = find_field(config, key);
    if (value != nullptr && !is_harmless(*value)) {
      refuse(where, key, *value, "it changes attention and is not supported");
    }
  }
  const Json* causal = find_field(config, "is_causal");
  if (causal != nullptr && *causal == false) {
    refuse(where, "is_causal", *causal, "modules of config.json are causal");
  }
  const Json* embedding = find_field(config, "position_embedding_type");
  if (embedding != nullptr && *embedding != "rope" && *embedding != "rotary") {
    refuse(where, "position_embedding_type", *embedding, "allowed is rope");
  }
  for (const RefusedType& type : kRefusedTypes) {
    if (model_type.starts_with(type.prefix)) {
      refuse(where, "model_type", Json(model_type), "not supported, as " + std::string(type.why));
    }
  }
}

// A file without any of these is no description of attention, but some other JSON.
void require_known_field(const Json& config, const std::string& where) {
  constexpr const char* kFields[] = {
      "hidden_size",  "num_attention_heads", "num_key_value_heads",
      "head_dim",     "rope_theta",          "rms_norm_eps",
      "rope_scaling", "rope_parameters",     "partial_rotary_factor",
      "rope_pairing", "sliding_window",      "max_position_embeddings"};
  const bool any = std::any_of(std::begin(kFields), std::end(kFields),
                               [&](const char* field) { return config.contains(field); });
  if (!any) {
    throw FormatError(
        where +
        ": none of the fields of a model's config.json is there, such as 'hidden_size' and "
        "'num_attention_heads'" +
        (config.contains("text_config") ? "; give its 'text_config' as a file" : ""));
  }
}

bool contains(const std::string& model_type, const std::string_view* begin,
              const std::string_view* end) {
  return std::find(begin, end, model_type) != end;
}

// Whether the layers of a file without layer_types have the window.
bool window_is_used(const Json& config, const std::string& where, const std::string& model_type) {
  const Json& window = config.at("sliding_window");
  const std::optional<bool> used = find_bool(config, "use_sliding_window", where);
  if (used == false) {
    return false;
  }
  if (contains(model_type, std::begin(kMixedTypes), std::end(kMixedTypes))) {
    refuse(where, "sliding_window", window,
           "only some layers of a " + model_type + " have it; add the layer_types of this one");
  }
  // Qwen2: layers from max_window_layers on.
  const Json* first = find_field(config, "max_window_layers");
  if (!used || first == nullptr || *first == 0) {
    return true;
  }
  const auto layers = find_count(config, "num_hidden_layers", where);
  const auto first_layer = find_count(config, "max_window_layers", where);
  if (layers && *first_layer >= *layers) {
    return false;
  }
  refuse(where, "max_window_layers", *first,
         "only some layers have the window; add the layer_types of this one");
}

std::optional<int64_t> read_window(const Json& config, const std::string& where,
                                   const std::string& model_type) {
  const std::optional<int64_t> window = find_count(config, "sliding_window", where);
  const Json* types = find_field(config, "layer_types");
  if (types == nullptr) {
    return window && window_is_used(config, where, model_type) ? window : std::nullopt;
  }
  const std::optional<std::string> type = only_layer_type(config, where);
  if (!type) {
    refuse(where, "layer_types", *types, "a module is one layer; keep the type of that");
  }
  if (*type == "full_attention") {
    return std::nullopt;
  }
  if (*type != "sliding_attention") {
    refuse(where, "layer_types", *types, "allowed are full_attention and sliding_attention");
  }
  if (!window) {
    throw FormatError(where + ": field 'sliding_window' is missing; layer_types asks for it");
  }
  return window;
}

std::optional<double> read_scale(const Json& config, const std::string& where) {
  const auto scalar = find_positive(config, "query_pre_attn_scalar", where);
  const auto multiplier = find_positive(config, "attention_multiplier", where);
  if (scalar && multiplier) {
    throw FormatError(where +
                      ": fields 'query_pre_attn_scalar' and 'attention_multiplier' both scale");
  }
  return scalar ? std::optional(1 / std::sqrt(*scalar)) : multiplier;
}

// Positions that the scaling is made for, where the file's limit is that of training.
std::optional<int64_t> reach(std::optional<int64_t> max_positions, const RopeScaling& scaling) {
  int64_t trained = 0;
  if (const auto* dynamic = std::get_if<RopeDynamic>(&scaling)) {
    trained = dynamic->max_positions;
  } else if (const auto* yarn = std::get_if<RopeYarn>(&scaling)) {
    trained = yarn->original_positions;
  }
  const double stretched = static_cast<double>(trained) * rope_scaling_factor(scaling);
  if (!max_positions || stretched <= static_cast<double>(*max_positions)) {
    return max_positions;
  }
  constexpr double kMost = 9e18;  // a sane int64_t; the module's own limit is lower
  return static_cast<int64_t>(std::min(stretched, kMost));
}

void read_rope(const Json& config, const std::string& where, const std::string& model_type,
               RotaryAttentionSettings& settings) {
  const RopeConfig rope = parse_rope_config(config, where);
  settings.rope_theta = rope.theta;
  settings.rope_scaling = rope.scaling;
  settings.pairing = rope.pairing;
  if (!rope.pairing &&
      contains(model_type, std::begin(kInterleavedTypes), std::end(kInterleavedTypes))) {
    settings.pairing = RopePairing::kInterleaved;
  }
  settings.max_seq_len = reach(settings.max_seq_len, rope.scaling);
  if (rope.partial_rotary_factor) {
    if (!settings.head_dim) {
      throw FormatError(where +
                        ": field 'partial_rotary_factor' needs 'head_dim', or 'hidden_size' and "
                        "'num_attention_heads'");
    }
    settings.rope_dim = rotary_size(rope, *settings.head_dim);
  }
}

}  // namespace

RotaryAttentionSettings read_rotary_attention_config(const std::string& path) {
  const ConfigFile file = read_config_file(path);
  return parse_rotary_attention_config(file.json, file.where);
}

RotaryAttentionSettings parse_rotary_attention_config(const Json& config,
                                                      const std::string& where) {
  require_known_field(config, where);
  const std::string model_type = find_string(config, "model_type", where).value_or("");
  refuse_other_attention(config, where, model_type);
  RotaryAttentionSettings settings;
  settings.dim = find_count(config, "hidden_size", where);
  settings.n_heads = find_count(config, "num_attention_heads", where);
  settings.n_kv_heads = find_count(config, "num_key_value_heads", where);
  if (!settings.n_kv_heads) {
    settings.n_kv_heads = settings.n_heads;
  }
  settings.head_dim = find_count(config, "head_dim", where);
  if (!settings.head_dim && settings.dim && settings.n_heads) {
    settings.head_dim = *settings.dim / *settings.n_heads;
  }
  settings.max_seq_len = find_count(config, "max_position_embeddings", where);
  settings.norm_eps = find_positive(config, "rms_norm_eps", where);
  settings.attention_bias = find_bool(config, "attention_bias", where);
  settings.window = read_window(config, where, model_type);
  settings.softcap = find_positive(config, "attn_logit_softcapping", where);
  settings.scale = read_scale(config, where);
  read_rope(config, where, model_type, settings);
  return settings;
}

}  // namespace netcl::nn
