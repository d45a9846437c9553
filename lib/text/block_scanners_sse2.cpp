// SPDX-License-Identifier: Apache-2.0
#include "text/block_scanners.h"

#if defined(__x86_64__)

#include <cstring>

#include <emmintrin.h>

#include "text/block_cl100k.h"
#include "text/block_gpt2.h"
#include "text/block_o200k.h"
#include "text/write_ends.h"

namespace netcl::text {

namespace {

#define NETCL_SCAN_TARGET

class BlockBytes {
 public:
  static constexpr bool kHasLookup = false;

  static NETCL_SCAN_INLINE BlockBytes load(const unsigned char* data) {
    BlockBytes bytes;
    for (int i = 0; i < kParts; ++i) {
      bytes.part_[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i);
    }
    return bytes;
  }
  NETCL_SCAN_INLINE uint64_t equal(int c) const {
    const __m128i value = _mm_set1_epi8(static_cast<char>(c));
    return plane([&](__m128i part) { return _mm_cmpeq_epi8(part, value); });
  }
  // Signed comparison after moving `low` to the smallest value.
  NETCL_SCAN_INLINE uint64_t in_range(int low, int high) const {
    const __m128i offset = _mm_set1_epi8(static_cast<char>(0x80 - low));
    const __m128i limit = _mm_set1_epi8(static_cast<char>(0x80 + high - low + 1));
    return plane([&](__m128i part) { return _mm_cmplt_epi8(_mm_add_epi8(part, offset), limit); });
  }
  NETCL_SCAN_INLINE uint64_t letters() const {
    const __m128i lower = _mm_set1_epi8(0x20);
    const __m128i offset = _mm_set1_epi8(static_cast<char>(0x80 - 'a'));
    const __m128i limit = _mm_set1_epi8(static_cast<char>(0x80 + 26));
    return plane([&](__m128i part) {
      return _mm_cmplt_epi8(_mm_add_epi8(_mm_or_si128(part, lower), offset), limit);
    });
  }
  NETCL_SCAN_INLINE uint64_t high() const {
    return plane([](__m128i part) { return part; });
  }
  // Never called: kHasLookup is false.
  NETCL_SCAN_INLINE BlockBytes lookup(const uint8_t*) const { return *this; }
  NETCL_SCAN_INLINE uint64_t any(int) const { return 0; }

 private:
  static constexpr int kParts = 4;

  template <class Test>
  NETCL_SCAN_INLINE uint64_t plane(Test test) const {
    uint64_t result = 0;
    for (int i = 0; i < kParts; ++i) {
      const auto bits = static_cast<unsigned>(_mm_movemask_epi8(test(part_[i])));
      result |= uint64_t{bits} << (16 * i);
    }
    return result;
  }

  __m128i part_[kParts];
};

NETCL_SCAN_INLINE size_t write_ends(uint64_t begins, size_t pos, size_t* ends, size_t room) {
  return write_bit_positions(begins, pos, ends, room);
}

#include "text/block_loop.inc"

}  // namespace

const ScanFunctions kSse2Scanners = kScanners;

}  // namespace netcl::text

#endif
