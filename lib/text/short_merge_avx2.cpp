// SPDX-License-Identifier: Apache-2.0
#include "text/short_merge.h"

#if defined(__x86_64__)

#include <array>
#include <bit>

#include <immintrin.h>

namespace netcl::text {

namespace {

#define NETCL_MERGE_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

template <size_t kWords>
class PairWords {
 public:
  NETCL_MERGE_TARGET static PairWords load(const uint32_t* words) {
    PairWords result;
    for (size_t i = 0; i < kGroups; ++i) {
      result.groups_[i] = _mm256_load_si256(reinterpret_cast<const __m256i*>(words) + i);
    }
    return result;
  }
  // Eight words, each the lowest of some; together of all.
  NETCL_MERGE_TARGET __m256i lowest_of_each() const {
    __m256i eight = groups_[0];
    for (size_t i = 1; i < kGroups; ++i) {
      eight = _mm256_min_epu32(eight, groups_[i]);
    }
    return eight;
  }
  // `place`: one bit or none.
  NETCL_MERGE_TARGET void set(uint32_t place, uint32_t word) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i value = _mm256_set1_epi32(static_cast<int>(word));
    for (size_t i = 0; i < kGroups; ++i) {
      // A place without bits in the group equals none of its bits.
      const __m256i wanted = _mm256_set1_epi32(static_cast<int>(place >> (8 * i) & 0xFF));
      groups_[i] = _mm256_blendv_epi8(groups_[i], value, _mm256_cmpeq_epi32(wanted, bits));
    }
  }

 private:
  static constexpr size_t kGroups = kWords / 8;
  __m256i groups_[kGroups];
};

#include "text/short_merge.inc"

}  // namespace

NETCL_MERGE_TARGET void short_merge_avx2(const MergeTables& tables, std::span<ShortPiece> pieces) {
  merge_all(tables, pieces);
}

}  // namespace netcl::text

#endif
