// SPDX-License-Identifier: Apache-2.0
// The three inner loops of the host engine on one tile of query rows and keys. Plain code compiled
// for several instruction sets; the widest the machine has is chosen at run time. Sums run over
// head_dim and over keys in ascending order.
#ifndef NETCL_NN_ATTENTION_TILE_H_
#define NETCL_NN_ATTENTION_TILE_H_

#include <cstdint>
#include <vector>

#include "base/cpu.h"

namespace netcl::nn {

inline constexpr int64_t kTileKeys = 64;        // keys of a tile: columns of its scores
inline constexpr int64_t kTileKeysStep = 32;    // scores are computed this many keys at a time
inline constexpr int64_t kTileWidthAlign = 32;  // v and acc rows are padded to a multiple of this
inline constexpr int64_t kTileBytesAlign = 64;  // alignment of kt, v, acc and s

struct TileFunctions {
  // s[r, j] = scale * sum over d of q[r, d] * kt[d, j] for j < keys rounded up to kTileKeysStep
  //   q [rows, head_dim], kt [head_dim, kTileKeys], s [rows, kTileKeys]
  void (*score)(const float* q, int64_t rows, int64_t head_dim, const float* kt, int64_t keys,
                float scale, float* s);
  // One step of the online softmax: with the largest score so far in highest[r] and the sum of
  // exp(score - highest) so far in sum[r], updates both, replaces s[r, j] by
  // exp(s[r, j] - highest[r]) and sets keep[r] to what earlier sums are multiplied by. A score of
  // -inf becomes exactly 0; NaN stays NaN. highest starts at -inf and sum at 0, or with a sink at
  // its logit and 1.
  void (*softmax)(float* s, int64_t rows, float* highest, float* sum, float* keep);
  // acc[r, c] = keep[r] * acc[r, c] + sum over j < keys of p[r, j] * v[j, c]
  //   p [rows, kTileKeys], v [keys, width], acc [rows, width], width % kTileWidthAlign == 0
  void (*accumulate)(const float* p, int64_t rows, const float* keep, const float* v, int64_t keys,
                     int64_t width, float* acc);
  const char* name;      // "baseline", "avx2", "avx512"
  base::CpuLevel level;  // used when base::cpu_level_limit() is this or higher
};

// The widest set that this machine runs and base::cpu_level_limit() allows.
const TileFunctions& tile_functions();

// All sets this machine runs, narrowest first and never empty, whatever the limit.
std::vector<const TileFunctions*> runnable_tile_functions();

// exp(x) for x <= 0 to about 2 units in the last place; 0 below -87.3; NaN stays NaN.
float exp_nonpositive(float x);

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_TILE_H_
