// SPDX-License-Identifier: Apache-2.0
#include "text/block_scanners.h"

#if defined(__x86_64__)

#include <cstring>

#include <immintrin.h>

#include "text/block_cl100k.h"
#include "text/block_gpt2.h"
#include "text/block_o200k.h"
#include "text/write_ends.h"

namespace netcl::text {

namespace {

#define NETCL_SCAN_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

class BlockBytes {
 public:
  static constexpr bool kHasLookup = true;

  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE BlockBytes load(const unsigned char* data) {
    BlockBytes bytes;
    bytes.low_ = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
    bytes.high_ = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data) + 1);
    return bytes;
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t equal(int c) const {
    const __m256i value = _mm256_set1_epi8(static_cast<char>(c));
    return plane(_mm256_cmpeq_epi8(low_, value), _mm256_cmpeq_epi8(high_, value));
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t in_range(int low, int high) const {
    return plane(between(low_, low, high), between(high_, low, high));
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t letters() const {
    const __m256i lower = _mm256_set1_epi8(0x20);
    return plane(between(_mm256_or_si256(low_, lower), 'a', 'z'),
                 between(_mm256_or_si256(high_, lower), 'a', 'z'));
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t high() const { return plane(low_, high_); }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE BlockBytes lookup(const uint8_t* table) const {
    const __m256i rows[4] = {row(table), row(table + 16), row(table + 32), row(table + 48)};
    BlockBytes result;
    result.low_ = look_up(rows, low_);
    result.high_ = look_up(rows, high_);
    return result;
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t any(int bits) const {
    const __m256i mask = _mm256_set1_epi8(static_cast<char>(bits));
    const __m256i zero = _mm256_setzero_si256();
    return ~plane(_mm256_cmpeq_epi8(_mm256_and_si256(low_, mask), zero),
                  _mm256_cmpeq_epi8(_mm256_and_si256(high_, mask), zero));
  }

 private:
  // Signed comparison after moving `low` to the smallest value.
  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE __m256i between(__m256i part, int low, int high) {
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(0x80 - low));
    const __m256i limit = _mm256_set1_epi8(static_cast<char>(0x80 + high - low + 1));
    return _mm256_cmpgt_epi8(limit, _mm256_add_epi8(part, offset));
  }
  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE __m256i row(const uint8_t* table) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  }
  // Bits 0..3 choose within a row, bits 4 and 5 (moved to the sign of each byte) the row.
  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE __m256i look_up(const __m256i* rows, __m256i part) {
    const __m256i index = _mm256_and_si256(part, _mm256_set1_epi8(0x0F));
    const __m256i odd = _mm256_slli_epi16(part, 3);
    const __m256i upper = _mm256_slli_epi16(part, 2);
    const __m256i first = _mm256_blendv_epi8(_mm256_shuffle_epi8(rows[0], index),
                                             _mm256_shuffle_epi8(rows[1], index), odd);
    const __m256i second = _mm256_blendv_epi8(_mm256_shuffle_epi8(rows[2], index),
                                              _mm256_shuffle_epi8(rows[3], index), odd);
    return _mm256_blendv_epi8(first, second, upper);
  }
  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE uint64_t plane(__m256i low, __m256i high) {
    const auto low_bits_of = static_cast<unsigned>(_mm256_movemask_epi8(low));
    const auto high_bits_of = static_cast<unsigned>(_mm256_movemask_epi8(high));
    return low_bits_of | (uint64_t{high_bits_of} << 32);
  }

  __m256i low_;
  __m256i high_;
};

NETCL_SCAN_TARGET NETCL_SCAN_INLINE size_t write_ends(uint64_t begins, size_t pos, size_t* ends,
                                                      size_t room) {
  return write_bit_positions(begins, pos, ends, room);
}

#include "text/block_loop.inc"

}  // namespace

const ScanFunctions kAvx2Scanners = kScanners;

}  // namespace netcl::text

#endif
