// SPDX-License-Identifier: Apache-2.0
// What the attention kernels share: elements by storage code, and which keys a query row sees.
// Needs attn_shape.h and element.h before it.

// Element `index` as float. `type` is STORAGE_F32, STORAGE_F16 or STORAGE_BF16; a constant one
// leaves a single branch.
static inline float load_element(__global const uchar* data, long index, int type) {
  if (type == STORAGE_F32) {
    return load_f32((__global const float*)data, (size_t)index);
  }
  if (type == STORAGE_F16) {
    return load_f16((__global const half*)data, (size_t)index);
  }
  return load_bf16((__global const ushort*)data, (size_t)index);
}

// Elements index .. index + 3.
static inline float4 load_element4(__global const uchar* data, long index, int type) {
  if (type == STORAGE_F32) {
    return load_f32_4((__global const float*)data, (size_t)index);
  }
  if (type == STORAGE_F16) {
    return load_f16_4((__global const half*)data, (size_t)index);
  }
  return load_bf16_4((__global const ushort*)data, (size_t)index);
}

static inline void store_element(__global uchar* data, long index, int type, float value) {
  if (type == STORAGE_F32) {
    store_f32((__global float*)data, (size_t)index, value);
  } else if (type == STORAGE_F16) {
    store_f16((__global half*)data, (size_t)index, value);
  } else {
    store_bf16((__global ushort*)data, (size_t)index, value);
  }
}

// First key of the sequence that the window leaves visible to row i; may lie past the last one. Never
// decreases with i.
static inline long key_begin(const AttnShape* shape, const AttnSequence* sequence, long i) {
  return shape->window_left < 0
             ? sequence->first_key
             : max(sequence->first_key, i + sequence->offset - shape->window_left);
}

// One past the last key of the sequence that length, causal and window leave visible to row i; never
// decreases with i.
static inline long key_end(const AttnShape* shape, const AttnSequence* sequence, long i) {
  long end = sequence->end_key;
  if (shape->causal) {
    end = min(end, i + sequence->offset + 1);
  }
  if (shape->window_right >= 0) {
    end = min(end, i + sequence->offset + shape->window_right + 1);
  }
  return max(end, 0L);
}

static inline float capped(float score, float softcap) {
  return softcap > 0 ? softcap * tanh(score / softcap) : score;
}

// The score with ALiBi applied, `distance` being i + offset - j.
static inline float with_alibi(float score, float slope, long distance) {
  return slope == 0 ? score : score - slope * fabs((float)distance);
}

// What the sink has already put into the sum of exp(score - shift) before the first key.
static inline float sink_weight(float sink, float shift) {
  return sink == -INFINITY ? 0.0f : exp(sink - shift);
}

// The score of key j with the mask applied, `row` being the element index of the mask's row. -inf
// means that the key is not visible; it is selected, not added, so that a NaN score stays hidden.
static inline float masked(float score, __global const uchar* mask, const AttnShape* shape,
                           long row, long j) {
  if (shape->mask_type == STORAGE_NONE) {
    return score;
  }
  if (j >= shape->mask_columns) {
    return -INFINITY;
  }
  const long index = row + j * shape->mask_column;
  if (shape->mask_type == STORAGE_BOOL) {
    return mask[index] != 0 ? score : -INFINITY;
  }
  const float bias = load_element(mask, index, shape->mask_type);
  return bias == -INFINITY ? -INFINITY : score + bias;
}
