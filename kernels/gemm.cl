// SPDX-License-Identifier: Apache-2.0
// Tiled matrix product with an optional bias: C = A B^T + bias (B_IS_NK) or C = A B + bias.
//
// C: [M, N]; A: [M, K]; B: [N, K] with B_IS_NK, else [K, N]; bias: [N]. All row-major without
// gaps; each stored as f32, f16 or bf16. Products and sums are fp32.
//
// A work-group owns a TILE_M x TILE_N tile of C; a work-item owns ITEM_M rows x ITEM_N columns of it
// and keeps them in registers. Tiles of A and B pass through local memory, TILE_K columns at a time:
//
//              TILE_N                       A tile: [TILE_M][TILE_K]
//           +---+---+---+  item (x, y):     B tile: [TILE_K][TILE_N], so that an item reads its
//   TILE_M  |   |   |   |  rows y * ITEM_M          ITEM_N columns as one vector
//           +---+---+---+  columns x * ITEM_N
//
// Macros (default; allowed):
//   A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE  f32; f32, f16, bf16
//   B_IS_NK                 1; 0, 1
//   HAS_BIAS                0; 0, 1 (without it the argument is null)
//   TILE_M, TILE_N          64, 64; multiples of ITEM_M, ITEM_N
//   TILE_K                  16; a multiple of LOAD_N
//   ITEM_M                  4; >= 1
//   ITEM_N                  4; 1, 4, 8, 16
//   LOAD_N                  4; 1, 4, 8, 16: elements moved to local memory in one access; TILE_N
//                           must be a multiple of it without B_IS_NK
// check: -DA_TYPE=f32
// check: -DA_TYPE=f16 -DB_TYPE=bf16 -DC_TYPE=f16 -DBIAS_TYPE=bf16 -DB_IS_NK=0 -DHAS_BIAS=1 -DITEM_N=1 -DLOAD_N=1
// Group size: (TILE_N / ITEM_N, TILE_M / ITEM_M). Global: N and M rounded up to tiles, divided
// by ITEM_N and ITEM_M. Local memory: 4 * TILE_K * (TILE_M + TILE_N) bytes.
//
// Edges: elements outside A and B are read as 0, elements outside C are not written.
// Barriers: one after a tile is filled, before it is read; one after it is read, before the next
// refill. The loop bounds depend on K alone, so every item reaches both.
// Accuracy: sums of TILE_K products are added to a running sum in a fixed order, so the same input
// gives the same bits.
// Source: blocked matrix product; Goto and van de Geijn, ACM TOMS 34 (2008), for the idea.
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
#define TILE_M 64
#endif
#ifndef TILE_N
#define TILE_N 64
#endif
#ifndef TILE_K
#define TILE_K 16
#endif
#ifndef ITEM_M
#define ITEM_M 4
#endif
#ifndef ITEM_N
#define ITEM_N 4
#endif
#ifndef LOAD_N
#define LOAD_N 4
#endif

#define GROUP_X (TILE_N / ITEM_N)
#define GROUP_Y (TILE_M / ITEM_M)
#define GROUP (GROUP_X * GROUP_Y)

#if ITEM_N == 1
typedef float item_row;
#define LOAD_ROW(p) (*(p))
#define STORE_ROW(x, p) (*(p) = (x))
#else
typedef STORAGE_CAT(float, ITEM_N) item_row;
#define LOAD_ROW(p) STORAGE_CAT(vload, ITEM_N)(0, p)
#define STORE_ROW(x, p) STORAGE_CAT(vstore, ITEM_N)(x, 0, p)
#endif

#if LOAD_N == 1
#define STORE_CHUNK(x, p) (*(p) = (x))
#else
#define STORE_CHUNK(x, p) STORAGE_CAT(vstore, LOAD_N)(x, 0, p)
#endif

// Reads elements [column, column + LOAD_N) of a row of a [rows, columns] matrix into `to`; zeros
// outside the matrix.
#define DEFINE_LOAD_CHUNK(name, type)                                                           \
  void name(float* to, __global const ELEM(type)* matrix, size_t row, size_t column, size_t rows, \
            size_t columns) {                                                                   \
    if (row < rows && column + LOAD_N <= columns) {                                             \
      STORE_CHUNK(LOADN(type, LOAD_N, matrix, row * columns + column), to);                     \
    } else {                                                                                    \
      for (int i = 0; i < LOAD_N; ++i) {                                                        \
        const bool inside = row < rows && column + i < columns;                                 \
        to[i] = inside ? LOAD(type, matrix, row * columns + column + i) : 0.0f;                 \
      }                                                                                         \
    }                                                                                           \
  }
DEFINE_LOAD_CHUNK(load_chunk_a, A_TYPE)
DEFINE_LOAD_CHUNK(load_chunk_b, B_TYPE)

__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void gemm(
    __global ELEM(C_TYPE)* c, __global const ELEM(A_TYPE)* a, __global const ELEM(B_TYPE)* b,
    __global const ELEM(BIAS_TYPE)* bias, ulong m_size, ulong n_size, ulong k_size) {
  __local float a_tile[TILE_M * TILE_K];
  __local float b_tile[TILE_K * TILE_N];
  const int item_x = get_local_id(0);
  const int item_y = get_local_id(1);
  const int item = item_y * GROUP_X + item_x;
  const size_t tile_row = get_group_id(1) * TILE_M;
  const size_t tile_column = get_group_id(0) * TILE_N;

  item_row sum[ITEM_M];
  for (int i = 0; i < ITEM_M; ++i) {
    sum[i] = (item_row)(0.0f);
  }
  for (size_t k0 = 0; k0 < k_size; k0 += TILE_K) {
    for (int chunk = item; chunk < TILE_M * TILE_K / LOAD_N; chunk += GROUP) {
      const int row = chunk / (TILE_K / LOAD_N);
      const int k = chunk % (TILE_K / LOAD_N) * LOAD_N;
      float values[LOAD_N];
      load_chunk_a(values, a, tile_row + row, k0 + k, m_size, k_size);
      for (int i = 0; i < LOAD_N; ++i) {
        a_tile[row * TILE_K + k + i] = values[i];
      }
    }
    for (int chunk = item; chunk < TILE_N * TILE_K / LOAD_N; chunk += GROUP) {
      float values[LOAD_N];
#if B_IS_NK
      const int column = chunk / (TILE_K / LOAD_N);
      const int k = chunk % (TILE_K / LOAD_N) * LOAD_N;
      load_chunk_b(values, b, tile_column + column, k0 + k, n_size, k_size);
      for (int i = 0; i < LOAD_N; ++i) {
        b_tile[(k + i) * TILE_N + column] = values[i];
      }
#else
      const int k = chunk / (TILE_N / LOAD_N);
      const int column = chunk % (TILE_N / LOAD_N) * LOAD_N;
      load_chunk_b(values, b, k0 + k, tile_column + column, k_size, n_size);
      for (int i = 0; i < LOAD_N; ++i) {
        b_tile[k * TILE_N + column + i] = values[i];
      }
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // The partial sums live between two barriers only, which lets compilers for CPUs keep them in
    // registers.
    item_row part[ITEM_M];
    for (int i = 0; i < ITEM_M; ++i) {
      part[i] = (item_row)(0.0f);
    }
    for (int k = 0; k < TILE_K; ++k) {
      const item_row b_row = LOAD_ROW(b_tile + k * TILE_N + item_x * ITEM_N);
      for (int i = 0; i < ITEM_M; ++i) {
        part[i] = fma((item_row)(a_tile[(item_y * ITEM_M + i) * TILE_K + k]), b_row, part[i]);
      }
    }
    for (int i = 0; i < ITEM_M; ++i) {
      sum[i] += part[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int i = 0; i < ITEM_M; ++i) {
    const size_t row = tile_row + item_y * ITEM_M + i;
    float values[ITEM_N];
    STORE_ROW(sum[i], values);
    for (int j = 0; j < ITEM_N; ++j) {
      const size_t column = tile_column + item_x * ITEM_N + j;
      if (row < m_size && column < n_size) {
#if HAS_BIAS
        STORE(C_TYPE, c, row * n_size + column, values[j] + LOAD(BIAS_TYPE, bias, column));
#else
        STORE(C_TYPE, c, row * n_size + column, values[j]);
#endif
      }
    }
  }
}
