// SPDX-License-Identifier: Apache-2.0
// Matrix product with an optional bias, one work-item a group: C = A B^T + bias (B_IS_NK) or
// C = A B + bias. For devices that run a work-item as plain vector code (CPUs), and the one that is
// legal where groups of one item are all there is; gemm.cl is the kernel for wide groups.
//
// C: [M, N]; A: [M, K]; B: [N, K] with B_IS_NK, else [K, N]; bias: [N]. All row-major without gaps,
// each stored as f32, f16 or bf16. Products and sums are fp32.
//
// A work-item owns a tile of TILE_M rows and SUM_N = PANELS * TILE_N columns of C. For TILE_K
// columns of A at a time it copies its rows of A into blocks of ITEM_M rows and TILE_N columns of B
// into a panel, then multiplies block by block with ITEM_M x TILE_N sums in registers:
//
//                      panel of B
//                     [TILE_K][TILE_N]
//   block of A  ----> +--------------+
//   [TILE_K][ITEM_M]  | sums         |   then the next block with the same panel
//                     +--------------+
//
// Macros (default; allowed):
//   A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE  f32; f32, f16, bf16
//   B_IS_NK   1; 0, 1
//   HAS_BIAS  0; 0, 1 (without it the argument is null)
//   TILE_M    96; a multiple of ITEM_M
//   TILE_K    256; >= 1
//   ITEM_M    6; >= 1
//   VECTOR    16; 4, 8, 16: floats of one register
//   VECTORS   4; >= 1. TILE_N = VECTOR * VECTORS
//   PANELS    4; >= 1
// check: -DA_TYPE=f32
// check: -DA_TYPE=f16 -DB_TYPE=bf16 -DC_TYPE=f16 -DBIAS_TYPE=bf16 -DB_IS_NK=0 -DHAS_BIAS=1
// check: -DTILE_M=24 -DTILE_K=64 -DVECTOR=4 -DPANELS=1 -DC_TYPE=bf16
// Group size: (1, 1). Global: (N in SUM_N, M in TILE_M), rounded up.
// Local memory: 4 * (TILE_M * TILE_K + TILE_K * TILE_N + TILE_M * SUM_N) bytes.
// Edges: columns past N are 0 in the panel, rows past M repeat the last row; neither is written.
// Barriers: none, the group has one item.
// Accuracy: sums of TILE_K products, added to a running sum; the order is fixed, so the same input
// gives the same bits.
// Source: Goto and van de Geijn, ACM TOMS 34 (2008), for packed blocks and panels.
#include "element.h"

#ifndef A_TYPE
#define A_TYPE f32
#endif
#ifndef B_TYPE
#define B_TYPE f32
#endif
#ifndef C_TYPE
#define C_TYPE f32
#endif
#ifndef BIAS_TYPE
#define BIAS_TYPE f32
#endif
#ifndef B_IS_NK
#define B_IS_NK 1
#endif
#ifndef HAS_BIAS
#define HAS_BIAS 0
#endif
#ifndef TILE_M
#define TILE_M 96
#endif
#ifndef TILE_K
#define TILE_K 256
#endif
#ifndef ITEM_M
#define ITEM_M 6
#endif
#ifndef VECTOR
#define VECTOR 16
#endif
#ifndef VECTORS
#define VECTORS 4
#endif
#ifndef PANELS
#define PANELS 4
#endif

#define TILE_N (VECTOR * VECTORS)
#define SUM_N (TILE_N * PANELS)
#define PACK_K 16
#define VLOAD STORAGE_CAT(vload, VECTOR)
#define VSTORE STORAGE_CAT(vstore, VECTOR)
typedef STORAGE_CAT(float, VECTOR) vector;

// Copies rows [k0, k0 + rows) of B, seen as [K, N], columns [n0, n0 + TILE_N), into the panel.
static void pack_panel(__local float* panel, __global const ELEM(B_TYPE) * b, size_t k0, int rows,
                       size_t n0, size_t n_size, size_t k_size) {
  const int columns = (int)min((size_t)TILE_N, n_size - n0);
#if B_IS_NK
  // PACK_K rows at a time, so that the lines written stay in the nearest cache.
  for (int block = 0; block < rows; block += PACK_K) {
    const int end = min(block + PACK_K, rows);
    for (int c = 0; c < columns; ++c) {
      const size_t from = (n0 + c) * k_size + k0;
      for (int k = block; k < end; ++k) {
        panel[k * TILE_N + c] = LOAD(B_TYPE, b, from + k);
      }
    }
  }
#else
  for (int k = 0; k < rows; ++k) {
    const size_t from = (k0 + k) * n_size + n0;
    for (int c = 0; c < columns; ++c) {
      panel[k * TILE_N + c] = LOAD(B_TYPE, b, from + c);
    }
  }
#endif
  for (int k = 0; k < rows; ++k) {
    for (int c = columns; c < TILE_N; ++c) {
      panel[k * TILE_N + c] = 0.0f;
    }
  }
}

// Copies rows [m0, m0 + tile_rows) of A, columns [k0, k0 + rows), into blocks of ITEM_M rows, each
// [TILE_K][ITEM_M].
static void pack_rows(__local float* a_tile, __global const ELEM(A_TYPE) * a, size_t m0,
                      int tile_rows, size_t k0, int rows, size_t m_size, size_t k_size) {
  for (int r = 0; r < tile_rows; r += ITEM_M) {
    __local float* block = a_tile + r * TILE_K;
    for (int i = 0; i < ITEM_M; ++i) {
      const size_t from = min(m0 + r + i, m_size - 1) * k_size + k0;
      for (int k = 0; k < rows; ++k) {
        block[k * ITEM_M + i] = LOAD(A_TYPE, a, from + k);
      }
    }
  }
}

// Adds a block of ITEM_M packed rows of A times the panel to `sums`.
static void add_block(__local float* sums, __local const float* a_block,
                      __local const float* panel, int rows) {
  vector part[ITEM_M][VECTORS];
#pragma unroll
  for (int i = 0; i < ITEM_M; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      part[i][v] = (vector)(0.0f);
    }
  }
  for (int k = 0; k < rows; ++k) {
    vector b_row[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      b_row[v] = VLOAD(v, panel + k * TILE_N);
    }
#pragma unroll
    for (int i = 0; i < ITEM_M; ++i) {
      const vector x = (vector)(a_block[k * ITEM_M + i]);
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        part[i][v] = fma(x, b_row[v], part[i][v]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < ITEM_M; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      VSTORE(VLOAD(v, sums + i * SUM_N) + part[i][v], v, sums + i * SUM_N);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_panel(
    __global ELEM(C_TYPE) * c, __global const ELEM(A_TYPE) * a, __global const ELEM(B_TYPE) * b,
    __global const ELEM(BIAS_TYPE) * bias, ulong m_size, ulong n_size, ulong k_size) {
  __local float a_tile[TILE_M * TILE_K] __attribute__((aligned(64)));
  __local float panel[TILE_K * TILE_N] __attribute__((aligned(64)));
  __local float sums[TILE_M * SUM_N] __attribute__((aligned(64)));
  const size_t m0 = get_group_id(1) * TILE_M;
  const size_t n0 = get_group_id(0) * SUM_N;
  const int tile_rows = (int)min((size_t)TILE_M, (size_t)m_size - m0);
  const int tile_columns = (int)min((size_t)SUM_N, (size_t)n_size - n0);

  for (int i = 0; i < TILE_M * SUM_N; ++i) {
    sums[i] = 0.0f;
  }
  for (size_t k0 = 0; k0 < k_size; k0 += TILE_K) {
    const int rows = (int)min((size_t)TILE_K, (size_t)k_size - k0);
    pack_rows(a_tile, a, m0, tile_rows, k0, rows, m_size, k_size);
    for (int column = 0; column < tile_columns; column += TILE_N) {
      pack_panel(panel, b, k0, rows, n0 + column, n_size, k_size);
      for (int r = 0; r < tile_rows; r += ITEM_M) {
        add_block(sums + r * SUM_N + column, a_tile + r * TILE_K, panel, rows);
      }
    }
  }
  for (int r = 0; r < tile_rows; ++r) {
    for (int j = 0; j < tile_columns; ++j) {
#if HAS_BIAS
      const float value = sums[r * SUM_N + j] + LOAD(BIAS_TYPE, bias, n0 + j);
#else
      const float value = sums[r * SUM_N + j];
#endif
      STORE(C_TYPE, c, (m0 + r) * n_size + n0 + j, value);
    }
  }
}
