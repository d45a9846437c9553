// SPDX-License-Identifier: Apache-2.0
#include "text/short_merge.h"

#if defined(__x86_64__)

// GCC 12 takes the undefined registers of its own intrinsics for uses of uninitialised variables
// (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <array>
#include <bit>

#include <immintrin.h>

namespace netcl::text {

namespace {

#define NETCL_MERGE_TARGET \
  __attribute__((target(   \
      "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt,lzcnt")))

template <size_t kWords>
class PairWords {
 public:
  NETCL_MERGE_TARGET static PairWords load(const uint32_t* words) {
    PairWords result;
    for (size_t i = 0; i < kGroups; ++i) {
      result.groups_[i] = _mm512_load_si512(words + 16 * i);
    }
    return result;
  }
  // Eight words, each the lowest of some; together of all.
  NETCL_MERGE_TARGET __m256i lowest_of_each() const {
    __m512i all = groups_[0];
    for (size_t i = 1; i < kGroups; ++i) {
      all = _mm512_min_epu32(all, groups_[i]);
    }
    return _mm256_min_epu32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
  }
  // `place`: one bit or none.
  NETCL_MERGE_TARGET void set(uint32_t place, uint32_t word) {
    for (size_t i = 0; i < kGroups; ++i) {
      groups_[i] = _mm512_mask_set1_epi32(groups_[i], static_cast<__mmask16>(place >> (16 * i)),
                                          static_cast<int>(word));
    }
  }

 private:
  static constexpr size_t kGroups = kWords / 16;
  __m512i groups_[kGroups];
};

#include "text/short_merge.inc"

}  // namespace

NETCL_MERGE_TARGET void short_merge_avx512(const MergeTables& tables,
                                           std::span<ShortPiece> pieces) {
  merge_all(tables, pieces);
}

}  // namespace netcl::text

#endif
