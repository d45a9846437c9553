// SPDX-License-Identifier: Apache-2.0
// Hash and comparison of short byte strings for the open-addressing tables of this room: eight
// bytes a step, each folded into the hash by a 64 x 64 -> 128 bit multiplication. Not stable across
// versions: never stored.
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

// Equality of two strings of the same size, without the call that memcmp() is.
inline bool equal_bytes(const char* a, const char* b, size_t size) {
  const auto differ = [&]<typename Word>(size_t at, Word) {
    Word one = 0;
    Word other = 0;
    std::memcpy(&one, a + at, sizeof one);
    std::memcpy(&other, b + at, sizeof other);
    return one != other;
  };
  constexpr size_t kWord = sizeof(uint64_t);
  constexpr size_t kHalf = sizeof(uint32_t);
  if (size >= kWord) {
    for (size_t at = 0; at + kWord < size; at += kWord) {
      if (differ(at, uint64_t{})) {
        return false;
      }
    }
    return !differ(size - kWord, uint64_t{});
  }
  if (size >= kHalf) {
    return !differ(0, uint32_t{}) && !differ(size - kHalf, uint32_t{});
  }
  for (size_t at = 0; at < size; ++at) {
    if (a[at] != b[at]) {
      return false;
    }
  }
  return true;
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_BYTE_HASH_H_
