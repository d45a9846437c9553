// SPDX-License-Identifier: Apache-2.0
// Element storage of tensors: f32, f16 and bf16, read and written as float. Needs no cl_khr_fp16:
// half is only loaded and stored, bf16 is a shift. A kernel takes the type of a tensor as a macro
// with one of the values f32, f16, bf16:
//
//   __global const ELEM(A_TYPE)* a;  float x = LOAD(A_TYPE, a, i);
//   float4 v = LOADN(A_TYPE, 4, a, i);  (elements i .. i + 3; N in 1, 4, 8, 16; no alignment)
//   STORE(C_TYPE, c, i, x);  (rounds to nearest, ties to even; NaN stays NaN)
#define STORAGE_CAT_(a, b) a##b
#define STORAGE_CAT(a, b) STORAGE_CAT_(a, b)
#define ELEM(type) STORAGE_CAT(elem_, type)
#define LOAD(type, p, i) STORAGE_CAT(load_, type)(p, i)
#define LOADN(type, n, p, i) STORAGE_CAT(STORAGE_CAT(load_, type), STORAGE_CAT(_, n))(p, i)
#define STORE(type, p, i, x) STORAGE_CAT(store_, type)(p, i, x)

typedef float elem_f32;
typedef half elem_f16;
typedef ushort elem_bf16;

inline float load_f32(__global const float* p, size_t i) {
  return p[i];
}
inline float load_f16(__global const half* p, size_t i) {
  return vload_half(i, p);
}
inline float load_bf16(__global const ushort* p, size_t i) {
  return as_float((uint)p[i] << 16);
}

#define load_f32_1 load_f32
#define load_f16_1 load_f16
#define load_bf16_1 load_bf16

#define STORAGE_LOADN(n)                                                            \
  inline float##n load_f32_##n(__global const float* p, size_t i) {                 \
    return vload##n(0, p + i);                                                      \
  }                                                                                 \
  inline float##n load_f16_##n(__global const half* p, size_t i) {                  \
    return vload_half##n(0, p + i);                                                 \
  }                                                                                 \
  inline float##n load_bf16_##n(__global const ushort* p, size_t i) {               \
    return as_float##n(convert_uint##n(vload##n(0, p + i)) << 16);                  \
  }
STORAGE_LOADN(4)
STORAGE_LOADN(8)
STORAGE_LOADN(16)

inline void store_f32(__global float* p, size_t i, float x) {
  p[i] = x;
}
inline void store_f16(__global half* p, size_t i, float x) {
  vstore_half_rte(x, i, p);
}
inline void store_bf16(__global ushort* p, size_t i, float x) {
  const uint bits = as_uint(x);
  const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  p[i] = isnan(x) ? (ushort)((bits >> 16) | 0x40u) : (ushort)rounded;
}
