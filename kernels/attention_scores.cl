// SPDX-License-Identifier: Apache-2.0
// attention_scores: the score matrix at one stage: scale * q k^T, after softcap, after the mask, or
// the softmax weights. For people and tests that look inside; attention itself never stores it.
//
// out  scores [B, H, Tq, Tk] f32, contiguous
// in   q [B, H, Tq, D], k [B, G, Tk, D] by strides; mask by strides or null; sequences [S] of
//      AttnSequence; terms [S, H] of AttnHeadTerms
// work-item: query row i, counted from the sequence's first, of head h and sequence s = global id (0,
//   1, 2); rows past its last do nothing
// macros: Q_TYPE, K_TYPE = 0 (storage of q and k: 0 f32, 1 f16, 2 bf16)
// check: -DQ_TYPE=0 -DK_TYPE=0
// check: -DQ_TYPE=1 -DK_TYPE=2
// local memory: 0 bytes
// accuracy: float throughout
// barriers: none

#include "attn_shape.h"
#include "element.h"
#include "key_visibility.h"

#ifndef Q_TYPE
#define Q_TYPE 0
#endif
#ifndef K_TYPE
#define K_TYPE 0
#endif

__kernel void attention_scores(__global float* scores, __global const uchar* q,
                               __global const uchar* k, __global const uchar* mask,
                               __global const AttnSequence* sequences,
                               __global const AttnHeadTerms* terms, const AttnShape shape) {
  const long h = (long)get_global_id(1);
  const long s = (long)get_global_id(2);
  const AttnSequence sequence = sequences[s];
  const AttnHeadTerms term = terms[s * shape.heads + h];
  const long b = sequence.batch;
  const long i = sequence.first_row + (long)get_global_id(0);
  if (i >= sequence.end_row) {
    return;
  }
  const long g = h / (shape.heads / shape.kv_heads);
  const long begin = key_begin(&shape, &sequence, i);
  const long end = key_end(&shape, &sequence, i);
  const long q_row = b * shape.q_batch + h * shape.q_head + i * shape.q_row;
  const long k_head = b * shape.k_batch + g * shape.k_head;
  const long mask_row = b * shape.mask_batch + h * shape.mask_head + i * shape.mask_row;
  __global float* row = scores + ((b * shape.heads + h) * shape.q_len + i) * shape.kv_len;

  float largest = term.sink;
  for (long j = 0; j < shape.kv_len; ++j) {
    float dot_product = 0;
    for (long d = 0; d < shape.head_dim; ++d) {
      dot_product += load_element(q, q_row + d, Q_TYPE) *
                     load_element(k, k_head + j * shape.k_row + d, K_TYPE);
    }
    float score = shape.scale * dot_product;
    if (shape.stage >= STAGE_SOFTCAP) {
      score = capped(score, shape.softcap);
    }
    if (shape.stage >= STAGE_MASKED) {
      score = with_alibi(score, term.slope, i + sequence.offset - j);
      score = j >= begin && j < end ? masked(score, mask, &shape, mask_row, j) : -INFINITY;
    }
    largest = fmax(largest, score);
    row[j] = score;
  }
  if (shape.stage < STAGE_WEIGHTS) {
    return;
  }
  const float shift = largest == -INFINITY ? 0.0f : largest;
  float total = sink_weight(term.sink, shift);
  for (long j = 0; j < shape.kv_len; ++j) {
    const float weight = row[j] == -INFINITY ? 0.0f : exp(row[j] - shift);
    total += weight;
    row[j] = weight;
  }
  for (long j = 0; j < shape.kv_len; ++j) {
    row[j] = total == 0 ? 0.0f : row[j] / total;
  }
}
