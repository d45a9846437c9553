// SPDX-License-Identifier: Apache-2.0
// Scalings of RoPE's frequencies, by which models reach positions beyond those of their training.
//
// Unscaled, pair c of a rotary size R turns by w_c = theta^(-2c / R) a position. A scaling changes
// the w_c, and some multiply cos and sin by an attention factor, so that a score of rotated q and k
// grows by its square. Names, fields and results are those of Hugging Face transformers 5.24
// (modeling_rope_utils), computed in double where it computes in float.
#ifndef NETCL_NN_ROPE_SCALING_H_
#define NETCL_NN_ROPE_SCALING_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace netcl::nn {

// "default": w_c as above.
struct RopeUnscaled {
  friend bool operator==(const RopeUnscaled&, const RopeUnscaled&) = default;
};

// "linear" (position interpolation; Chen et al., 2023): w_c / factor.
struct RopeLinear {
  double factor = 1;
  friend bool operator==(const RopeLinear&, const RopeLinear&) = default;
};

// "dynamic" (NTK-aware): theta * (factor * L / max_positions - (factor - 1))^(R / (R - 2)) in place
// of theta, where L = the sequence length, at least max_positions: so nothing changes up to there.
struct RopeDynamic {
  double factor = 1;
  int64_t max_positions = 0;  // max_position_embeddings
  friend bool operator==(const RopeDynamic&, const RopeDynamic&) = default;
};

// "yarn" (Peng et al., YaRN, 2023): w_c for pairs that turn more than beta_fast times in the
// original positions, w_c / factor for those that turn less than beta_slow times, a linear ramp
// over c between. Attention factor: the given one, else m(mscale) / m(mscale_all_dim) when both are
// given and not 0, else m(1), where m(x) = 0.1 x ln(factor) + 1, and 1 for a factor up to 1.
struct RopeYarn {
  double factor = 1;
  int64_t original_positions = 0;  // original_max_position_embeddings
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;  // ends of the ramp are rounded outwards to whole pairs
  std::optional<double> attention_factor, mscale, mscale_all_dim;
  friend bool operator==(const RopeYarn&, const RopeYarn&) = default;
};

// "llama3" (Llama 3.1): w_c for wavelengths below original_positions / high_freq_factor, w_c /
// factor above original_positions / low_freq_factor, between a blend linear in the frequency.
struct RopeLlama3 {
  double factor = 1, low_freq_factor = 1, high_freq_factor = 4;
  int64_t original_positions = 0;
  friend bool operator==(const RopeLlama3&, const RopeLlama3&) = default;
};

// "longrope" (Ding et al., LongRoPE, 2024): w_c / list[c]; the long list for sequences of more than
// original_positions, else the short one. Attention factor, with either list: the given one, else
// sqrt(1 + ln(factor) / ln(original_positions)), and 1 for a factor up to 1.
struct RopeLongrope {
  std::vector<double> short_factor, long_factor;  // R / 2 numbers each
  double factor = 1;
  int64_t original_positions = 0;
  std::optional<double> attention_factor;
  friend bool operator==(const RopeLongrope&, const RopeLongrope&) = default;
};

using RopeScaling =
    std::variant<RopeUnscaled, RopeLinear, RopeDynamic, RopeYarn, RopeLlama3, RopeLongrope>;

// The rope_type of Hugging Face: "default", "linear", "dynamic", "yarn", "llama3", "longrope".
std::string_view rope_scaling_name(const RopeScaling& scaling);

// The field `factor`; 1 for RopeUnscaled.
double rope_scaling_factor(const RopeScaling& scaling);

// Throws FormatError for a number out of range, naming type, field and value.
void check_rope_scaling(const RopeScaling& scaling);

// Whether a sequence of this length has other frequencies than a short one: only dynamic beyond
// max_positions and longrope beyond original_positions. The length is the largest position that a
// call rotates, in any batch item, plus one; 0 = short.
bool changes_with_length(const RopeScaling& scaling, int64_t sequence_length);

struct RopeFrequencies {
  std::vector<double> radians;  // a position, of pairs 0 .. rope_dim / 2 - 1
  double attention_factor = 1;  // of cos and sin
};

// theta finite and > 0, rope_dim even and from 2: the caller's to check. Throws FormatError as
// check_rope_scaling(), for lists of another length than rope_dim / 2, for dynamic with rope_dim 2
// and yarn with theta up to 1, which have no formula.
RopeFrequencies rope_frequencies(const RopeScaling& scaling, double theta, int64_t rope_dim,
                                 int64_t sequence_length);

}  // namespace netcl::nn

#endif  // NETCL_NN_ROPE_SCALING_H_
