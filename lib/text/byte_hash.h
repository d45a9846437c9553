// SPDX-License-Identifier: Apache-2.0
// Hash and comparison of short byte strings for the open-addressing tables of this room: eight
// bytes a step, each folded into the hash by a 64 x 64 -> 128 bit multiplication. Not stable across
// versions: never stored.
#ifndef NETCL_TEXT_BYTE_HASH_H_
#define NETCL_TEXT_BYTE_HASH_H_

#include <array>
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

// A string of up to 16 bytes as two words, with zeros behind its end.
struct ShortWords {
  static constexpr size_t kLongest = 16;

  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const ShortWords& a, const ShortWords& b) {
    return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
  }

  // Of the first `size` bytes of 16 that may be read: nothing depends on a branch.
  static ShortWords of_readable(const char* bytes, size_t size) {
    ShortWords words;
    std::memcpy(&words.low, bytes, sizeof words.low);
    std::memcpy(&words.high, bytes + sizeof words.low, sizeof words.high);
    words.low &= kMasks[size].low;
    words.high &= kMasks[size].high;
    return words;
  }
  static ShortWords of(const char* bytes, size_t size) {
    constexpr size_t kWord = sizeof(uint64_t);
    constexpr size_t kHalf = sizeof(uint32_t);
    ShortWords words;
    if (size >= kWord) {
      std::memcpy(&words.low, bytes, kWord);
      if (size > kWord) {
        std::memcpy(&words.high, bytes + size - kWord, kWord);
        words.high >>= 8 * (kLongest - size);
      }
    } else if (size >= kHalf) {
      uint32_t first = 0;
      uint32_t last = 0;
      std::memcpy(&first, bytes, kHalf);
      std::memcpy(&last, bytes + size - kHalf, kHalf);
      words.low = first | uint64_t{last} << (8 * (size - kHalf));
    } else if (size > 0) {
      const auto byte = [&](size_t at) {
        return uint64_t{static_cast<uint8_t>(bytes[at])} << 8 * at;
      };
      words.low = byte(0) | byte(size / 2) | byte(size - 1);
    }
    return words;
  }

 private:
  struct Mask {
    uint64_t low, high;
  };
  static constexpr std::array<Mask, kLongest + 1> kMasks = [] {
    constexpr size_t kWord = sizeof(uint64_t);
    std::array<Mask, kLongest + 1> masks{};
    for (size_t size = 1; size <= kLongest; ++size) {
      masks[size].low = size < kWord ? (uint64_t{1} << (8 * size)) - 1 : ~uint64_t{0};
      masks[size].high = size < kWord      ? 0
                         : size < kLongest ? (uint64_t{1} << (8 * (size - kWord))) - 1
                                           : ~uint64_t{0};
    }
    return masks;
  }();
};

inline constexpr uint64_t kHashFirst = 0x9E3779B97F4A7C15U;
inline constexpr uint64_t kHashSecond = 0xD1B54A32D192ED03U;

inline uint64_t hash_words(const ShortWords& words, size_t size) {
  return mix((words.low ^ kHashFirst) + size, words.high ^ kHashSecond);
}

// The same for strings of equal bytes, however they were read.
inline uint64_t hash_bytes(std::string_view bytes) {
  constexpr size_t kWord = sizeof(uint64_t);
  if (bytes.size() <= ShortWords::kLongest) {
    return hash_words(ShortWords::of(bytes.data(), bytes.size()), bytes.size());
  }
  uint64_t state = kHashFirst ^ bytes.size();
  uint64_t word = 0;
  const char* at = bytes.data();
  const char* const last = at + bytes.size() - kWord;
  for (; at < last; at += kWord) {
    std::memcpy(&word, at, kWord);
    state = mix(state ^ word, kHashSecond);
  }
  std::memcpy(&word, last, kWord);
  return mix(state ^ word, kHashFirst);
}
// Where 16 bytes from the first one on may be read.
inline uint64_t hash_readable(std::string_view bytes) {
  return bytes.size() <= ShortWords::kLongest
             ? hash_words(ShortWords::of_readable(bytes.data(), bytes.size()), bytes.size())
             : hash_bytes(bytes);
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

// The same where 16 bytes from either begin on may be read.
inline bool equal_readable(const char* a, const char* b, size_t size) {
  return size <= ShortWords::kLongest
             ? ShortWords::of_readable(a, size) == ShortWords::of_readable(b, size)
             : equal_bytes(a, b, size);
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_BYTE_HASH_H_
