// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_tile.h"

#include <bit>
#include <cstring>
#include <limits>

namespace netcl::nn {

namespace {

// Inlined into each variant below, so that it is compiled for that variant's instruction set.
#define NETCL_TILE_INLINE [[gnu::always_inline]] inline

// kLanes floats that the compiler keeps in one register.
template <int64_t kLanes>
struct Vector {
  typedef float Type __attribute__((vector_size(kLanes * sizeof(float))));
};

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// exp(x) = 2^n * exp(r) with n = round(x / ln 2) and |r| <= ln(2) / 2; exp(r) by its Taylor
// polynomial of degree 7 (remainder below 6e-9). Adding 1.5 * 2^23 rounds to an integer that then
// stands in the low mantissa bits. ln 2 is split in two so that n * kLn2High is exact.
NETCL_TILE_INLINE float exp_polynomial(float x) {
  constexpr float kRound = 12582912.0F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kLowest = -87.3F;
  const float clamped = x > kLowest ? x : kLowest;
  const float shifted = clamped * 1.44269504088896341F + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const uint32_t scaled = std::bit_cast<uint32_t>(p) + (static_cast<uint32_t>(exponent) << 23U);
  const float result = x < kLowest ? 0.0F : std::bit_cast<float>(scaled);
  return x != x ? x : result;
}

// s of kRows rows and kColumns * kLanes keys, held in registers while d runs.
template <int64_t kLanes, int64_t kRows, int64_t kColumns>
NETCL_TILE_INLINE void score_block(const float* q, int64_t head_dim, const float* kt, float scale,
                                   float* s) {
  using V = typename Vector<kLanes>::Type;
  V sums[kRows][kColumns] = {};
  for (int64_t d = 0; d < head_dim; ++d) {
    V keys[kColumns];
#pragma GCC unroll 4
    for (int64_t c = 0; c < kColumns; ++c) {
      std::memcpy(&keys[c], kt + d * kTileKeys + c * kLanes, sizeof(V));
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int64_t c = 0; c < kColumns; ++c) {
        sums[r][c] += q[r * head_dim + d] * keys[c];
      }
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      const V scaled = sums[r][c] * scale;
      std::memcpy(s + r * kTileKeys + c * kLanes, &scaled, sizeof(V));
    }
  }
}

template <int64_t kLanes>
NETCL_TILE_INLINE void score_tile(const float* q, int64_t rows, int64_t head_dim, const float* kt,
                                  int64_t keys, float scale, float* s) {
  constexpr int64_t kColumns = 2;
  static_assert(kTileKeysStep % (kColumns * kLanes) == 0);
  const int64_t columns = (keys + kTileKeysStep - 1) / kTileKeysStep * kTileKeysStep;
  for (int64_t j = 0; j < columns; j += kColumns * kLanes) {
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      score_block<kLanes, 4, kColumns>(q + r * head_dim, head_dim, kt + j, scale,
                                       s + r * kTileKeys + j);
    }
    for (; r < rows; ++r) {
      score_block<kLanes, 1, kColumns>(q + r * head_dim, head_dim, kt + j, scale,
                                       s + r * kTileKeys + j);
    }
  }
}

NETCL_TILE_INLINE void softmax_tile(float* s, int64_t rows, float* highest, float* sum,
                                    float* keep) {
  constexpr int kLanes = 16;
  for (int64_t r = 0; r < rows; ++r) {
    float* const row = s + r * kTileKeys;
    float lanes[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      lanes[c] = kMinusInfinity;
    }
    for (int64_t j = 0; j < kTileKeys; j += kLanes) {
      for (int c = 0; c < kLanes; ++c) {
        lanes[c] = row[j + c] > lanes[c] ? row[j + c] : lanes[c];
      }
    }
    float top = highest[r];
    for (int c = 0; c < kLanes; ++c) {
      top = lanes[c] > top ? lanes[c] : top;
    }
    // While no key is visible there is nothing to subtract: -inf - -inf would be NaN.
    const float base = top == kMinusInfinity ? 0.0F : top;
    for (int64_t j = 0; j < kTileKeys; ++j) {
      row[j] = exp_polynomial(row[j] - base);
    }
    for (int c = 0; c < kLanes; ++c) {
      lanes[c] = 0;
    }
    for (int64_t j = 0; j < kTileKeys; j += kLanes) {
      for (int c = 0; c < kLanes; ++c) {
        lanes[c] += row[j + c];
      }
    }
    float added = 0;
    for (int c = 0; c < kLanes; ++c) {
      added += lanes[c];
    }
    keep[r] = exp_polynomial(highest[r] - base);
    sum[r] = keep[r] * sum[r] + added;
    highest[r] = top;
  }
}

template <int64_t kLanes, int64_t kRows, int64_t kColumns>
NETCL_TILE_INLINE void accumulate_block(const float* p, const float* keep, const float* v,
                                        int64_t keys, int64_t width, float* acc) {
  using V = typename Vector<kLanes>::Type;
  V sums[kRows][kColumns];
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      std::memcpy(&sums[r][c], acc + r * width + c * kLanes, sizeof(V));
      sums[r][c] *= keep[r];
    }
  }
  for (int64_t j = 0; j < keys; ++j) {
    V values[kColumns];
#pragma GCC unroll 4
    for (int64_t c = 0; c < kColumns; ++c) {
      std::memcpy(&values[c], v + j * width + c * kLanes, sizeof(V));
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int64_t c = 0; c < kColumns; ++c) {
        sums[r][c] += p[r * kTileKeys + j] * values[c];
      }
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      std::memcpy(acc + r * width + c * kLanes, &sums[r][c], sizeof(V));
    }
  }
}

template <int64_t kLanes>
NETCL_TILE_INLINE void accumulate_tile(const float* p, int64_t rows, const float* keep,
                                       const float* v, int64_t keys, int64_t width, float* acc) {
  constexpr int64_t kColumns = 2;
  static_assert(kTileWidthAlign % (kColumns * kLanes) == 0);
  for (int64_t c = 0; c < width; c += kColumns * kLanes) {
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      accumulate_block<kLanes, 4, kColumns>(p + r * kTileKeys, keep + r, v + c, keys, width,
                                            acc + r * width + c);
    }
    for (; r < rows; ++r) {
      accumulate_block<kLanes, 1, kColumns>(p + r * kTileKeys, keep + r, v + c, keys, width,
                                            acc + r * width + c);
    }
  }
}

// The three functions for one instruction set. An attribute takes no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define NETCL_TILE_VARIANT(NAME, LANES, LEVEL, TARGET)                                           \
  TARGET void score_##NAME(const float* q, int64_t rows, int64_t head_dim, const float* kt,      \
                           int64_t keys, float scale, float* s) {                                \
    score_tile<LANES>(q, rows, head_dim, kt, keys, scale, s);                                    \
  }                                                                                              \
  TARGET void softmax_##NAME(float* s, int64_t rows, float* highest, float* sum, float* keep) {  \
    softmax_tile(s, rows, highest, sum, keep);                                                   \
  }                                                                                              \
  TARGET void accumulate_##NAME(const float* p, int64_t rows, const float* keep, const float* v, \
                                int64_t keys, int64_t width, float* acc) {                       \
    accumulate_tile<LANES>(p, rows, keep, v, keys, width, acc);                                  \
  }                                                                                              \
  constexpr TileFunctions k_##NAME = {score_##NAME, softmax_##NAME, accumulate_##NAME, #NAME,    \
                                      base::CpuLevel::LEVEL};

NETCL_TILE_VARIANT(baseline, 4, kScalar, )
#if defined(__x86_64__)
NETCL_TILE_VARIANT(avx2, 8, kAvx2, __attribute__((target("avx2,fma"))))
NETCL_TILE_VARIANT(avx512, 16, kAvx512,
                   __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma"))))
#endif
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace

std::vector<const TileFunctions*> runnable_tile_functions() {
  std::vector<const TileFunctions*> sets = {&k_baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets.push_back(&k_avx2);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    sets.push_back(&k_avx512);
  }
#endif
  return sets;
}

const TileFunctions& tile_functions() {
  static const std::vector<const TileFunctions*> sets = runnable_tile_functions();
  size_t widest = sets.size() - 1;
  while (widest > 0 && sets[widest]->level > base::cpu_level_limit()) {
    --widest;
  }
  return *sets[widest];
}

float exp_nonpositive(float x) {
  return exp_polynomial(x);
}

}  // namespace netcl::nn
