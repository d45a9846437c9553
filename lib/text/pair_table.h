// SPDX-License-Identifier: Apache-2.0
// Map from a pair of ids to a rank, made for merging, which looks into it all the time and finds
// nothing as often as not: a look-up reads one line of the processor's cache, compares eight tags
// at once and takes no branch that depends on what is there. Exact all the same: the 48 bits of a
// pair are scrambled by a bijection, whose high bits choose the line and whose others (the tag) are
// stored with the rank, together with how far the entry lies from its line when that was full.
#ifndef NETCL_TEXT_PAIR_TABLE_H_
#define NETCL_TEXT_PAIR_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/big_buffer.h"

namespace netcl::text {

// Reading is safe from several threads; writing is not. Ids and ranks are below 2^24 - 1.
class PairTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // The least that is no id: a pair with it has no rank.
  static constexpr uint32_t kNoId = (uint32_t{1} << 24) - 1;

  // Room for `expected` pairs before the table first grows.
  explicit PairTable(size_t expected = 0);

  // The rank of the pair, or kNone.
  __attribute__((always_inline)) uint32_t find(uint32_t left, uint32_t right) const {
    return find_key(pair_key(left, right));
  }
  // The same by the pair_key().
  __attribute__((always_inline)) uint32_t find_key(uint64_t key) const {
    const Line& line = lines_[key >> (64 - line_bits_)];
    const uint64_t stored = key << line_bits_;
    const uint32_t equal = equal_slots(line.tags, static_cast<uint32_t>(stored >> 32));
    // By arithmetic: a branch on `equal` would often go wrong, and only after the line has come.
    const uint32_t hit = uint32_t{0} - static_cast<uint32_t>(equal != 0);
    const uint32_t word = line.words[std::countr_zero(equal | 1U << (kSlots - 1))];
    const uint32_t found = (word & hit) | (static_cast<uint32_t>(stored) & ~hit);
    const uint32_t other = (found ^ static_cast<uint32_t>(stored)) >> kRankBits;
    if ((other | (line.words[kSlots - 1] & ~hit)) != 0) [[unlikely]] {
      return find_slowly(key);
    }
    return (found & kRankMask) - 1;
  }

  // Fetches what find() of the pair will read.
  void prefetch(uint32_t left, uint32_t right) const { prefetch_key(pair_key(left, right)); }
  void prefetch_key(uint64_t key) const { __builtin_prefetch(lines_ + (key >> (64 - line_bits_))); }

  // Sets the rank of a pair, new or not.
  void set(uint32_t left, uint32_t right, uint32_t rank);

  // Calls visit(key, rank) for every pair; the pair_key() of a pair is that of no other.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    const size_t mask = (size_t{1} << line_bits_) - 1;
    for (size_t index = 0; index <= mask; ++index) {
      const Line& line = lines_[index];
      for (size_t i = 0; i < kSlots && line.words[i] != 0; ++i) {
        visit(key_at(line, i, index), (line.words[i] & kRankMask) - 1);
      }
    }
  }
  static uint64_t pair_key(uint32_t left, uint32_t right) { return scramble(left, right); }

  // Number of pairs.
  size_t size() const { return size_; }
  size_t byte_count() const { return memory_.size(); }

 private:
  static constexpr size_t kSlots = 8;
  static constexpr int kRankBits = 24;
  static constexpr int kDistanceBits = 5;
  static constexpr uint32_t kRankMask = (uint32_t{1} << kRankBits) - 1;

  // A word is the low 3 bits of the tag, the distance and the rank plus one; 0: free. The slots of
  // a line are taken from the first on.
  struct alignas(64) Line {
    uint32_t tags[kSlots];  // the high 32 bits of the tag
    uint32_t words[kSlots];
  };

  // The 48 bits at the top, below them zeros: a product with an odd number mod 2^48.
  static uint64_t scramble(uint32_t left, uint32_t right) {
    return (uint64_t{left} << 40 | uint64_t{right} << 16) * 0x9E3779B97F4A7C15U;
  }

  // Which of the tags or the words of a line equal `wanted`, one bit a slot.
  __attribute__((always_inline)) static uint32_t equal_slots(const uint32_t* slots,
                                                             uint32_t wanted) {
#if defined(__SSE2__)
    const __m128i all = _mm_set1_epi32(static_cast<int>(wanted));
    const auto* four = reinterpret_cast<const __m128i*>(slots);
    const __m128i low = _mm_cmpeq_epi32(_mm_load_si128(four), all);
    const __m128i high = _mm_cmpeq_epi32(_mm_load_si128(four + 1), all);
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(low)) |
                                 _mm_movemask_ps(_mm_castsi128_ps(high)) << 4);
#else
    uint32_t equal = 0;
    for (size_t i = 0; i < kSlots; ++i) {
      equal |= static_cast<uint32_t>(slots[i] == wanted) << i;
    }
    return equal;
#endif
  }

  // The slot of a pair, or the free one that it would take.
  struct Place {
    uint32_t* tag = nullptr;   // null: it would lie too far from its line
    uint32_t* word = nullptr;  // 0: free
    uint32_t wanted = 0;       // the word, but for the rank
  };
  Place place_of(uint64_t key) const;
  bool insert(uint64_t key, uint32_t rank);
  void fill(const Place& place, uint64_t key, uint32_t rank);
  uint32_t find_slowly(uint64_t key) const;
  // The key of a slot that is not free, of the line at `index`.
  uint64_t key_at(const Line& line, size_t slot, size_t index) const {
    const uint32_t word = line.words[slot];
    const size_t distance = (word >> kRankBits) & ((1U << kDistanceBits) - 1);
    const uint64_t home = (index - distance) & ((size_t{1} << line_bits_) - 1);
    const uint32_t low_tag = word >> (kRankBits + kDistanceBits) << (kRankBits + kDistanceBits);
    const uint64_t stored = uint64_t{line.tags[slot]} << 32 | low_tag;
    return home << (64 - line_bits_) | stored >> line_bits_;
  }
  void allocate(int line_bits);
  void grow();

  base::BigBuffer memory_;
  Line* lines_ = nullptr;
  int line_bits_ = 0;
  size_t size_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_TABLE_H_
