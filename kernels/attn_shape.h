// SPDX-License-Identifier: Apache-2.0
// Sizes, strides and options of one attention call, passed to the attention kernels by value. The
// one file that device and host code share: the host fills the struct, and both sides assert its
// size. Axis letters as in lib/nn/attention.h: B batch, H heads, G kv_heads, Tq q_len, Tk kv_len.
#ifndef NETCL_KERNELS_ATTN_SHAPE_H_
#define NETCL_KERNELS_ATTN_SHAPE_H_

#ifdef __OPENCL_C_VERSION__
typedef long attn_int64;
typedef int attn_int32;
#else
#include <cstdint>
typedef int64_t attn_int64;
typedef int32_t attn_int32;
#endif

// How the elements of a tensor are stored.
#define STORAGE_F32 0
#define STORAGE_F16 1
#define STORAGE_BF16 2
#define STORAGE_BOOL 3  // mask only: one byte, 0 = may not attend
#define STORAGE_NONE 4  // no mask

// What attention_scores writes.
#define STAGE_RAW 1      // scale * q.k
#define STAGE_SOFTCAP 2  // after softcap
#define STAGE_MASKED 3   // after mask and bounds: -inf where not visible
#define STAGE_WEIGHTS 4  // after softmax

// Element (i, c) of head h in batch b of tensor t lies at b * t_batch + h * t_head + i * t_row + c.
typedef struct {
  attn_int64 batch, heads, kv_heads, q_len, kv_len, head_dim, v_head_dim;
  attn_int64 q_batch, q_head, q_row;
  attn_int64 k_batch, k_head, k_row;
  attn_int64 v_batch, v_head, v_row;
  attn_int64 y_batch, y_head, y_row;
  attn_int64 mask_batch, mask_head, mask_row, mask_column;  // 0 on a broadcast axis
  attn_int64 mask_columns;                                  // keys from here on may not be attended
  attn_int64 window_left, window_right;                     // -1 = open
  float scale;
  float softcap;  // 0 = off
  attn_int32 causal;
  attn_int32 mask_type;  // STORAGE_*; the types of q, k, v and y are macros of the kernels
  attn_int32 stage;      // STAGE_*, attention_scores only
  attn_int32 is_packed;  // several sequences share a batch item
} AttnShape;

#define ATTN_SHAPE_BYTES 232

// Rows and keys of one batch item, or of one packed sequence: query rows first_row to end_row may see
// keys first_key to end_key, both exclusive at the end. Row i is aligned with key i + offset.
typedef struct {
  attn_int64 batch;  // of the tensors
  attn_int64 first_row, end_row;
  attn_int64 first_key, end_key;
  attn_int64 offset;
} AttnSequence;

#define ATTN_SEQUENCE_BYTES 48

// What a head of a sequence adds to the softmax.
typedef struct {
  float slope;  // ALiBi: score - slope * |i + offset - j|; 0 = none
  float sink;   // a logit without a key; -inf = none
} AttnHeadTerms;

#define ATTN_HEAD_TERMS_BYTES 8

// Sizes of one kv_concat call: [B, G, P, D] followed by new keys of a strided [B, G, N, D].
typedef struct {
  attn_int64 kv_heads, past_len, kv_len, dim;     // kv_len = past_len + new keys
  attn_int64 past_batch, past_head, past_row;     // element strides of the past
  attn_int64 fresh_batch, fresh_head, fresh_row;  // element strides of the new keys
  attn_int64 count;                               // B * G * kv_len * dim
} KvConcatShape;

#define KV_CONCAT_SHAPE_BYTES 88

#ifdef __OPENCL_C_VERSION__
// Negative array size when the compiler lays the structs out differently.
typedef char attn_shape_size_check[sizeof(AttnShape) == ATTN_SHAPE_BYTES ? 1 : -1];
typedef char attn_sequence_size_check[sizeof(AttnSequence) == ATTN_SEQUENCE_BYTES ? 1 : -1];
typedef char attn_head_terms_size_check[sizeof(AttnHeadTerms) == ATTN_HEAD_TERMS_BYTES ? 1 : -1];
typedef char kv_concat_size_check[sizeof(KvConcatShape) == KV_CONCAT_SHAPE_BYTES ? 1 : -1];
#else
static_assert(sizeof(AttnShape) == ATTN_SHAPE_BYTES, "layout differs from the device's");
static_assert(sizeof(AttnSequence) == ATTN_SEQUENCE_BYTES, "layout differs from the device's");
static_assert(sizeof(AttnHeadTerms) == ATTN_HEAD_TERMS_BYTES, "layout differs from the device's");
static_assert(sizeof(KvConcatShape) == KV_CONCAT_SHAPE_BYTES, "layout differs from the device's");
#endif

#endif  // NETCL_KERNELS_ATTN_SHAPE_H_
