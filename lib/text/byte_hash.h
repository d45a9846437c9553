// SPDX-License-Identifier: Apache-2.0
// Hash of short byte strings for the open-addressing tables of this room: eight bytes a step, each
// folded in by a 64 x 64 -> 128 bit multiplication. Not stable across versions: never stored.
#ifndef NETCL_TEXT_BYTE_HASH_H_
#define NETCL_TEXT_BYTE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace netcl::text {

// Folds the 128-bit product of two words; a change of one input bit reaches all output bits.
inline uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kFirst = 0x9E3779B97F4A7C15U;
  constexpr uint64_t kSecond = 0xD1B54A32D192ED03U;
  uint64_t state = kFirst ^ bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t word = 0;
  for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    state = mix(state ^ word, kSecond);
  }
  word = 0;
  if (left > 0) {
    std::memcpy(&word, at, left);
  }
  return mix(state ^ word, kFirst);
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_BYTE_HASH_H_
