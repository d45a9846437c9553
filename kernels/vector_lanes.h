// SPDX-License-Identifier: Apache-2.0
// Vectors of VEC floats (1, 4, 8 or 16, a macro of the kernel that includes this): types, loads and
// stores without alignment, and reductions across lanes.

#if VEC > 1
static inline float sum4(float4 x) {
  return (x.x + x.y) + (x.z + x.w);
}
static inline float max4(float4 x) {
  return fmax(fmax(x.x, x.y), fmax(x.z, x.w));
}
#endif

#if VEC == 1
typedef float FloatV;
typedef int IntV;
#define AS_FLOAT_V(x) as_float(x)
#define AS_INT_V(x) as_int(x)
#define TO_FLOAT_V(x) ((float)(x))
#define LOAD_V(p) (*(p))
#define STORE_V(x, p) (*(p) = (x))
#define LANES ((IntV)(0))
#define SUM_V(x) (x)
#define MAX_V(x) (x)
#elif VEC == 4
typedef float4 FloatV;
typedef int4 IntV;
#define AS_FLOAT_V(x) as_float4(x)
#define AS_INT_V(x) as_int4(x)
#define TO_FLOAT_V(x) convert_float4(x)
#define LOAD_V(p) vload4(0, p)
#define STORE_V(x, p) vstore4(x, 0, p)
#define LANES ((IntV)(0, 1, 2, 3))
#define SUM_V(x) sum4(x)
#define MAX_V(x) max4(x)
#elif VEC == 8
typedef float8 FloatV;
typedef int8 IntV;
#define AS_FLOAT_V(x) as_float8(x)
#define AS_INT_V(x) as_int8(x)
#define TO_FLOAT_V(x) convert_float8(x)
#define LOAD_V(p) vload8(0, p)
#define STORE_V(x, p) vstore8(x, 0, p)
#define LANES ((IntV)(0, 1, 2, 3, 4, 5, 6, 7))
#define SUM_V(x) sum4((x).lo + (x).hi)
#define MAX_V(x) max4(fmax((x).lo, (x).hi))
#else
typedef float16 FloatV;
typedef int16 IntV;
#define AS_FLOAT_V(x) as_float16(x)
#define AS_INT_V(x) as_int16(x)
#define TO_FLOAT_V(x) convert_float16(x)
#define LOAD_V(p) vload16(0, p)
#define STORE_V(x, p) vstore16(x, 0, p)
#define LANES ((IntV)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#define SUM_V(x) sum4(((x).lo + (x).hi).lo + ((x).lo + (x).hi).hi)
#define MAX_V(x) max4(fmax(fmax((x).lo, (x).hi).lo, fmax((x).lo, (x).hi).hi))
#endif

// with_alibi() of key_visibility.h for neighbouring keys, the first at `distance`.
static inline FloatV with_alibi_v(FloatV score, float slope, long distance) {
  return slope == 0 ? score : score - slope * fabs((FloatV)((float)distance) - TO_FLOAT_V(LANES));
}
