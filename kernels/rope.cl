// SPDX-License-Identifier: Apache-2.0
// rope: rotates pairs (a, b) of every row by the angle of its position:
//   a' = a cos - b sin,  b' = a sin + b cos
//
// out  y [B, H, T, D] by strides, type X_TYPE
// in   x [B, H, T, D] by the same strides; cos_table, sin_table [positions, half_dim] f32;
//      positions [B, T] or [T] i64, each a row of the tables (checked by the host)
// work-item (i, c, b): slot c of row i of all heads of batch b. A slot is a pair, or one element past
//      the rotated ones; there are D - half_dim of them, and ids past the last do nothing. Rows are
//      axis 0, the one axis that devices let grow past 65535 groups; a group is slots of one row
// macros: X_TYPE = f32 (f32, f16, bf16)
//         INTERLEAVED = 0 (0: pairs (c, c + half_dim); 1: pairs (2c, 2c + 1))
// check: -DX_TYPE=f32 -DINTERLEAVED=0
// check: -DX_TYPE=f16 -DINTERLEAVED=1
// check: -DX_TYPE=bf16 -DINTERLEAVED=0
// local memory: 0 bytes
// accuracy: float; cos and sin are rounded from double by the host
// barriers: none
// source: Su et al., RoFormer, 2021, equation 34

#include "element.h"
#include "rope_shape.h"

#ifndef X_TYPE
#define X_TYPE f32
#endif
#ifndef INTERLEAVED
#define INTERLEAVED 0
#endif

__kernel void rope(__global ELEM(X_TYPE)* y, __global const ELEM(X_TYPE)* x,
                   __global const float* cos_table, __global const float* sin_table,
                   __global const long* positions, const RopeShape shape) {
  const long i = (long)get_global_id(0);
  const long c = (long)get_global_id(1);
  const long b = (long)get_global_id(2);
  if (c >= shape.width - shape.half_dim) {
    return;
  }
  const bool rotated = c < shape.half_dim;
  const long table = positions[b * shape.position_batch_stride + i] * shape.half_dim + c;
  const float cosine = rotated ? cos_table[table] : 1.0f;
  const float sine = rotated ? sin_table[table] : 0.0f;
  // A slot past the pairs stands half_dim elements later.
  const long first_column = !rotated ? shape.half_dim + c : INTERLEAVED ? 2 * c : c;
  const long apart = INTERLEAVED ? 1 : shape.half_dim;
  for (long h = 0; h < shape.heads; ++h) {
    const size_t first = (size_t)(b * shape.batch_stride + h * shape.head_stride +
                                  i * shape.row_stride + first_column);
    const float a = LOAD(X_TYPE, x, first);
    if (!rotated) {
      STORE(X_TYPE, y, first, a);
      continue;
    }
    const size_t second = first + (size_t)apart;
    const float e = LOAD(X_TYPE, x, second);
    STORE(X_TYPE, y, first, a * cosine - e * sine);
    STORE(X_TYPE, y, second, a * sine + e * cosine);
  }
}
