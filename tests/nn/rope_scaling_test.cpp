// SPDX-License-Identifier: Apache-2.0
// Scaled RoPE against values that scripts/rope_values.py makes from the definitions.
#include "nn/rope_scaling.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "nn/rope.h"
#include "nn/rope_config.h"
#include "support/catch.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;
using nn::RopeScaling;

// A power and some ten operations, each rounded to double.
constexpr double kTolerance = 1e-14;

base::Json golden_cases() {
  const std::string path = std::string(NETCL_GOLDEN_DIR) + "/rope_scaling.json";
  return base::parse_json(base::FileBytes::open(path).view(), path);
}

bool close_to(double got, double want) {
  return std::abs(got - want) <= kTolerance * std::abs(want);
}

std::string error_of(const RopeScaling& scaling, double theta = 10000, int64_t rope_dim = 8) {
  try {
    nn::rope_frequencies(scaling, theta, rope_dim, 5);
  } catch (const base::FormatError& error) {
    return error.what();
  }
  return {};
}

nn::RopeYarn yarn() {
  nn::RopeYarn made;
  made.factor = 4;
  made.original_positions = 2048;
  return made;
}

nn::RopeLongrope longrope() {
  nn::RopeLongrope made;
  made.short_factor = {1, 2, 3, 4};
  made.long_factor = {2, 4, 6, 8};
  made.factor = 4;
  made.original_positions = 16;
  return made;
}

}  // namespace

TEST_CASE("rope scaling: frequencies and attention factors are those of the definitions") {
  const base::Json cases = golden_cases();
  REQUIRE(cases.size() >= 30);
  for (const base::Json& want : cases) {
    CAPTURE(want["name"].get<std::string>());
    const nn::RopeConfig config = nn::parse_rope_config(want["config"], "config");
    REQUIRE(config.head_dim);
    REQUIRE(config.theta);
    const int64_t rope_dim = nn::rotary_size(config, *config.head_dim);
    CHECK(rope_dim == want["rope_dim"].get<int64_t>());
    const nn::RopeFrequencies got = nn::rope_frequencies(config.scaling, *config.theta, rope_dim,
                                                         want["sequence_length"].get<int64_t>());
    CHECK(close_to(got.attention_factor, want["attention_factor"].get<double>()));
    const std::vector<double> radians = want["radians"].get<std::vector<double>>();
    REQUIRE(got.radians.size() == radians.size());
    for (size_t c = 0; c < radians.size(); ++c) {
      CAPTURE(c, got.radians[c], radians[c]);
      CHECK(close_to(got.radians[c], radians[c]));
    }
  }
}

TEST_CASE("rope scaling: every scaling comes back from its own JSON") {
  for (const base::Json& want : golden_cases()) {
    const RopeScaling scaling = nn::parse_rope_config(want["config"], "config").scaling;
    const std::string text = nn::rope_scaling_json(scaling);
    CAPTURE(text);
    CHECK(nn::parse_rope_config(base::parse_json(text, "text"), "text").scaling == scaling);
  }
}

TEST_CASE("rope scaling: tables hold scaled angles times the attention factor") {
  nn::RopeOptions options;
  options.head_dim = 10;
  options.rope_dim = 8;
  options.max_positions = 40;
  options.scaling = longrope();
  for (const int64_t length : {16, 17}) {
    options.sequence_length = length;
    const nn::RopeFrequencies frequencies =
        nn::rope_frequencies(options.scaling, options.theta, 8, length);
    CHECK(frequencies.radians[0] == (length == 16 ? 1.0 : 0.5));
    CHECK(close_to(frequencies.attention_factor, std::sqrt(1.5)));
    const nn::RopeAngles angles = nn::rope_angles(options);
    for (size_t position = 0; position < 40; ++position) {
      for (size_t c = 0; c < 4; ++c) {
        const double angle = static_cast<double>(position) * frequencies.radians[c];
        CHECK(angles.cos.as<double>()[position * 4 + c] ==
              frequencies.attention_factor * std::cos(angle));
        CHECK(angles.sin.as<double>()[position * 4 + c] ==
              frequencies.attention_factor * std::sin(angle));
      }
    }
  }
}

TEST_CASE("rope scaling: only dynamic and longrope go by the length, and only past their own") {
  CHECK_FALSE(nn::changes_with_length(nn::RopeUnscaled{}, 1 << 20));
  CHECK_FALSE(nn::changes_with_length(nn::RopeLinear{2}, 1 << 20));
  CHECK_FALSE(nn::changes_with_length(yarn(), 1 << 20));
  CHECK_FALSE(nn::changes_with_length(nn::RopeLlama3{8, 1, 4, 8192}, 1 << 20));
  CHECK_FALSE(nn::changes_with_length(nn::RopeDynamic{2, 64}, 64));
  CHECK(nn::changes_with_length(nn::RopeDynamic{2, 64}, 65));
  CHECK_FALSE(nn::changes_with_length(longrope(), 16));
  CHECK(nn::changes_with_length(longrope(), 17));
}

TEST_CASE("rope scaling: numbers out of range are refused by type, field and value") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  CHECK_THAT(error_of(nn::RopeLinear{0}), Contains("linear: factor is 0; allowed"));
  CHECK_THAT(error_of(nn::RopeLinear{nan}), Contains("factor is nan"));
  CHECK_THAT(error_of(nn::RopeLinear{inf}), Contains("factor is inf"));
  CHECK_THAT(error_of(nn::RopeDynamic{-2, 64}), Contains("dynamic: factor is -2"));
  CHECK_THAT(error_of(nn::RopeDynamic{2, 0}), Contains("max_position_embeddings is 0"));
  CHECK_THAT(error_of(nn::RopeDynamic{2, 64}, 10000, 2), Contains("rotary size 2"));
  CHECK_THAT(error_of(nn::RopeLlama3{8, 4, 4, 8192}),
             Contains("llama3: high_freq_factor is 4") && Contains("low_freq_factor 4"));
  CHECK_THAT(error_of(nn::RopeLlama3{8, 0, 4, 8192}), Contains("low_freq_factor is 0"));
  CHECK_THAT(error_of(nn::RopeLlama3{8, 1, 4, 0}), Contains("original_max_position_embeddings"));

  nn::RopeYarn bad = yarn();
  bad.beta_slow = 32;
  CHECK_THAT(error_of(bad), Contains("yarn: beta_fast is 32") && Contains("beta_slow 32"));
  bad = yarn();
  bad.attention_factor = 0;
  CHECK_THAT(error_of(bad), Contains("attention_factor is 0"));
  bad = yarn();
  bad.mscale = -1;
  CHECK_THAT(error_of(bad), Contains("mscale is -1"));
  CHECK_THAT(error_of(yarn(), 1), Contains("yarn: theta is 1"));
  CHECK(error_of(yarn(), 1.5).empty());

  nn::RopeLongrope uneven = longrope();
  uneven.long_factor.pop_back();
  CHECK_THAT(error_of(uneven), Contains("length of long_factor is 3") && Contains("8 needs 4"));
  CHECK_THAT(error_of(longrope(), 10000, 6), Contains("length of short_factor is 4"));
  uneven = longrope();
  uneven.short_factor[2] = 0;
  CHECK_THAT(error_of(uneven), Contains("a number of short_factor is 0"));
  uneven = longrope();
  uneven.original_positions = 1;
  CHECK_THAT(error_of(uneven), Contains("original_max_position_embeddings is 1"));
}
