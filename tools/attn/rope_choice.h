// SPDX-License-Identifier: Apache-2.0
// attn-run's RoPE for --q and --k: --rope, --rope-config and the options beside them.
#ifndef NETCL_TOOLS_ATTN_ROPE_CHOICE_H_
#define NETCL_TOOLS_ATTN_ROPE_CHOICE_H_

#include <cstdint>

#include "attn/run_options.h"
#include "nn/rope.h"
#include "nn/rope_scaling.h"

namespace netcl::attn {

struct RopeChoice {
  double theta = 0;
  int64_t rope_dim = 0;
  nn::RopePairing pairing = nn::RopePairing::kHalf;
  nn::RopeScaling scaling;
};

// For heads of head_dim elements. Throws the errors of nn::read_rope_config(); UsageError without a
// theta and for a --rope-dim beyond the head; FormatError for an odd number of rotated elements.
RopeChoice choose_rope(const RunOptions& options, int64_t head_dim);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_ROPE_CHOICE_H_
