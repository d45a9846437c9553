// SPDX-License-Identifier: Apache-2.0
// rope: rotates pairs (a, b) of every row by the angle of its position:
//   a' = a cos - b sin,  b' = a sin + b cos
//
// out  y [B, H, T, D] by strides, type X_TYPE
// in   x [B, H, T, D] by the same strides; cos_table, sin_table [positions, half_dim] f32;
//      positions [B, T] or [T] i64, each a row of the tables (checked by the host)
// work-item: one pair, or one element past the rotated ones, of one row. Global id 0 runs over
//      [B, T, H, half_dim + (D - 2 * half_dim)], padded; ids past the end do nothing
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
  const long slots = shape.width - shape.half_dim;
  const long id = (long)get_global_id(0);
  if (id >= shape.batch * shape.length * shape.heads * slots) {
    return;
  }
  const long c = id % slots;
  const long h = id / slots % shape.heads;
  const long i = id / (slots * shape.heads) % shape.length;
  const long b = id / (slots * shape.heads * shape.length);
  const long row = b * shape.batch_stride + h * shape.head_stride + i * shape.row_stride;
  if (c >= shape.half_dim) {
    const size_t at = (size_t)(row + shape.half_dim + c);
    STORE(X_TYPE, y, at, LOAD(X_TYPE, x, at));
    return;
  }
  const long position = positions[b * shape.position_batch_stride + i];
  const float cosine = cos_table[position * shape.half_dim + c];
  const float sine = sin_table[position * shape.half_dim + c];
  const size_t first = (size_t)(row + (INTERLEAVED ? 2 * c : c));
  const size_t second = first + (size_t)(INTERLEAVED ? 1 : shape.half_dim);
  const float a = LOAD(X_TYPE, x, first);
  const float e = LOAD(X_TYPE, x, second);
  STORE(X_TYPE, y, first, a * cosine - e * sine);
  STORE(X_TYPE, y, second, a * sine + e * cosine);
}
