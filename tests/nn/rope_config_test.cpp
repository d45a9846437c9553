// SPDX-License-Identifier: Apache-2.0
#include "nn/rope_config.h"

#include <string>

#include "base/error.h"
#include "support/catch.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using nn::RopeConfig;

RopeConfig parse(const std::string& text) {
  return nn::parse_rope_config(base::parse_json(text, "c.json"), "c.json");
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const base::FormatError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("rope config: the value of rope_scaling may stand alone") {
  const RopeConfig config = parse(R"({"rope_type": "linear", "factor": 8, "rope_theta": 500})");
  CHECK(std::get<nn::RopeLinear>(config.scaling).factor == 8);
  CHECK(config.theta == 500);
  CHECK_FALSE(config.head_dim);
  CHECK_FALSE(config.partial_rotary_factor);
  CHECK(nn::rotary_size(config, 6) == 6);
  // dynamic scales from max_position_embeddings on, which may stand beside its factor.
  const RopeConfig dynamic =
      parse(R"({"type": "dynamic", "factor": 2, "max_position_embeddings": 64})");
  CHECK(std::get<nn::RopeDynamic>(dynamic.scaling).max_positions == 64);
  CHECK_FALSE(dynamic.theta);
}

TEST_CASE("rope config: fields beside the scaling count where it lacks them") {
  const RopeConfig config = parse(R"({"hidden_size": 64, "num_attention_heads": 4,
      "rope_theta": 7, "partial_rotary_factor": 0.5, "max_position_embeddings": 128,
      "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                       "high_freq_factor": 4}})");
  CHECK(config.theta == 7);
  CHECK(config.head_dim == 16);
  CHECK(nn::rotary_size(config, 16) == 8);
  CHECK(std::get<nn::RopeLlama3>(config.scaling).original_positions == 128);
  const RopeConfig own = parse(R"({"num_attention_heads": 4, "rope_theta": 7,
      "rope_parameters": {"rope_type": "default", "rope_theta": 9, "partial_rotary_factor": 0.25},
      "partial_rotary_factor": 0.5})");
  CHECK(own.theta == 9);
  CHECK(own.partial_rotary_factor == 0.25);
  CHECK(std::holds_alternative<nn::RopeUnscaled>(own.scaling));
  // As transformers has it for Phi-3.
  const RopeConfig beside = parse(R"({"num_attention_heads": 4, "max_position_embeddings": 128,
      "original_max_position_embeddings": 32,
      "rope_scaling": {"type": "yarn", "original_max_position_embeddings": 64}})");
  CHECK(std::get<nn::RopeYarn>(beside.scaling).original_positions == 32);
  CHECK(std::get<nn::RopeYarn>(beside.scaling).factor == 4);
  CHECK(std::get<nn::RopeYarn>(beside.scaling).truncate);
}

TEST_CASE("rope config: nothing, null and an empty object leave the frequencies unscaled") {
  for (const char* scaling : {R"()", R"(, "rope_scaling": null)", R"(, "rope_scaling": {})",
                              R"(, "rope_scaling": {"rope_type": "default"})",
                              R"(, "rope_scaling": {"type": "default"})"}) {
    CAPTURE(scaling);
    const RopeConfig config = parse(std::string(R"({"rope_theta": 5)") + scaling + "}");
    CHECK(std::holds_alternative<nn::RopeUnscaled>(config.scaling));
    CHECK(config.theta == 5);
  }
}

TEST_CASE("rope config: parameters by layer type are those of the file's only type") {
  const std::string by_layer = R"("rope_parameters": {
      "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000000},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000}})";
  const RopeConfig full = parse(R"({"layer_types": ["full_attention"], )" + by_layer + "}");
  CHECK(full.theta == 1000000);
  CHECK(std::get<nn::RopeLinear>(full.scaling).factor == 8);
  const RopeConfig sliding =
      parse(R"({"layer_types": ["sliding_attention", "sliding_attention"], )" + by_layer + "}");
  CHECK(sliding.theta == 10000);
  CHECK(std::holds_alternative<nn::RopeUnscaled>(sliding.scaling));
  CHECK_THAT(error_of("{" + by_layer + "}"), Contains("rope_parameters") && Contains("differs"));
  CHECK_THAT(
      error_of(R"({"layer_types": ["full_attention", "sliding_attention"], )" + by_layer + "}"),
      Contains("rope_parameters") && Contains("differs"));
  CHECK_THAT(error_of(R"({"layer_types": ["other"], )" + by_layer + "}"), Contains("'other'"));
  const RopeConfig same = parse(R"({"rope_parameters": {
      "a": {"rope_type": "default", "rope_theta": 3}, "b": {"rope_theta": 3, "rope_type": "default"}}})");
  CHECK(same.theta == 3);
  CHECK_THAT(error_of(R"({"layer_types": "full_attention", )" + by_layer + "}"),
             Contains("layer_types"));
}

TEST_CASE("rope config: pairing is read where a file names it") {
  CHECK_FALSE(parse(R"({"rope_theta": 5})").pairing);
  CHECK(parse(R"({"rope_theta": 5, "rope_interleave": true})").pairing ==
        nn::RopePairing::kInterleaved);
  CHECK(parse(R"({"rope_theta": 5, "rope_interleave": false})").pairing == nn::RopePairing::kHalf);
  CHECK(parse(R"({"rope_theta": 5, "rope_pairing": "half", "rope_interleave": true})").pairing ==
        nn::RopePairing::kHalf);
  CHECK_THAT(error_of(R"({"rope_theta": 5, "rope_pairing": "both"})"), Contains("rope_pairing"));
}

TEST_CASE("rope config: an odd rotary size is refused with its numbers") {
  const auto size_error = [](const std::string& text, int64_t head_dim) {
    try {
      nn::rotary_size(parse(text), head_dim);
    } catch (const base::FormatError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(size_error(R"({"rope_theta": 5, "partial_rotary_factor": 0.3})", 10),
             Contains("3 of 10 elements") && Contains("partial_rotary_factor 0.3"));
  CHECK_THAT(size_error(R"({"rope_theta": 5})", 7), Contains("7 of 7 elements"));
  CHECK_THAT(size_error(R"({"rope_theta": 5, "partial_rotary_factor": 0.1})", 10),
             Contains("1 of 10 elements"));
  CHECK_THAT(size_error(R"({"rope_theta": 5, "partial_rotary_factor": 0.01})", 10),
             Contains("0 of 10 elements"));
  CHECK_THAT(size_error(R"({"rope_theta": 5, "head_dim": 128})", 64),
             Contains("128 elements; these have 64"));
  CHECK(size_error(R"({"rope_theta": 5, "head_dim": 128, "qk_rope_head_dim": 64})", 64).empty());
  // Rounded down as in transformers: 0.29 * 100 is a little less than 29.
  CHECK(size_error(R"({"rope_theta": 5, "partial_rotary_factor": 0.29})", 100).empty());
}

TEST_CASE("rope config: what is missing, unknown or not supported is named") {
  CHECK_THAT(error_of(R"({"rope_scaling": {"rope_type": "ntk", "factor": 2}})"),
             Contains("c.json: rope_scaling: field 'rope_type': type 'ntk' is not supported") &&
                 Contains("longrope"));
  CHECK_THAT(error_of(R"({"rope_parameters": {"type": "proportional"}})"),
             Contains("c.json: rope_parameters: field 'type': type 'proportional'"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"rope_type": 3}})"), Contains("'rope_type'"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"factor": 2}})"),
             Contains("'factor' without a 'rope_type'"));
  CHECK_THAT(error_of(R"({"rope_scaling": 8})"), Contains("rope_scaling") && Contains("object"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "linear"}})"), Contains("'factor' is missing"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "linear", "factor": null}})"),
             Contains("'factor' is null"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "linear", "factor": "8"}})"),
             Contains("'factor'"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "linear", "factor": -8}})"),
             Contains("c.json: rope_scaling: linear: factor is -8"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "dynamic", "factor": 2}})"),
             Contains("'max_position_embeddings' is missing"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "yarn", "factor": 2}})"),
             Contains("'original_max_position_embeddings' is missing"));
  CHECK_THAT(error_of(R"({"type": "yarn", "original_max_position_embeddings": 2})"),
             Contains("'factor' is missing"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "yarn", "factor": 2, "truncate": 1,
                          "original_max_position_embeddings": 2}})"),
             Contains("'truncate'"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "llama3", "factor": 2}})"),
             Contains("'low_freq_factor' is missing"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "longrope", "short_factor": [1]}})"),
             Contains("'long_factor' is missing"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "longrope", "short_factor": [1, "2"]}})"),
             Contains("'short_factor'") && Contains("list of numbers"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "default", "mrope_section": [1, 1]}})"),
             Contains("'mrope_section'") && Contains("not supported"));
  CHECK_THAT(error_of(R"({"rope_theta": 5, "rotary_pct": 0.25})"), Contains("'rotary_pct'"));
  CHECK_THAT(error_of(R"({"rope_theta": 5, "rope_local_base_freq": 10000})"),
             Contains("'rope_local_base_freq'"));
  CHECK(error_of(R"({"rope_theta": 5, "rope_local_base_freq": 10000,
                     "layer_types": ["full_attention"]})")
            .empty());
  CHECK_THAT(error_of(R"({"rope_theta": 5, "partial_rotary_factor": 1.5})"),
             Contains("'partial_rotary_factor': 1.5"));
  CHECK_THAT(error_of(R"({"rope_scaling": {"type": "linear", "factor": 2},
                          "rope_parameters": {"type": "linear", "factor": 3}})"),
             Contains("'rope_scaling' and 'rope_parameters' differ"));
  CHECK(error_of(R"({"rope_scaling": {"type": "linear", "factor": 2},
                     "rope_parameters": {"factor": 2, "type": "linear"}})")
            .empty());
  CHECK_THAT(error_of("{}"), Contains("neither"));
  CHECK_THAT(error_of(R"({"factor": 8})"), Contains("neither"));
}
