// SPDX-License-Identifier: Apache-2.0
#include "text/short_merge.h"

#if defined(__x86_64__)

#include <array>
#include <bit>

#include <immintrin.h>

namespace netcl::text {

namespace {

#define NETCL_MERGE_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

class PairWords {
 public:
  NETCL_MERGE_TARGET static PairWords load(const uint32_t* words) {
    PairWords result;
    result.low_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
    result.high_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(words) + 1);
    return result;
  }
  NETCL_MERGE_TARGET uint32_t lowest() const {
    const __m256i eight = _mm256_min_epu32(low_, high_);
    const __m128i four =
        _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0x4E));
    const __m128i one = _mm_min_epu32(two, _mm_shuffle_epi32(two, 0xB1));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(one));
  }
  // `place`: one bit or none.
  NETCL_MERGE_TARGET void set(uint32_t place, uint32_t word) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i value = _mm256_set1_epi32(static_cast<int>(word));
    low_ = chosen(low_, value, place, bits);
    high_ = chosen(high_, value, place >> 8, bits);
  }

 private:
  NETCL_MERGE_TARGET static __m256i chosen(__m256i words, __m256i value, uint32_t place,
                                           __m256i bits) {
    const __m256i wanted = _mm256_set1_epi32(static_cast<int>(place & 0xFF));
    // No bit of a place is zero, and a place without bits equals none of them.
    return _mm256_blendv_epi8(words, value, _mm256_cmpeq_epi32(wanted, bits));
  }

  __m256i low_, high_;
};

#include "text/short_merge.inc"

}  // namespace

NETCL_MERGE_TARGET void short_merge_avx2(const MergeTables& tables, std::span<ShortPiece> pieces) {
  merge_pieces(tables, pieces);
}

}  // namespace netcl::text

#endif
