// SPDX-License-Identifier: Apache-2.0
#include "text/block_scanners.h"

#if defined(__x86_64__)

// GCC 12 takes the undefined registers of its own intrinsics for uses of uninitialised variables
// (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <cstring>

#include <immintrin.h>

#include "text/block_cl100k.h"
#include "text/block_gpt2.h"
#include "text/block_o200k.h"

namespace netcl::text {

namespace {

#define NETCL_SCAN_TARGET \
  __attribute__((         \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt")))

class BlockBytes {
 public:
  static constexpr bool kHasLookup = true;

  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE BlockBytes load(const unsigned char* data) {
    BlockBytes bytes;
    bytes.all_ = _mm512_loadu_si512(data);
    return bytes;
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t equal(int c) const {
    return _mm512_cmpeq_epi8_mask(all_, _mm512_set1_epi8(static_cast<char>(c)));
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t in_range(int low, int high) const {
    return between(all_, low, high);
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t letters() const {
    return between(_mm512_or_si512(all_, _mm512_set1_epi8(0x20)), 'a', 'z');
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t high() const { return _mm512_movepi8_mask(all_); }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE BlockBytes lookup(const uint8_t* table) const {
    BlockBytes result;
    result.all_ = _mm512_permutexvar_epi8(all_, _mm512_loadu_si512(table));
    return result;
  }
  NETCL_SCAN_TARGET NETCL_SCAN_INLINE uint64_t any(int bits) const {
    return _mm512_test_epi8_mask(all_, _mm512_set1_epi8(static_cast<char>(bits)));
  }

 private:
  NETCL_SCAN_TARGET static NETCL_SCAN_INLINE uint64_t between(__m512i bytes, int low, int high) {
    const __m512i from_low = _mm512_sub_epi8(bytes, _mm512_set1_epi8(static_cast<char>(low)));
    return _mm512_cmple_epu8_mask(from_low, _mm512_set1_epi8(static_cast<char>(high - low)));
  }

  __m512i all_;
};

// As write_bit_positions() of write_ends.h: the indices of set bits are packed as bytes and widened
// eight at a time.
NETCL_SCAN_TARGET NETCL_SCAN_INLINE size_t write_ends(uint64_t begins, size_t pos, size_t* ends,
                                                      size_t room) {
  static_assert(sizeof(size_t) == 8);
  constexpr size_t kGroup = 8;
  alignas(64) static constexpr struct Indices {
    char value[64];
    constexpr Indices() : value() {
      for (int i = 0; i < 64; ++i) {
        value[i] = static_cast<char>(i);
      }
    }
  } kIndices;
  const auto found = static_cast<size_t>(std::popcount(begins));
  const size_t count = found < room ? found : room;
  const __m512i base = _mm512_set1_epi64(static_cast<long long>(pos));
  __m512i packed = _mm512_maskz_compress_epi8(begins, _mm512_load_si512(kIndices.value));
  for (size_t done = 0; done < count; done += kGroup) {
    const __m512i wide = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(packed));
    const __m512i positions = _mm512_add_epi64(wide, base);
    if (done + kGroup <= room) {
      _mm512_storeu_si512(ends + done, positions);
    } else {
      const auto fitting = static_cast<__mmask8>((1u << (room - done)) - 1);
      _mm512_mask_storeu_epi64(ends + done, fitting, positions);
    }
    packed = _mm512_alignr_epi64(packed, packed, 1);
  }
  return count;
}

#include "text/block_loop.inc"

}  // namespace

const ScanFunctions kAvx512Scanners = kScanners;

}  // namespace netcl::text

#endif
