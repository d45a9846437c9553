// SPDX-License-Identifier: Apache-2.0
// Root-mean-square norm of rows: y[r, i] = x[r, i] / sqrt(mean(x[r, :]^2) + eps) * gamma[i].
//
// y, x: [rows, dim]; gamma: [dim]. Each stored as f32, f16 or bf16; arithmetic in fp32.
// A work-item owns one row: made for the short rows of attention heads.
//
// Macros (default; allowed): X_TYPE, GAMMA_TYPE (of y: X_TYPE)  f32; f32, f16, bf16
// check: -DX_TYPE=f32
// check: -DX_TYPE=f16 -DGAMMA_TYPE=bf16
// Local memory: none. Barriers: none. Global size: rows rounded up to the group.
// Source: Zhang and Sennrich, Root Mean Square Layer Normalization (2019), equation 4.
#include "element.h"

#ifndef X_TYPE
#define X_TYPE f32
#endif
#ifndef GAMMA_TYPE
#define GAMMA_TYPE f32
#endif

__kernel void rms_norm(__global ELEM(X_TYPE) * y, __global const ELEM(X_TYPE) * x,
                       __global const ELEM(GAMMA_TYPE) * gamma, ulong rows, ulong dim, float eps) {
  const size_t row = get_global_id(0);
  if (row >= rows) {
    return;
  }
  const size_t first = row * dim;
  float sum = 0.0f;
  for (size_t i = 0; i < dim; ++i) {
    const float value = LOAD(X_TYPE, x, first + i);
    sum += value * value;
  }
  const float root = sqrt(sum / (float)dim + eps);
  for (size_t i = 0; i < dim; ++i) {
    STORE(X_TYPE, y, first + i, LOAD(X_TYPE, x, first + i) / root * LOAD(GAMMA_TYPE, gamma, i));
  }
}
