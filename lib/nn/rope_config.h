// SPDX-License-Identifier: Apache-2.0
// RoPE as a model's config.json describes it, in the old keys of Hugging Face (rope_theta,
// rope_scaling {"rope_type" or "type": ...}, partial_rotary_factor) and the new ones
// (rope_parameters {"rope_type": ..., "rope_theta": ...}, one or one for each layer type).
#ifndef NETCL_NN_ROPE_CONFIG_H_
#define NETCL_NN_ROPE_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_file.h"
#include "nn/rope.h"
#include "nn/rope_scaling.h"

namespace netcl::nn {

struct RopeConfig {
  std::string where;  // the file, for messages
  RopeScaling scaling;
  std::optional<double> theta;
  std::optional<double> partial_rotary_factor;  // above 0, up to 1
  std::optional<int64_t> head_dim;              // elements of a head that RoPE sees
  std::optional<RopePairing> pairing;  // of our own key rope_pairing, or of rope_interleave
};

// `config` is a config.json, or only the value of its rope_scaling or rope_parameters. Fields that
// stand beside that value count where it lacks them, as in transformers; original_max_position_
// embeddings beside it wins. Parameters by layer type need a layer_types that names one type only,
// or to be all the same. Throws FormatError naming the field: a type that is not known, a number
// missing or out of range, a key that changes RoPE and is not supported, and where both
// rope_scaling and rope_parameters are there and differ.
RopeConfig parse_rope_config(const base::Json& config, const std::string& where);
RopeConfig read_rope_config(const std::string& path);

// Throws FormatError for heads of another size than the file says, where it says one.
void check_head_dim(const RopeConfig& config, int64_t head_dim);

// Elements of a head of head_dim that rotate: partial_rotary_factor of them, rounded down. Throws
// FormatError when that is odd or below 2, and as check_head_dim().
int64_t rotary_size(const RopeConfig& config, int64_t head_dim);

// Throws FormatError, naming the file, for a scaling that has no frequencies for this theta and
// rotary size, as rope_frequencies().
void check_rope_fits(const RopeConfig& config, double theta, int64_t rope_dim);

// The scaling as one line that parse_rope_config() reads back.
std::string rope_scaling_json(const RopeScaling& scaling);

// "half" and "interleaved"; nothing for other words.
std::optional<RopePairing> find_rope_pairing(std::string_view name);

}  // namespace netcl::nn

#endif  // NETCL_NN_ROPE_CONFIG_H_
