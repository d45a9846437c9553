// SPDX-License-Identifier: Apache-2.0
// attention_tiled: y = softmax(mask(softcap(scale * q k^T))) v without storing the Tq x Tk scores.
//
// Online softmax: the keys pass by in tiles of TILE_K; each row carries the largest score m and the
// sum l of exp(s - m) so far, and its unnormalised output o. A tile that raises m to m' first
// multiplies l and o by exp(m - m').
//
// out  y [B, H, Tq, Dv] by strides, stored as q is; lse [B, H, Tq] f32 or null
// in   q [B, H, Tq, D], k [B, G, Tk, D], v [B, G, Tk, Dv] by strides; mask by strides or null;
//      sequences [S] of AttnSequence; terms [S, H] of AttnHeadTerms
// work-group (x, h, s): query rows x * TILE_Q .. of one head of a sequence, against all keys that one
//   of them may see; tiles outside key_begin of the first and key_end of the last row are never read.
// work-item: patches of ROWS rows by VEC columns of the score tile and of the output tile, dealt
//   out round robin, so any WG_SIZE works; row statistics one row at a time.
//
//            TILE_K keys                        V_HEAD_DIM columns
//   TILE_Q  [ patch | patch | ... ]   TILE_Q   [ patch | patch | ... ]     patch: ROWS x VEC
//   rows    [ patch | patch | ... ]   rows     [ patch | patch | ... ]
//
// macros: WG_SIZE = 64 (work-items, a power of two)      TILE_Q = 32 (rows, multiple of ROWS)
//         TILE_K = 32 (keys, multiple of VEC)            ROWS = 4 (rows of a patch)
//         VEC = 4 (columns of a patch: 1, 4, 8 or 16)    HEAD_DIM = 64, V_HEAD_DIM = 64 (>= 1)
//         Q_TYPE, K_TYPE, V_TYPE = 0 (storage of q and y, k, v: 0 f32, 1 f16, 2 bf16)
// check: -DWG_SIZE=64 -DTILE_Q=32 -DTILE_K=32 -DROWS=4 -DVEC=4 -DHEAD_DIM=64 -DV_HEAD_DIM=64
// check: -DWG_SIZE=1 -DTILE_Q=64 -DTILE_K=64 -DROWS=8 -DVEC=16 -DHEAD_DIM=65 -DV_HEAD_DIM=72
// check: -DWG_SIZE=16 -DTILE_Q=8 -DTILE_K=8 -DROWS=2 -DVEC=8 -DHEAD_DIM=1 -DV_HEAD_DIM=3
// check: -DWG_SIZE=1 -DTILE_Q=1 -DTILE_K=1 -DROWS=1 -DVEC=1 -DQ_TYPE=1 -DK_TYPE=2 -DV_TYPE=1
// local memory: 4 * (TILE_Q * (HEAD_DIM + 1) + max(HEAD_DIM * (TILE_K + VEC), TILE_K * DV)
//   + TILE_Q * (TILE_K + VEC) + TILE_Q * DV + 3 * TILE_Q + 1) bytes, DV = V_HEAD_DIM rounded up to
//   VEC
// accuracy: float throughout; sums over keys are VEC partial sums, so no worse than a plain sum
// barriers: five a tile, all in the body of a loop whose bounds depend on group ids and arguments
//   only, with no return or continue: every work-item of a group reaches each one equally often.
//   They are named where they stand.
// source: Dao, Fu, Ermon, Rudra, Re: FlashAttention (2022), algorithm 1; Milakov, Gimelshein:
//   Online normalizer calculation for softmax (2018), algorithm 3

#include "attn_shape.h"
#include "element.h"
#include "key_visibility.h"

#ifndef WG_SIZE
#define WG_SIZE 64
#endif
#ifndef TILE_Q
#define TILE_Q 32
#endif
#ifndef TILE_K
#define TILE_K 32
#endif
#ifndef ROWS
#define ROWS 4
#endif
#ifndef VEC
#define VEC 4
#endif
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef V_HEAD_DIM
#define V_HEAD_DIM 64
#endif
#ifndef Q_TYPE
#define Q_TYPE 0
#endif
#ifndef K_TYPE
#define K_TYPE 0
#endif
#ifndef V_TYPE
#define V_TYPE 0
#endif

#include "vector_lanes.h"

// Functions that get local memory are always inlined: PoCL 3.1 gives a kernel its local arrays only
// where the kernel itself uses them, and a call that stays a call can end up with another copy.
#define INLINE static inline __attribute__((always_inline))

#define DV ((V_HEAD_DIM + VEC - 1) / VEC * VEC)
// Row lengths in local memory; the extra columns spread rows over memory banks.
#define Q_STRIDE (HEAD_DIM + 1)
#define K_STRIDE (TILE_K + VEC)
#define S_STRIDE (TILE_K + VEC)
#define K_FLOATS (HEAD_DIM * K_STRIDE)
#define V_FLOATS (TILE_K * DV)
#define KV_FLOATS (K_FLOATS > V_FLOATS ? K_FLOATS : V_FLOATS)
// Work-items that share a row when a tile is loaded: neighbours read neighbouring columns.
#define LOAD_ITEMS (WG_SIZE < 32 ? WG_SIZE : 32)

// The weight of a key that is not visible. It adds like 0 and can be told from a weight that
// underflowed, so that a NaN or infinity in that key's value row can be kept out.
#define NO_WEIGHT (-0.0f)

// What a work-group works on.
typedef struct {
  long q, k, v, mask, y;  // element index of the first row in q, mask and y, of the head in k and v
  long row;               // first query row
  int rows;               // query rows, <= TILE_Q
  int patch_rows;         // patches that cover them
  AttnSequence sequence;
  AttnHeadTerms terms;
} Block;

INLINE void load_queries(__local float* q_tile, __global const uchar* q, const AttnShape* shape,
                         const Block* block, int item) {
  for (int r = item / LOAD_ITEMS; r < TILE_Q; r += WG_SIZE / LOAD_ITEMS) {
    const long row = block->q + r * shape->q_row;
    for (int d = item % LOAD_ITEMS; d < HEAD_DIM; d += LOAD_ITEMS) {
      q_tile[r * Q_STRIDE + d] = r < block->rows ? load_element(q, row + d, Q_TYPE) : 0.0f;
    }
  }
}

// Keys first .. first + keys - 1, transposed to [HEAD_DIM][K_STRIDE]; zeros behind them.
INLINE void load_keys(__local float* kv_tile, __global const uchar* k, const AttnShape* shape,
                      const Block* block, long first, int keys, int item) {
  for (int j = item / LOAD_ITEMS; j < TILE_K; j += WG_SIZE / LOAD_ITEMS) {
    const long row = block->k + (first + j) * shape->k_row;
    for (int d = item % LOAD_ITEMS; d < HEAD_DIM; d += LOAD_ITEMS) {
      kv_tile[d * K_STRIDE + j] = j < keys ? load_element(k, row + d, K_TYPE) : 0.0f;
    }
  }
}

// Value rows first .. first + keys - 1 as [TILE_K][DV]; zeros behind and beside them. Returns
// whether this work-item met a NaN or an infinity.
INLINE int load_values(__local float* kv_tile, __global const uchar* v, const AttnShape* shape,
                       const Block* block, long first, int keys, int item) {
  int special = 0;
  for (int j = item / LOAD_ITEMS; j < TILE_K; j += WG_SIZE / LOAD_ITEMS) {
    const long row = block->v + (first + j) * shape->v_row;
    for (int c = item % LOAD_ITEMS; c < DV; c += LOAD_ITEMS) {
      const float value = j < keys && c < V_HEAD_DIM ? load_element(v, row + c, V_TYPE) : 0.0f;
      special |= (as_uint(value) & 0x7f800000u) == 0x7f800000u;
      kv_tile[j * DV + c] = value;
    }
  }
  return special;
}

// Scores of one patch, masked, -inf where not visible.
INLINE void score_patch(__local float* s_tile, __local const float* q_tile,
                        __local const float* kv_tile, __global const uchar* mask,
                        const AttnShape* shape, const Block* block, long first, int r0, int c0) {
  FloatV acc[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    acc[r] = (FloatV)(0.0f);
  }
  for (int d = 0; d < HEAD_DIM; ++d) {
    const FloatV keys = LOAD_V(kv_tile + d * K_STRIDE + c0);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      acc[r] += q_tile[(r0 + r) * Q_STRIDE + d] * keys;
    }
  }
  // Through local memory, so that the loop below need not be unrolled to name the accumulators.
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    STORE_V(acc[r], s_tile + (r0 + r) * S_STRIDE + c0);
  }
  const IntV key = (IntV)(c0) + LANES;
  for (int r = r0; r < r0 + ROWS; ++r) {
    __local float* place = s_tile + r * S_STRIDE + c0;
    FloatV score = shape->scale * LOAD_V(place);
    if (shape->softcap > 0) {
      score = shape->softcap * tanh(score / shape->softcap);
    }
    const long row = block->row + r;
    score = with_alibi_v(score, block->terms.slope, row + block->sequence.offset - first - c0);
    const long begin = key_begin(shape, &block->sequence, row) - first;
    const long end = key_end(shape, &block->sequence, row) - first;
    const IntV visible = (key >= (IntV)((int)clamp(begin, 0L, (long)TILE_K))) &
                         (key < (IntV)((int)clamp(end, 0L, (long)TILE_K)));
#if VEC == 1
    score = visible ? score : -INFINITY;
#else
    score = select((FloatV)(-INFINITY), score, visible);
#endif
    STORE_V(score, place);
    if (shape->mask_type == STORAGE_NONE || r >= block->rows) {
      continue;
    }
    const long mask_row = block->mask + r * shape->mask_row;
    for (int c = 0; c < VEC; ++c) {
      if (place[c] != -INFINITY) {
        place[c] = masked(place[c], mask, shape, mask_row, first + c0 + c);
      }
    }
  }
}

// One patch of the output: o = o * alpha + weights * values over `keys` keys. With `special` the
// value rows of invisible keys are replaced by zeros, which gives the bits of finite ones.
INLINE void output_patch(__local float* o_tile, __local const float* p_tile,
                         __local const float* kv_tile, __local const float* alpha, int keys,
                         int special, int r0, int c0) {
  FloatV acc[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    acc[r] = alpha[r0 + r] * LOAD_V(o_tile + (r0 + r) * DV + c0);
  }
  for (int j = 0; j < keys; ++j) {
    const FloatV values = LOAD_V(kv_tile + j * DV + c0);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float weight = p_tile[(r0 + r) * S_STRIDE + j];
      if (special) {
        acc[r] += weight * (as_uint(weight) == 0x80000000u ? (FloatV)(0.0f) : values);
      } else {
        acc[r] += weight * values;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    STORE_V(acc[r], o_tile + (r0 + r) * DV + c0);
  }
}

__kernel __attribute__((reqd_work_group_size(WG_SIZE, 1, 1))) void attention_tiled(
    __global uchar* y, __global float* lse, __global const uchar* q, __global const uchar* k,
    __global const uchar* v, __global const uchar* mask, __global const AttnSequence* sequences,
    __global const AttnHeadTerms* terms, const AttnShape shape) {
  __local float q_tile[TILE_Q * Q_STRIDE];
  __local float kv_tile[KV_FLOATS];         // keys, then the values of the same tile
  __local float s_tile[TILE_Q * S_STRIDE];  // scores, then weights
  __local float o_tile[TILE_Q * DV];
  __local float largest[TILE_Q];  // m
  __local float total[TILE_Q];    // l
  __local float alpha[TILE_Q];    // exp(m - m')
  __local int special_values;     // the value tile holds a NaN or an infinity

  const int item = (int)get_local_id(0);
  const long h = (long)get_group_id(1);
  const long s = (long)get_group_id(2);
  const long g = h / (shape.heads / shape.kv_heads);
  Block block;
  block.sequence = sequences[s];
  block.terms = terms[s * shape.heads + h];
  const long b = block.sequence.batch;
  block.row = block.sequence.first_row + (long)get_group_id(0) * TILE_Q;
  // None or less behind a sequence shorter than the longest: such a group does nothing.
  block.rows = (int)clamp(block.sequence.end_row - block.row, 0L, (long)TILE_Q);
  block.patch_rows = (block.rows + ROWS - 1) / ROWS;
  block.q = b * shape.q_batch + h * shape.q_head + block.row * shape.q_row;
  block.k = b * shape.k_batch + g * shape.k_head;
  block.v = b * shape.v_batch + g * shape.v_head;
  block.mask = b * shape.mask_batch + h * shape.mask_head + block.row * shape.mask_row;
  block.y = b * shape.y_batch + h * shape.y_head + block.row * shape.y_row;
  const long begin = key_begin(&shape, &block.sequence, block.row);
  const long end =
      block.rows == 0 ? begin : key_end(&shape, &block.sequence, block.row + block.rows - 1);
  const int row_patches = block.patch_rows * ROWS;

  load_queries(q_tile, q, &shape, &block, item);
  for (int e = item; e < TILE_Q * DV; e += WG_SIZE) {
    o_tile[e] = 0;
  }
  for (int r = item; r < TILE_Q; r += WG_SIZE) {
    // The sink is a score that came before all keys, with a value of zeros.
    largest[r] = block.terms.sink;
    total[r] = block.terms.sink == -INFINITY ? 0.0f : 1.0f;
  }

  for (long first = begin; first < end; first += TILE_K) {
    const int keys = (int)min((long)TILE_K, end - first);
    // Before the refill: the last tile's output patches and sums have read kv_tile and s_tile.
    barrier(CLK_LOCAL_MEM_FENCE);
    load_keys(kv_tile, k, &shape, &block, first, keys, item);
    if (item == 0) {
      special_values = 0;
    }
    // Before the use: keys (and, in the first round, queries and row states) are complete.
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = item; p < block.patch_rows * (TILE_K / VEC); p += WG_SIZE) {
      score_patch(s_tile, q_tile, kv_tile, mask, &shape, &block, first, p / (TILE_K / VEC) * ROWS,
                  p % (TILE_K / VEC) * VEC);
    }
    // Scores are complete, and the keys have been read: values may take their place.
    barrier(CLK_LOCAL_MEM_FENCE);
    if (load_values(kv_tile, v, &shape, &block, first, keys, item)) {
      atomic_or(&special_values, 1);
    }
    for (int r = item; r < row_patches; r += WG_SIZE) {
      FloatV most = LOAD_V(s_tile + r * S_STRIDE);
      for (int c = VEC; c < TILE_K; c += VEC) {
        most = fmax(most, LOAD_V(s_tile + r * S_STRIDE + c));
      }
      const float before = largest[r];
      const float now = fmax(before, MAX_V(most));
      // While no key has been seen both are -inf and there is nothing to rescale.
      alpha[r] = before == -INFINITY ? 0.0f : exp(before - now);
      largest[r] = now;
    }
    // Largest scores and values are complete.
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = item; p < row_patches * (TILE_K / VEC); p += WG_SIZE) {
      const int r = p / (TILE_K / VEC);
      __local float* place = s_tile + r * S_STRIDE + p % (TILE_K / VEC) * VEC;
      const float shift = largest[r] == -INFINITY ? 0.0f : largest[r];
      const FloatV score = LOAD_V(place);
#if VEC == 1
      const FloatV weight = score == -INFINITY ? NO_WEIGHT : exp(score - shift);
#else
      const FloatV weight =
          select(exp(score - shift), (FloatV)(NO_WEIGHT), score == (FloatV)(-INFINITY));
#endif
      STORE_V(weight, place);
    }
    // Weights are complete.
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = item; p < block.patch_rows * (DV / VEC); p += WG_SIZE) {
      const int r0 = p / (DV / VEC) * ROWS;
      const int c0 = p % (DV / VEC) * VEC;
      if (special_values) {
        output_patch(o_tile, s_tile, kv_tile, alpha, keys, 1, r0, c0);
      } else {
        output_patch(o_tile, s_tile, kv_tile, alpha, keys, 0, r0, c0);
      }
    }
    for (int r = item; r < row_patches; r += WG_SIZE) {
      FloatV sums = LOAD_V(s_tile + r * S_STRIDE);
      for (int c = VEC; c < TILE_K; c += VEC) {
        sums += LOAD_V(s_tile + r * S_STRIDE + c);
      }
      total[r] = total[r] * alpha[r] + SUM_V(sums);
    }
  }
  // The output tile and the row states are complete; reached once by every work-item.
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = item / LOAD_ITEMS; r < block.rows; r += WG_SIZE / LOAD_ITEMS) {
    const float divisor = total[r];
    for (int c = item % LOAD_ITEMS; c < V_HEAD_DIM; c += LOAD_ITEMS) {
      store_element(y, block.y + r * shape.y_row + c, Q_TYPE,
                    divisor == 0 ? 0.0f : o_tile[r * DV + c] / divisor);
    }
  }
  if (lse != 0) {
    for (int r = item; r < block.rows; r += WG_SIZE) {
      lse[(b * shape.heads + h) * shape.q_len + block.row + r] =
          total[r] == 0 ? -INFINITY : largest[r] + log(total[r]);
    }
  }
}
