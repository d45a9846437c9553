// SPDX-License-Identifier: Apache-2.0
#include "text/block_scanners.h"

#if defined(__aarch64__)

#include <cstring>

#include <arm_neon.h>

#include "text/block_cl100k.h"
#include "text/block_gpt2.h"
#include "text/block_o200k.h"
#include "text/write_ends.h"

namespace netcl::text {

namespace {

#define NETCL_SCAN_TARGET

class BlockBytes {
 public:
  static constexpr bool kHasLookup = true;

  static NETCL_SCAN_INLINE BlockBytes load(const unsigned char* data) {
    return BlockBytes(vld1q_u8_x4(data));
  }
  NETCL_SCAN_INLINE uint64_t equal(int c) const {
    const uint8x16_t value = vdupq_n_u8(static_cast<uint8_t>(c));
    return plane([&](uint8x16_t part) { return vceqq_u8(part, value); });
  }
  NETCL_SCAN_INLINE uint64_t in_range(int low, int high) const {
    return plane([&](uint8x16_t part) { return between(part, low, high); });
  }
  NETCL_SCAN_INLINE uint64_t letters() const {
    const uint8x16_t lower = vdupq_n_u8(0x20);
    return plane([&](uint8x16_t part) { return between(vorrq_u8(part, lower), 'a', 'z'); });
  }
  NETCL_SCAN_INLINE uint64_t high() const {
    return plane([](uint8x16_t part) { return vcltzq_s8(vreinterpretq_s8_u8(part)); });
  }
  NETCL_SCAN_INLINE BlockBytes lookup(const uint8_t* table) const {
    const uint8x16x4_t rows = vld1q_u8_x4(table);
    const uint8x16_t low_six = vdupq_n_u8(0x3F);
    BlockBytes result = *this;
    for (uint8x16_t& part : result.parts_.val) {
      part = vqtbl4q_u8(rows, vandq_u8(part, low_six));
    }
    return result;
  }
  NETCL_SCAN_INLINE uint64_t any(int bits) const {
    const uint8x16_t mask = vdupq_n_u8(static_cast<uint8_t>(bits));
    return plane([&](uint8x16_t part) { return vtstq_u8(part, mask); });
  }

 private:
  explicit NETCL_SCAN_INLINE BlockBytes(uint8x16x4_t parts) : parts_(parts) {}

  static NETCL_SCAN_INLINE uint8x16_t between(uint8x16_t part, int low, int high) {
    const uint8x16_t from_low = vsubq_u8(part, vdupq_n_u8(static_cast<uint8_t>(low)));
    return vcleq_u8(from_low, vdupq_n_u8(static_cast<uint8_t>(high - low)));
  }
  // NEON has no movemask: each byte that passes, all bits set, keeps the bit of its place among
  // eight, and three rounds of pairwise sums gather eight bytes into one.
  template <class Test>
  NETCL_SCAN_INLINE uint64_t plane(Test test) const {
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    const auto bits = [&](int i) { return vandq_u8(test(parts_.val[i]), places); };
    const uint8x16_t low = vpaddq_u8(bits(0), bits(1));
    const uint8x16_t high = vpaddq_u8(bits(2), bits(3));
    const uint8x16_t half = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(half, half)), 0);
  }

  uint8x16x4_t parts_;
};

NETCL_SCAN_INLINE size_t write_ends(uint64_t begins, size_t pos, size_t* ends, size_t room) {
  return write_bit_positions(begins, pos, ends, room);
}

#include "text/block_loop.inc"

}  // namespace

const ScanFunctions kNeonScanners = kScanners;

}  // namespace netcl::text

#endif
