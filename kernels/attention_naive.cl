// SPDX-License-Identifier: Apache-2.0
// attention_naive: y = softmax(mask(softcap(scale * q k^T))) v, from the formula, two passes.
//
// The on-device oracle: it judges attention_tiled, so it shares no algorithm with it. The first
// pass over the keys finds the largest score m of the row, the second sums exp(s - m) and
// exp(s - m) * v. Scores are recomputed for every chunk of V_CHUNK output columns.
//
// out  y [B, H, Tq, Dv] by strides, stored as q is; lse [B, H, Tq] f32 or null
// in   q [B, H, Tq, D], k [B, G, Tk, D], v [B, G, Tk, Dv] by strides; mask by strides or null;
//      sequences [S] of AttnSequence; terms [S, H] of AttnHeadTerms
// work-item: query row i, counted from the sequence's first, of head h and sequence s = global id (0,
//   1, 2); rows past its last do nothing
// macros: V_CHUNK = 64 (output columns kept in private memory, >= 1)
//         Q_TYPE, K_TYPE, V_TYPE = 0 (storage of q and y, k, v: 0 f32, 1 f16, 2 bf16)
// check: -DV_CHUNK=64
// check: -DV_CHUNK=1 -DQ_TYPE=1 -DK_TYPE=2 -DV_TYPE=1
// local memory: 0 bytes
// accuracy: float throughout; the error grows with Tk as that of a plain sum
// barriers: none

#include "attn_shape.h"
#include "element.h"
#include "key_visibility.h"

#ifndef V_CHUNK
#define V_CHUNK 64
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

// Elements and places of one query row.
typedef struct {
  long q, k, v, mask;  // element index of the row in q, of the head in k and v, of the mask's row
  long begin, end;     // keys that the sequence leaves visible
  long aligned;        // the key that the row is aligned with
  float slope;
} Row;

static float row_score(const AttnShape* shape, const Row* row, __global const uchar* q,
                       __global const uchar* k, __global const uchar* mask, long j) {
  float dot_product = 0;
  for (long d = 0; d < shape->head_dim; ++d) {
    dot_product += load_element(q, row->q + d, Q_TYPE) *
                   load_element(k, row->k + j * shape->k_row + d, K_TYPE);
  }
  const float score = capped(shape->scale * dot_product, shape->softcap);
  return masked(with_alibi(score, row->slope, row->aligned - j), mask, shape, row->mask, j);
}

__kernel void attention_naive(__global uchar* y, __global float* lse, __global const uchar* q,
                              __global const uchar* k, __global const uchar* v,
                              __global const uchar* mask,
                              __global const AttnSequence* sequences,
                              __global const AttnHeadTerms* terms, const AttnShape shape) {
  const long h = (long)get_global_id(1);
  const long s = (long)get_global_id(2);
  const AttnSequence sequence = sequences[s];
  const long b = sequence.batch;
  const long i = sequence.first_row + (long)get_global_id(0);
  if (i >= sequence.end_row) {
    return;
  }
  const long g = h / (shape.heads / shape.kv_heads);
  const float sink = terms[s * shape.heads + h].sink;
  Row row;
  row.q = b * shape.q_batch + h * shape.q_head + i * shape.q_row;
  row.k = b * shape.k_batch + g * shape.k_head;
  row.v = b * shape.v_batch + g * shape.v_head;
  row.mask = b * shape.mask_batch + h * shape.mask_head + i * shape.mask_row;
  row.begin = key_begin(&shape, &sequence, i);
  row.end = key_end(&shape, &sequence, i);
  row.aligned = i + sequence.offset;
  row.slope = terms[s * shape.heads + h].slope;

  float largest = sink;
  for (long j = row.begin; j < row.end; ++j) {
    largest = fmax(largest, row_score(&shape, &row, q, k, mask, j));
  }
  // -inf - (-inf) is NaN: a row that sees no key subtracts 0 instead.
  const float shift = largest == -INFINITY ? 0.0f : largest;

  const long y_row = b * shape.y_batch + h * shape.y_head + i * shape.y_row;
  // At least one round, so that the log-sum-exp exists without output columns.
  for (long chunk = 0; chunk == 0 || chunk < shape.v_head_dim; chunk += V_CHUNK) {
    const int columns = (int)min((long)V_CHUNK, shape.v_head_dim - chunk);
    float sums[V_CHUNK];
    for (int c = 0; c < V_CHUNK; ++c) {
      sums[c] = 0;
    }
    float total = sink_weight(sink, shift);
    for (long j = row.begin; j < row.end; ++j) {
      const float score = row_score(&shape, &row, q, k, mask, j);
      if (score == -INFINITY) {
        continue;
      }
      const float weight = exp(score - shift);
      total += weight;
      const long v_row = row.v + j * shape.v_row + chunk;
      for (int c = 0; c < columns; ++c) {
        sums[c] += weight * load_element(v, v_row + c, V_TYPE);
      }
    }
    for (int c = 0; c < columns; ++c) {
      store_element(y, y_row + chunk + c, Q_TYPE, total == 0 ? 0.0f : sums[c] / total);
    }
    if (lse != 0 && chunk == 0) {
      lse[(b * shape.heads + h) * shape.q_len + i] = total == 0 ? -INFINITY : largest + log(total);
    }
  }
}
