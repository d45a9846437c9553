// SPDX-License-Identifier: Apache-2.0
// attention_panel: y = softmax(mask(softcap(scale * q k^T))) v without storing the Tq x Tk scores,
// one work-item a group: for devices that run a work-item as plain vector code (CPUs).
//
// Two kernels. attention_panel_pack copies K into panels of PANEL keys, transposed, and V into rows
// of full vectors, both as float. attention_panel then needs loads of neighbouring floats only:
//
//              K panel [HEAD_DIM][PANEL]                  V rows [keys][DV]
//   q_tile     +----------------+            s_tile       +----------------+
//   [d][ROWS]  | ROWS x PANEL   |            weights  ->  | VALUE_ROWS x   |
//              | sums: registers|            broadcast    | VALUE_VECTORS  |
//              +----------------+                         +----------------+
//
// Online softmax over blocks of TILE_K keys: each row carries the largest score m and the sum l of
// exp(s - m) so far, and its unnormalised output o; alpha = exp(m - m') rescales o as it is loaded
// into registers. A weight is exp2(s * unit - base) with unit = scale * log2 e and an integer base
// just above the largest exponent, so that alpha is an exact power of two and the scores need no
// pass for the scale. Rows whose base would be too large an integer are shifted to a largest score
// of 0 first.
//
// attention_panel_pack
//   out  k_panels [B, G, P, HEAD_DIM, PANEL] f32, v_rows [B, G, P * PANEL, DV] f32,
//        special [B, G, P] i32: the panel's values hold a NaN or an infinity; P = Tk in PANEL
//   in   k [B, G, Tk, D], v [B, G, Tk, Dv] by strides; sequences [S] of AttnSequence
//   work-item (p, g, b): one panel. Panels that no query row can see are not written, unless packed
//     sequences share a batch item.
// attention_panel
//   out  y [B, H, Tq, Dv] by strides, stored as q is; lse [B, H, Tq] f32 or null
//   in   q [B, H, Tq, D] by strides; k_panels, v_rows, special; mask by strides or null;
//        sequences; terms [S, H] of AttnHeadTerms
//   work-item (x, h, s): TILE_Q query rows of one head of a sequence. Row blocks alternate between the first and
//     the last ones, which halves of the groups in order share evenly when causal.
// group size: (1, 1, 1) for both
// macros: TILE_Q = 48 (rows, a multiple of ROWS)   TILE_K = 512 (keys, a multiple of PANEL)
//         ROWS = 6 (rows of a register tile)       VEC = 16 (floats of a register: 4, 8, 16)
//         VECTORS = 4 (registers of a tile's row; PANEL = VEC * VECTORS)
//         VALUE_ROWS = 6, VALUE_VECTORS = 4 (the same of a tile of the output; divides ROWS)
//         HEAD_DIM = 64, V_HEAD_DIM = 64 (>= 1)
//         Q_TYPE, K_TYPE, V_TYPE = 0 (storage of q and y, k, v: 0 f32, 1 f16, 2 bf16)
// check: -DTILE_Q=48 -DTILE_K=256 -DVALUE_ROWS=3 -DVALUE_VECTORS=5 -DHEAD_DIM=65 -DV_HEAD_DIM=80
// check: -DTILE_Q=8 -DTILE_K=16 -DROWS=4 -DVALUE_ROWS=2 -DVEC=8 -DVECTORS=2 -DQ_TYPE=1 -DK_TYPE=2 -DV_TYPE=1
// check: -DTILE_Q=1 -DTILE_K=4 -DROWS=1 -DVALUE_ROWS=1 -DVEC=4 -DVECTORS=1 -DHEAD_DIM=1 -DV_HEAD_DIM=3
// local memory: 4 * TILE_Q * (HEAD_DIM + TILE_K + 2 * VEC + DV + 4) + 20 * TILE_Q / ROWS bytes, DV =
//   V_HEAD_DIM rounded up to VEC * VALUE_VECTORS; 0 for attention_panel_pack
// barriers: none, the group has one item.
// accuracy: float throughout; sums over keys are VEC partial sums of TILE_K keys. exp2 is a minimax
//   polynomial of degree 5 (relative error 9.2e-8, exact at integers); a weight below 2^-127 of the largest is 0. The
//   order of all sums is fixed: the same input gives the same bits. Needs a compiler that keeps
//   (x + c) - c: no -cl-fast-relaxed-math.
// source: Dao, Fu, Ermon, Rudra, Re: FlashAttention (2022), algorithm 1; Goto and van de Geijn:
//   Anatomy of high-performance matrix multiplication (2008), for packed panels

#include "attn_shape.h"
#include "element.h"
#include "key_visibility.h"

#ifndef TILE_Q
#define TILE_Q 48
#endif
#ifndef TILE_K
#define TILE_K 512
#endif
#ifndef ROWS
#define ROWS 6
#endif
#ifndef VEC
#define VEC 16
#endif
#ifndef VECTORS
#define VECTORS 4
#endif
#ifndef VALUE_ROWS
#define VALUE_ROWS 6
#endif
#ifndef VALUE_VECTORS
#define VALUE_VECTORS 4
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

// A store of one register to an array of the kernel: PoCL's vstore16 comes in four pieces, which the
// next load of all 16 has to wait for. The type asks for no alignment beyond a float's.
typedef FloatV UnalignedV __attribute__((aligned(4)));
#define SAVE_V(x, p) (*(__local UnalignedV*)(p) = (x))

#define INLINE static inline __attribute__((always_inline))

#define PANEL (VEC * VECTORS)
// The columns of the output in tiles of one width: two widths in one kernel cost half the speed.
#define VALUE_COLUMNS (VEC * VALUE_VECTORS)
#define COLUMN_TILES ((V_HEAD_DIM + VALUE_COLUMNS - 1) / VALUE_COLUMNS)
#define DV (COLUMN_TILES * VALUE_COLUMNS)
#define S_STRIDE (TILE_K + VEC)

#define LOG2_E 1.44269504088896340736f
#define LN_2 0.693147180559945309417f
// 1.5 * 2^23: added to a float below 2^22, it leaves the nearest integer in the low bits.
#define ROUND_SHIFT 12582912.0f
// From this exponent on the sum with ROUND_SHIFT is no longer exact.
#define FAR_EXPONENT 2097152.0f
// Below it, and for negative scales, scores are multiplied by the scale before they are weighed:
// exponents must not reach the smallest floats.
#define LEAST_SCALE 1e-30f
// The weight of an invisible key where values are NaN or infinite: adds like 0, can be told from a
// weight that underflowed.
#define NO_WEIGHT (-0.0f)

INLINE long panels_of(const AttnShape* shape) {
  return (shape->kv_len + PANEL - 1) / PANEL;
}

// Columns d .. d + 3 of keys j .. j + 3 of a panel.
INLINE void pack_square(__global float* to, __global const uchar* k, long from, long k_row) {
  const float4 a = load_element4(k, from, K_TYPE);
  const float4 b = load_element4(k, from + k_row, K_TYPE);
  const float4 c = load_element4(k, from + 2 * k_row, K_TYPE);
  const float4 d = load_element4(k, from + 3 * k_row, K_TYPE);
  const float4 ac_low = (float4)(a.x, c.x, a.y, c.y);
  const float4 ac_high = (float4)(a.z, c.z, a.w, c.w);
  const float4 bd_low = (float4)(b.x, d.x, b.y, d.y);
  const float4 bd_high = (float4)(b.z, d.z, b.w, d.w);
  vstore4((float4)(ac_low.x, bd_low.x, ac_low.y, bd_low.y), 0, to);
  vstore4((float4)(ac_low.z, bd_low.z, ac_low.w, bd_low.w), 0, to + PANEL);
  vstore4((float4)(ac_high.x, bd_high.x, ac_high.y, bd_high.y), 0, to + 2 * PANEL);
  vstore4((float4)(ac_high.z, bd_high.z, ac_high.w, bd_high.w), 0, to + 3 * PANEL);
}

// Keys as [HEAD_DIM][PANEL], zeros behind the last one; 4 x 4 elements at a time where they are.
INLINE void pack_keys(__global float* k_panel, __global const uchar* k, long first, long k_row,
                      int keys) {
  for (int j = 0; j < PANEL; j += 4) {
    int d = 0;
    if (j + 4 <= keys) {
      for (; d + 4 <= HEAD_DIM; d += 4) {
        pack_square(k_panel + d * PANEL + j, k, first + j * k_row + d, k_row);
      }
    }
    for (; d < HEAD_DIM; ++d) {
      for (int i = j; i < j + 4; ++i) {
        k_panel[d * PANEL + i] = i < keys ? load_element(k, first + i * k_row + d, K_TYPE) : 0.0f;
      }
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention_panel_pack(
    __global float* k_panels, __global float* v_rows, __global int* special,
    __global const uchar* k, __global const uchar* v, __global const AttnSequence* sequences,
    const AttnShape shape) {
  const long p = (long)get_group_id(0);
  const long g = (long)get_group_id(1);
  const long b = (long)get_group_id(2);
  const long first = p * PANEL;
  long valid = shape.kv_len;
  if (!shape.is_packed) {
    const AttnSequence sequence = sequences[b];
    valid = sequence.end_key;
    if (first >= key_end(&shape, &sequence, shape.q_len - 1) ||
        first + PANEL <= key_begin(&shape, &sequence, 0)) {
      return;
    }
  }
  const int keys = (int)min((long)PANEL, valid - first);
  const long place = (b * shape.kv_heads + g) * panels_of(&shape) + p;
  const long k_first = b * shape.k_batch + g * shape.k_head + first * shape.k_row;
  pack_keys(k_panels + place * (HEAD_DIM * PANEL), k, k_first, shape.k_row, keys);
  __global float* v_panel = v_rows + place * (PANEL * DV);
  const long v_first = b * shape.v_batch + g * shape.v_head + first * shape.v_row;
  int is_special = 0;
  for (int j = 0; j < keys; ++j) {
    for (int c = 0; c < V_HEAD_DIM; ++c) {
      const float value = load_element(v, v_first + j * shape.v_row + c, V_TYPE);
      is_special |= (as_uint(value) & 0x7f800000u) == 0x7f800000u;
      v_panel[j * DV + c] = value;
    }
    for (int c = V_HEAD_DIM; c < DV; ++c) {
      v_panel[j * DV + c] = 0.0f;
    }
  }
  special[place] = is_special;
}

// What a group works on.
typedef struct {
  long row;            // first query row
  int rows;            // query rows, <= TILE_Q
  long mask;           // element index of the first row in the mask
  AttnSequence sequence;
  AttnHeadTerms terms;
  int is_plain;        // scores are q.k, without scale, softcap, ALiBi, sink or additive mask
  float unit;          // of the scores in s_tile, times log2 e
} Block;

// Scores of ROWS rows and one panel of keys, to s_tile; with `final` the largest of each lane too, to
// `most`.
INLINE void score_tile(__local float* s_tile, __local float* most, __local const float* q_tile,
                       __global const float* k_panel, int final) {
  FloatV acc[ROWS][VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      acc[r][v] = (FloatV)(0.0f);
    }
  }
  for (int d = 0; d < HEAD_DIM; ++d) {
    FloatV keys[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      keys[v] = LOAD_V(k_panel + d * PANEL + v * VEC);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const FloatV query = (FloatV)(q_tile[d * ROWS + r]);
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        acc[r][v] += query * keys[v];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      SAVE_V(acc[r][v], s_tile + r * S_STRIDE + v * VEC);
    }
    if (final) {
      FloatV largest = LOAD_V(most + r * VEC);
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        largest = acc[r][v] > largest ? acc[r][v] : largest;  // a NaN score is passed over
      }
      SAVE_V(largest, most + r * VEC);
    }
  }
}

// What becomes of these scores where some key is hidden from some row, or they change on their way:
// scale and softcap unless plain, bounds and mask, -inf where not visible. r0 is the first row's
// number in the block.
INLINE void hide_scores(__local float* s_tile, __local float* most, __global const uchar* mask,
                        const AttnShape* shape, const Block* block, int r0, long first) {
  for (int r = 0; r < ROWS; ++r) {
    const long row = block->row + r0 + r;
    const long begin = key_begin(shape, &block->sequence, row) - first;
    const long end = key_end(shape, &block->sequence, row) - first;
    const IntV from = (IntV)((int)clamp(begin, 0L, (long)PANEL));
    const IntV to = (IntV)((int)clamp(end, 0L, (long)PANEL));
    const long mask_row = block->mask + (r0 + r) * shape->mask_row;
    FloatV largest = LOAD_V(most + r * VEC);
    for (int c = 0; c < PANEL; c += VEC) {
      __local float* place = s_tile + r * S_STRIDE + c;
      FloatV score = LOAD_V(place);
      if (!block->is_plain) {
        score = shape->scale * score;
        if (shape->softcap > 0) {
          score = shape->softcap * tanh(score / shape->softcap);
        }
        score = with_alibi_v(score, block->terms.slope, row + block->sequence.offset - first - c);
      }
      const IntV key = (IntV)(c) + LANES;
      score = select((FloatV)(-INFINITY), score, (key >= from) & (key < to));
      if (shape->mask_type != STORAGE_NONE && r0 + r < block->rows) {
        SAVE_V(score, place);
        for (int j = 0; j < VEC; ++j) {
          if (place[j] != -INFINITY) {
            place[j] = masked(place[j], mask, shape, mask_row, first + c + j);
          }
        }
        score = LOAD_V(place);
      }
      SAVE_V(score, place);
      largest = score > largest ? score : largest;
    }
    SAVE_V(largest, most + r * VEC);
  }
}

// Weights of `keys` scores of one row (a multiple of VEC), in place: exp2(s * unit - base), exactly
// 0 where s is -inf or far below; NaN stays NaN. Returns their sum. With `special` the weight of a
// score of -inf is NO_WEIGHT.
INLINE float weigh_row(__local float* s_row, int keys, float unit, float base, int special) {
  const FloatV lowest = (FloatV)((base - 127.0f) / unit);
  const FloatV shift = (FloatV)(ROUND_SHIFT + 127.0f - base);
  const FloatV units = (FloatV)(unit);
  FloatV sums = (FloatV)(0.0f);
  for (int c = 0; c < keys; c += VEC) {
    const FloatV score = LOAD_V(s_row + c);
    const FloatV x = lowest > score ? lowest : score;
    const FloatV shifted = x * units + shift;  // low bits: exponent of 2^n with its bias
    const FloatV f = x * units - (shifted - shift);
    FloatV power = f * 0.0013264727117605574f + 0.009671512644780786f;
    power = power * f + 0.05550733743517166f;
    power = power * f + 0.2402224208526323f;
    power = power * f + 0.6931469775989781f;
    power = power * f + 1.0f;
    FloatV weight = power * AS_FLOAT_V(AS_INT_V(shifted) << 23);
    sums += weight;
    if (special) {
      weight = select(weight, (FloatV)(NO_WEIGHT), score == (FloatV)(-INFINITY));
    }
    SAVE_V(weight, s_row + c);
  }
  return SUM_V(sums);
}

// What the weights of a row are relative to: exp2 of (s - score) * unit - base. One of the two is 0;
// a score of -inf means that the row has seen no key.
typedef struct {
  float score, base;
} Reference;

// The reference for a largest score of `largest`; shifts the scores of the row where it is a score.
// (Structs go by pointer: Oclgrind 21 does not know what inlining a returned one leaves behind.)
INLINE void refer_row(Reference* reference, __local float* s_row, int keys, float largest,
                      float unit) {
  reference->score = 0.0f;
  reference->base = ceil(largest * unit);
  if (fabs(largest * unit) < FAR_EXPONENT) {
    return;
  }
  reference->score = largest;
  reference->base = 0.0f;
  const float shift = largest == -INFINITY ? 0.0f : largest;
  for (int c = 0; c < keys; c += VEC) {
    SAVE_V(LOAD_V(s_row + c) - shift, s_row + c);
  }
}

// What sums relative to `before` are multiplied by when `now` takes its place.
INLINE float rescale(const Reference* before, const Reference* now, float unit) {
  if (before->score == now->score && before->base == now->base) {
    return 1.0f;  // the usual case: an integer base seldom rises
  }
  // While no key has been seen there is nothing to rescale.
  return before->score == -INFINITY
             ? 0.0f
             : exp2(fma(before->score - now->score, unit, before->base - now->base));
}

// o = o * alpha + weights * values, VALUE_ROWS rows by VALUE_VECTORS registers, over `keys` keys.
// With `special` value rows of invisible keys are replaced by zeros, which gives the bits of finite ones.
INLINE void value_tile(__local float* o_tile, __local const float* s_tile,
                       __local const float* alpha, __global const float* v_rows, int keys,
                       int special) {
  FloatV acc[VALUE_ROWS][VALUE_VECTORS];
#pragma unroll
  for (int r = 0; r < VALUE_ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VALUE_VECTORS; ++v) {
      acc[r][v] = alpha[r] * LOAD_V(o_tile + r * DV + v * VEC);
    }
  }
  for (int j = 0; j < keys; ++j) {
    FloatV values[VALUE_VECTORS];
#pragma unroll
    for (int v = 0; v < VALUE_VECTORS; ++v) {
      values[v] = LOAD_V(v_rows + (size_t)j * DV + v * VEC);
    }
#pragma unroll
    for (int r = 0; r < VALUE_ROWS; ++r) {
      const float weight = s_tile[r * S_STRIDE + j];
      if (special && as_uint(weight) == as_uint(NO_WEIGHT)) {
        continue;
      }
#pragma unroll
      for (int v = 0; v < VALUE_VECTORS; ++v) {
        acc[r][v] += (FloatV)(weight) * values[v];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < VALUE_ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VALUE_VECTORS; ++v) {
      SAVE_V(acc[r][v], o_tile + r * DV + v * VEC);
    }
  }
}

// Keys of a block that the rows of one register tile may see, in panels counted from the block's
// start: [from, to); `keys` of them counted to the last visible key. In [all_from, all_to) every row
// sees every key.
typedef struct {
  int from, to, keys, all_from, all_to;
} Span;

INLINE void set_span(__local Span* span, const AttnShape* shape, const Block* block, int r0,
                     long first, int panels) {
  const long top = block->row + r0;
  const long bottom = block->row + min(r0 + ROWS, block->rows) - 1;
  const long most = (long)panels * PANEL;
  const AttnSequence* sequence = &block->sequence;
  const int begin = (int)clamp(key_begin(shape, sequence, top) - first, 0L, most);
  const int end = (int)clamp(key_end(shape, sequence, bottom) - first, 0L, most);
  const int all_begin = (int)clamp(key_begin(shape, sequence, bottom) - first, 0L, most);
  const int all_end = (int)clamp(key_end(shape, sequence, top) - first, 0L, most);
  span->from = begin / PANEL;
  span->to = (end + PANEL - 1) / PANEL;
  span->keys = end - span->from * PANEL;
  span->all_from = (all_begin + PANEL - 1) / PANEL;
  span->all_to = all_end / PANEL;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention_panel(
    __global uchar* y, __global float* lse, __global const uchar* q,
    __global const float* k_panels, __global const float* v_rows, __global const int* special,
    __global const uchar* mask, __global const AttnSequence* sequences,
    __global const AttnHeadTerms* terms, const AttnShape shape) {
  __local float q_tile[TILE_Q * HEAD_DIM] __attribute__((aligned(64)));  // [TILE_Q / ROWS][D][ROWS]
  __local float s_tile[TILE_Q * S_STRIDE] __attribute__((aligned(64)));  // scores, then weights
  __local float o_tile[TILE_Q * DV] __attribute__((aligned(64)));
  __local float most[TILE_Q * VEC] __attribute__((aligned(64)));  // largest score of each lane
  __local Reference reference[TILE_Q];                            // m
  __local float total[TILE_Q];                                    // l
  __local Span spans[TILE_Q / ROWS];
  __local float alpha[TILE_Q];                                    // exp(m - m')

  const long x = (long)get_group_id(0);
  const long blocks = (long)get_num_groups(0);
  const long h = (long)get_group_id(1);
  const long s = (long)get_group_id(2);
  const long g = h / (shape.heads / shape.kv_heads);
  Block block;
  block.sequence = sequences[s];
  block.terms = terms[s * shape.heads + h];
  const long b = block.sequence.batch;
  block.row = block.sequence.first_row + (x % 2 == 0 ? blocks - 1 - x / 2 : x / 2) * TILE_Q;
  block.rows = (int)min((long)TILE_Q, block.sequence.end_row - block.row);
  if (block.rows <= 0) {
    return;  // behind a sequence shorter than the longest
  }
  block.mask = b * shape.mask_batch + h * shape.mask_head + block.row * shape.mask_row;
  const int has_mask = shape.mask_type != STORAGE_NONE;
  block.is_plain = shape.softcap == 0 && (!has_mask || shape.mask_type == STORAGE_BOOL) &&
                   shape.scale >= LEAST_SCALE && block.terms.slope == 0 &&
                   block.terms.sink == -INFINITY;
  block.unit = block.is_plain ? shape.scale * LOG2_E : LOG2_E;
  const long begin = key_begin(&shape, &block.sequence, block.row) / PANEL * PANEL;
  const long end = key_end(&shape, &block.sequence, block.row + block.rows - 1);
  const long head_panels = (b * shape.kv_heads + g) * panels_of(&shape);
  const int tile_rows = (block.rows + ROWS - 1) / ROWS * ROWS;

  const long q_first = b * shape.q_batch + h * shape.q_head + block.row * shape.q_row;
  for (int r = 0; r < tile_rows; ++r) {
    __local float* column = q_tile + r / ROWS * ROWS * HEAD_DIM + r % ROWS;
    for (int d = 0; d < HEAD_DIM; ++d) {
      column[d * ROWS] =
          r < block.rows ? load_element(q, q_first + r * shape.q_row + d, Q_TYPE) : 0.0f;
    }
    // The sink is a score that came before all keys, with a value of zeros.
    Reference start;
    refer_row(&start, s_tile, 0, block.terms.sink, block.unit);
    reference[r] = start;
    total[r] = block.terms.sink == -INFINITY
                   ? 0.0f
                   : exp2(fma(block.terms.sink - start.score, block.unit, -start.base));
    SAVE_V((FloatV)(block.terms.sink), most + r * VEC);
    for (int c = 0; c < DV; c += VEC) {
      SAVE_V((FloatV)(0.0f), o_tile + r * DV + c);
    }
  }

  for (long first = begin; first < end; first += TILE_K) {
    const int panels = (int)((min((long)TILE_K, end - first) + PANEL - 1) / PANEL);
    const long panel0 = head_panels + first / PANEL;
    int is_special = 0;
    for (int p = 0; p < panels; ++p) {
      is_special |= special[panel0 + p];
    }
    for (int r0 = 0; r0 < tile_rows; r0 += ROWS) {
      set_span(spans + r0 / ROWS, &shape, &block, r0, first, panels);
    }
    for (int p = 0; p < panels; ++p) {
      __global const float* k_panel = k_panels + (panel0 + p) * (HEAD_DIM * PANEL);
      for (int r0 = 0; r0 < tile_rows; r0 += ROWS) {
        __local const Span* span = spans + r0 / ROWS;
        if (p < span->from || p >= span->to) {
          continue;
        }
        __local float* place = s_tile + r0 * S_STRIDE + p * PANEL;
        if (p >= span->all_from && p < span->all_to && !has_mask && block.is_plain) {
          score_tile(place, most + r0 * VEC, q_tile + r0 * HEAD_DIM, k_panel, 1);
        } else {
          score_tile(place, most + r0 * VEC, q_tile + r0 * HEAD_DIM, k_panel, 0);
          hide_scores(place, most + r0 * VEC, mask, &shape, &block, r0,
                      first + (long)p * PANEL);
        }
      }
    }
    for (int r0 = 0; r0 < tile_rows; r0 += ROWS) {
      __local const Span* span = spans + r0 / ROWS;
      const int keys = (span->to - span->from) * PANEL;
      for (int r = r0; r < r0 + ROWS; ++r) {
        __local float* s_row = s_tile + r * S_STRIDE + span->from * PANEL;
        const Reference before = reference[r];
        Reference now;
        refer_row(&now, s_row, keys, MAX_V(LOAD_V(most + r * VEC)), block.unit);
        alpha[r] = rescale(&before, &now, block.unit);
        reference[r] = now;
        const float sum = is_special ? weigh_row(s_row, keys, block.unit, now.base, 1)
                                     : weigh_row(s_row, keys, block.unit, now.base, 0);
        total[r] = total[r] * alpha[r] + sum;
      }
    }
    __global const float* values = v_rows + panel0 * (PANEL * DV);
    for (int c = 0; c < DV; c += VALUE_COLUMNS) {
      for (int r = 0; r < tile_rows; r += VALUE_ROWS) {
        __local const Span* span = spans + r / ROWS;
        __local float* sums = o_tile + r * DV + c;
        __local const float* weights = s_tile + r * S_STRIDE + span->from * PANEL;
        __global const float* rows = values + span->from * PANEL * DV + c;
        if (is_special) {
          value_tile(sums, weights, alpha + r, rows, span->keys, 1);
        } else {
          value_tile(sums, weights, alpha + r, rows, span->keys, 0);
        }
      }
    }
  }

  const long y_first = b * shape.y_batch + h * shape.y_head + block.row * shape.y_row;
  for (int r = 0; r < block.rows; ++r) {
    const float divisor = total[r];
    for (int c = 0; c < V_HEAD_DIM; ++c) {
      store_element(y, y_first + r * shape.y_row + c, Q_TYPE,
                    divisor == 0 ? 0.0f : o_tile[r * DV + c] / divisor);
    }
    if (lse != 0) {
      lse[(b * shape.heads + h) * shape.q_len + block.row + r] =
          divisor == 0 ? -INFINITY
                       : reference[r].score * (block.is_plain ? shape.scale : 1.0f) +
                             reference[r].base * LN_2 + log(divisor);
    }
  }
}
