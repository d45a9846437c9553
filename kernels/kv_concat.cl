// SPDX-License-Identifier: Apache-2.0
// kv_concat: present = past followed by the new keys (or values), element for element.
//
// out  present [B, G, Tk, D] contiguous, Tk = P + N
// in   past [B, G, P, D] and fresh [B, G, N, D], both by strides, elements of ELEMENT_BYTES bytes
// work-item: one element of present = global id 0; ids at or past B * G * Tk * D do nothing
// macros: ELEMENT_BYTES = 4 (2 or 4)
// check: -DELEMENT_BYTES=4
// check: -DELEMENT_BYTES=2
// local memory: 0 bytes
// accuracy: bits are copied
// barriers: none

#include "attn_shape.h"

#ifndef ELEMENT_BYTES
#define ELEMENT_BYTES 4
#endif

#if ELEMENT_BYTES == 2
typedef ushort Element;
#else
typedef uint Element;
#endif

__kernel void kv_concat(__global Element* present, __global const Element* past,
                        __global const Element* fresh, const KvConcatShape shape) {
  const long index = (long)get_global_id(0);
  if (index >= shape.count) {
    return;
  }
  const long c = index % shape.dim;
  const long j = index / shape.dim % shape.kv_len;
  const long g = index / (shape.dim * shape.kv_len) % shape.kv_heads;
  const long b = index / (shape.dim * shape.kv_len * shape.kv_heads);
  present[index] = j < shape.past_len
                       ? past[b * shape.past_batch + g * shape.past_head + j * shape.past_row + c]
                       : fresh[b * shape.fresh_batch + g * shape.fresh_head +
                               (j - shape.past_len) * shape.fresh_row + c];
}
