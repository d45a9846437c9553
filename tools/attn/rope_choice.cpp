// SPDX-License-Identifier: Apache-2.0
#include "attn/rope_choice.h"

#include <optional>

#include "base/error.h"
#include "nn/rope_config.h"

namespace netcl::attn {

namespace {

int64_t choose_rope_dim(const RunOptions& options, const std::optional<nn::RopeConfig>& config,
                        int64_t head_dim) {
  const auto wanted = static_cast<int64_t>(options.rope_dim);
  if (wanted > head_dim) {
    throw base::UsageError("--rope-dim: " + std::to_string(wanted) + " is more than the " +
                           std::to_string(head_dim) + " elements of a head");
  }
  if (wanted != 0) {
    return wanted;
  }
  if (config) {
    return nn::rotary_size(*config, head_dim);
  }
  if (head_dim % 2 != 0) {
    throw base::FormatError("--rope: a head has " + std::to_string(head_dim) +
                            " elements, which rotate in pairs; give an even --rope-dim");
  }
  return head_dim;
}

}  // namespace

RopeChoice choose_rope(const RunOptions& options, int64_t head_dim) {
  std::optional<nn::RopeConfig> config;
  if (!options.rope_config.empty()) {
    config = nn::read_rope_config(options.rope_config);
  }
  RopeChoice choice;
  choice.rope_dim = choose_rope_dim(options, config, head_dim);
  choice.theta = options.rope;
  if (config) {
    choice.scaling = config->scaling;
    choice.pairing = config->pairing.value_or(choice.pairing);
    if (choice.theta == 0 && !config->theta) {
      throw base::UsageError("--rope-config: " + config->where +
                             " has no 'rope_theta'; give --rope THETA");
    }
    choice.theta = choice.theta == 0 ? *config->theta : choice.theta;
    nn::check_rope_fits(*config, choice.theta, choice.rope_dim);
  }
  if (options.has_pairing) {
    choice.pairing = options.interleaved ? nn::RopePairing::kInterleaved : nn::RopePairing::kHalf;
  }
  return choice;
}

}  // namespace netcl::attn
