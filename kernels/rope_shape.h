// SPDX-License-Identifier: Apache-2.0
// Sizes and strides of one rope call, passed to the kernel by value; shared by device and host,
// which both assert its size. Axis letters as in lib/nn/attention.h.
#ifndef NETCL_KERNELS_ROPE_SHAPE_H_
#define NETCL_KERNELS_ROPE_SHAPE_H_

#ifdef __OPENCL_C_VERSION__
typedef long rope_int64;
#else
#include <cstdint>
typedef int64_t rope_int64;
#endif

// Element (i, c) of head h in batch b lies at b * batch_stride + h * head_stride + i * row_stride
// + c, in x and in y.
typedef struct {
  rope_int64 batch, heads, length, width;
  rope_int64 half_dim;  // pairs rotated; elements 2 * half_dim .. width are copied
  rope_int64 batch_stride, head_stride, row_stride;
  rope_int64 position_batch_stride;  // 0 when all batches share their positions
} RopeShape;

#define ROPE_SHAPE_BYTES 72

#ifdef __OPENCL_C_VERSION__
// Negative array size when the compiler lays the struct out differently.
typedef char rope_shape_size_check[sizeof(RopeShape) == ROPE_SHAPE_BYTES ? 1 : -1];
#else
static_assert(sizeof(RopeShape) == ROPE_SHAPE_BYTES, "layout differs from the device's");
#endif

#endif  // NETCL_KERNELS_ROPE_SHAPE_H_
