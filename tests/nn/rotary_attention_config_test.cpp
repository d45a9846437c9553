// SPDX-License-Identifier: Apache-2.0
#include "nn/rotary_attention_config.h"

#include <string>

#include "base/error.h"
#include "base/file.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using nn::RopePairing;
using nn::RotaryAttentionSettings;

RotaryAttentionSettings read(const std::string& text) {
  const tests::TempDir dir;
  base::write_file(dir.file("config.json"), text);
  return nn::read_rotary_attention_config(dir.file("config.json"));
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const base::FormatError& error) {
    return error.what();
  }
  return {};
}

// A small model with further fields.
std::string model(const std::string& fields) {
  return R"({"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128)" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

}  // namespace

TEST_CASE("module config: the fields of a model's config.json are read") {
  RotaryAttentionSettings settings =
      read(R"({"hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8,
               "head_dim": 128, "max_position_embeddings": 131072, "rope_theta": 500000.0,
               "partial_rotary_factor": 0.5, "rms_norm_eps": 1e-05, "rope_scaling": null,
               "attention_bias": true, "attention_dropout": 0.1, "final_logit_softcapping": 30,
               "model_type": "llama", "vocab_size": 128256})");
  CHECK(settings.dim == 2048);
  CHECK(settings.n_heads == 32);
  CHECK(settings.n_kv_heads == 8);
  CHECK(settings.head_dim == 128);
  CHECK(settings.max_seq_len == 131072);
  CHECK(settings.rope_theta == 500000);
  CHECK(settings.rope_scaling == nn::RopeScaling(nn::RopeUnscaled{}));
  CHECK(settings.rope_dim == 64);
  CHECK(settings.norm_eps == 1e-5);
  CHECK(settings.attention_bias == true);
  CHECK_FALSE(settings.pairing);
  CHECK_FALSE(settings.window);
  CHECK_FALSE(settings.softcap);
  CHECK_FALSE(settings.scale);
  CHECK_FALSE(settings.causal);
  settings = read(R"({"num_attention_heads": 4, "rope_pairing": "interleaved", "head_dim": null,
                      "rope_scaling": {"rope_type": "default"}})");
  CHECK(settings.n_kv_heads == 4);
  CHECK(settings.pairing == RopePairing::kInterleaved);
  CHECK_FALSE(settings.head_dim);
  CHECK_FALSE(settings.rope_dim);
  CHECK(read(model("")).head_dim == 16);
}

TEST_CASE("module config: RoPE of the new key is read, and lengths reach as far as it scales") {
  RotaryAttentionSettings settings = read(model(
      R"("rope_parameters": {"rope_type": "dynamic", "rope_theta": 99, "factor": 2.5,
                             "partial_rotary_factor": 0.25})"));
  CHECK(settings.rope_theta == 99);
  CHECK(settings.rope_dim == 4);
  CHECK(settings.rope_scaling == nn::RopeScaling(nn::RopeDynamic{2.5, 128}));
  CHECK(settings.max_seq_len == 320);
  const auto yarn_reach = [](const std::string& original) {
    return read(model(R"("rope_scaling": {"type": "yarn", "factor": 4,
                         "original_max_position_embeddings": )" +
                      original + "}"))
        .max_seq_len;
  };
  CHECK(yarn_reach("128") == 512);
  CHECK(yarn_reach("32") == 128);
  CHECK(read(model(R"("rope_scaling": {"type": "linear", "factor": 4})")).max_seq_len == 128);
}

TEST_CASE("module config: the window is that of the layer") {
  const auto window = [](const std::string& fields) {
    return read(model(R"("sliding_window": 8, )" + fields)).window;
  };
  CHECK(window(R"("model_type": "mistral")") == 8);
  CHECK(window(R"("use_sliding_window": true)") == 8);
  CHECK(window(R"("use_sliding_window": true, "max_window_layers": 0)") == 8);
  CHECK_FALSE(window(R"("use_sliding_window": false, "max_window_layers": 3)"));
  CHECK_FALSE(
      window(R"("use_sliding_window": true, "max_window_layers": 28, "num_hidden_layers": 28)"));
  CHECK(window(R"("layer_types": ["sliding_attention", "sliding_attention"])") == 8);
  CHECK_FALSE(window(R"("layer_types": ["full_attention"])"));
  CHECK(window(R"("model_type": "gemma2", "layer_types": ["sliding_attention"])") == 8);
  CHECK_FALSE(read(model(R"("sliding_window": null)")).window);
  const auto refused = [](const std::string& fields) {
    return error_of(model(R"("sliding_window": 8, )" + fields));
  };
  CHECK_THAT(
      refused(R"("use_sliding_window": true, "max_window_layers": 21, "num_hidden_layers": 28)"),
      Contains("'max_window_layers': '21'"));
  CHECK_THAT(refused(R"("model_type": "gemma2")"),
             Contains("'sliding_window': '8'") && Contains("gemma2"));
  CHECK_THAT(refused(R"("layer_types": ["sliding_attention", "full_attention"])"),
             Contains("'layer_types'") && Contains("a module is one layer"));
  CHECK_THAT(refused(R"("layer_types": ["chunked_attention"])"),
             Contains("'layer_types'") && Contains("allowed are full_attention"));
  CHECK_THAT(error_of(model(R"("layer_types": ["sliding_attention"])")),
             Contains("'sliding_window' is missing"));
  CHECK_THAT(error_of(model(R"("sliding_window": 0)")), Contains("'sliding_window': 0"));
}

TEST_CASE("module config: scales and soft caps of scores are read") {
  const RotaryAttentionSettings gemma =
      read(model(R"("attn_logit_softcapping": 50.0, "query_pre_attn_scalar": 256)"));
  CHECK(gemma.softcap == 50);
  CHECK(gemma.scale == 0.0625);
  CHECK(read(model(R"("attention_multiplier": 0.015625)")).scale == 0.015625);
  CHECK_THAT(error_of(model(R"("attention_multiplier": 1, "query_pre_attn_scalar": 1)")),
             Contains("'query_pre_attn_scalar' and 'attention_multiplier'"));
  CHECK_THAT(error_of(model(R"("attn_logit_softcapping": -1)")),
             Contains("'attn_logit_softcapping'"));
}

TEST_CASE("module config: keys that change attention in another way are refused by name") {
  for (const char* field :
       {R"("use_qk_norm": true)", R"("qk_layernorm": true)", R"("clip_qkv": 8.0)",
        R"("attention_sinks": true)", R"("alibi": true)", R"("no_rope_layers": [1, 0])",
        R"("attention_chunk_size": 8192)", R"("kv_lora_rank": 512)",
        R"("sliding_window_pattern": 6)", R"("attn_temperature_tuning": true)",
        R"("use_bidirectional_attention": true)", R"("attn_output_gate": true)",
        R"("is_causal": false)", R"("position_embedding_type": "absolute")",
        R"("model_type": "gpt_oss")", R"("model_type": "gemma3_text")"}) {
    CAPTURE(field);
    const std::string text = field;
    const std::string key = text.substr(1, text.find('"', 1) - 1);
    CHECK_THAT(error_of(model(text)), Contains("field '" + key + "'"));
  }
  CHECK(error_of(model(R"("use_qk_norm": false, "clip_qkv": null, "no_rope_layers": [],
      "attention_chunk_size": 0, "is_causal": true, "position_embedding_type": "rope")"))
            .empty());
}

TEST_CASE("module config: model types that rotate neighbours are interleaved") {
  CHECK(read(model(R"("model_type": "cohere")")).pairing == RopePairing::kInterleaved);
  CHECK(read(model(R"("model_type": "glm")")).pairing == RopePairing::kInterleaved);
  CHECK(read(model(R"("model_type": "glm", "rope_pairing": "half")")).pairing ==
        RopePairing::kHalf);
  CHECK(read(model(R"("rope_interleave": true)")).pairing == RopePairing::kInterleaved);
  CHECK_FALSE(read(model(R"("model_type": "qwen3")")).pairing);
}

TEST_CASE("module config: wrong values are named") {
  CHECK_THAT(error_of("[]"), Contains("no JSON object"));
  CHECK_FALSE(error_of("{").empty());
  CHECK_THAT(error_of(R"({"text_config": {"hidden_size": 8}})"), Contains("'text_config'"));
  CHECK_THAT(error_of(R"({"hidden_size": "x"})"), Contains("hidden_size"));
  CHECK_THAT(error_of(R"({"hidden_size": 0})"), Contains("hidden_size"));
  CHECK_THAT(error_of(R"({"num_attention_heads": -1})"), Contains("num_attention_heads"));
  CHECK_THAT(error_of(R"({"max_position_embeddings": 1.5})"), Contains("max_position_embeddings"));
  CHECK_THAT(error_of(R"({"rope_theta": 0})"), Contains("rope_theta"));
  CHECK_THAT(error_of(R"({"rope_theta": "10000"})"), Contains("rope_theta"));
  CHECK_THAT(error_of(R"({"partial_rotary_factor": 0.5})"), Contains("partial_rotary_factor"));
  CHECK_THAT(error_of(R"({"head_dim": 8, "partial_rotary_factor": 1.5})"),
             Contains("partial_rotary_factor"));
  CHECK_THAT(error_of(R"({"head_dim": 10, "partial_rotary_factor": 0.3})"),
             Contains("3 of 10 elements"));
  CHECK_THAT(error_of(R"({"rope_theta": 5, "rope_pairing": "both"})"), Contains("rope_pairing"));
  CHECK_THAT(error_of(R"({"rope_theta": 5, "rope_pairing": 1})"), Contains("rope_pairing"));
  CHECK_THAT(error_of(model(R"("attention_bias": 1)")), Contains("attention_bias"));
  CHECK_THAT(error_of(model(R"("rope_scaling": {"rope_type": "ntk", "factor": 8})")),
             Contains("rope_scaling") && Contains("ntk"));
  CHECK_THAT(error_of(R"({"rope_scaling": 8})"), Contains("rope_scaling"));
  const tests::TempDir dir;
  CHECK_THROWS_AS(nn::read_rotary_attention_config(dir.file("none.json")), base::IoError);
}
