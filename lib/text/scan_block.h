// SPDX-License-Identifier: Apache-2.0
// What the vectorised scanners share. They read a text in blocks of 64 bytes: the class of every
// byte becomes one bit in a few 64-bit planes (bit i: byte i of the block), and the rules of a
// pattern become integer operations on the planes that give the bytes where a piece begins. Every
// byte of a character has the bits of the character. A block begins at a border of characters and
// ends before a character that would cross its end, so no character lies in two blocks; what a
// rule has to know of the block before is kept in BlockCarry. Rare cases (contractions, long
// number runs, blank lines of blanks) look at the text itself, each place once.
//
// The functions here are plain C++ that is inlined into loops compiled for several instruction
// sets (block_loop.inc). The scalar scanners (scanner_rules.h) define what is right.
#ifndef NETCL_TEXT_SCAN_BLOCK_H_
#define NETCL_TEXT_SCAN_BLOCK_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/scanner_rules.h"

#define NETCL_SCAN_INLINE inline __attribute__((always_inline))

namespace netcl::text {

inline constexpr unsigned kBlockBytes = 64;

struct BlockPlanes {
  uint64_t letter = 0;
  uint64_t number = 0;
  uint64_t white = 0;
  uint64_t newline = 0;       // CR and LF
  uint64_t space = 0;         // U+0020
  uint64_t apostrophe = 0;    // U+0027
  uint64_t slash = 0;         // U+002F
  uint64_t upper = 0;         // letters that are a head of a word alone (Lu, Lt)
  uint64_t caseless = 0;      // letters that are both head and tail (Lm, Lo)
  uint64_t mark = 0;          // \p{M}
  uint64_t continuation = 0;  // bytes of a well-formed character after its first
  uint64_t high = 0;          // bytes above 0x7F
};

// What precedes a block: 1 where the character before it has the property. All zero at a border of
// pieces, where nothing before matters.
struct BlockCarry {
  uint64_t letter = 0;
  uint64_t lower = 0;     // a tail of a word alone
  uint64_t caseless = 0;  // head and tail
  uint64_t number = 0;    // how many of the piece's last characters are numbers, where that counts
  uint64_t other = 0;
  uint64_t white = 0;
  uint64_t space = 0;
  uint64_t blank = 0;         // white space other than CR and LF
  uint64_t free_newline = 0;  // CR or LF that does not belong to the characters before it
  uint64_t absorbed = 0;      // CR or LF (or slash) that does
  uint64_t prefix = 0;        // a character that letters after it would join
  uint64_t borders = 0;       // plane of borders known beforehand
  uint64_t no_borders = 0;    // plane of places known not to be borders
};

struct BlockBorders {
  uint64_t begins = 0;  // first bytes of pieces
  uint64_t unsure = 0;  // characters that the planes cannot decide on; begins is right below them
};

// The lowest `count` bits, 0..64.
NETCL_SCAN_INLINE uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}
NETCL_SCAN_INLINE uint64_t bit_at(unsigned index) {
  return uint64_t{1} << index;
}
NETCL_SCAN_INLINE unsigned lowest(uint64_t plane) {
  return static_cast<unsigned>(std::countr_zero(plane));
}
// The highest set bit as a plane; 0 for 0.
NETCL_SCAN_INLINE uint64_t highest_bit(uint64_t plane) {
  return plane == 0 ? 0 : bit_at(63 - static_cast<unsigned>(std::countl_zero(plane)));
}
// Bytes whose preceding byte is in the plane.
NETCL_SCAN_INLINE uint64_t after(uint64_t plane, uint64_t carry) {
  return (plane << 1) | carry;
}
NETCL_SCAN_INLINE uint64_t at_end(uint64_t plane, unsigned width) {
  return (plane >> (width - 1)) & 1;
}
// The part of `run` that goes on without a gap from bytes of `begins`, a part of run.
NETCL_SCAN_INLINE uint64_t run_from(uint64_t run, uint64_t begins) {
  return (run & ~(run + begins)) | begins;
}
// All bytes of the characters whose first bytes are given.
NETCL_SCAN_INLINE uint64_t whole_characters(uint64_t first_bytes, uint64_t continuation) {
  return first_bytes | run_from(continuation, (first_bytes << 1) & continuation);
}
// First bytes of the characters whose last bytes are given.
NETCL_SCAN_INLINE uint64_t first_of_last(uint64_t last_bytes, uint64_t continuation) {
  uint64_t result = last_bytes & ~continuation;
  for (uint64_t rest = last_bytes & continuation; rest != 0; rest &= rest - 1) {
    result |= highest_bit(~continuation & low_bits(lowest(rest)));
  }
  return result;
}

// The character at bytes[0], which is above 0x7F; four bytes must be readable.
NETCL_SCAN_INLINE ScanChar high_character(const unsigned char* bytes) {
  const uint32_t lead = bytes[0];
  const auto continues = [&](int i) { return (bytes[i] & 0xC0u) == 0x80u; };
  const auto low = [&](int i) { return bytes[i] & 0x3Fu; };
  const auto of = [](uint32_t code_point, uint32_t byte_count) {
    return ScanChar{detail::kClassOfProperties[properties(code_point) & 0x3F], byte_count};
  };
  if (lead < 0xE0) {
    return lead >= 0xC2 && continues(1) ? of(((lead & 0x1Fu) << 6) | low(1), 2) : ScanChar{0, 1};
  }
  if (lead < 0xF0) {
    const uint32_t c = ((lead & 0x0Fu) << 12) | (low(1) << 6) | low(2);
    const bool good = continues(1) && continues(2) && c >= 0x800 && (c < 0xD800 || c > 0xDFFF);
    return good ? of(c, 3) : ScanChar{0, 1};
  }
  const uint32_t c = ((lead & 0x07u) << 18) | (low(1) << 12) | (low(2) << 6) | low(3);
  const bool good = lead <= 0xF4 && continues(1) && continues(2) && continues(3) && c >= 0x10000 &&
                    c <= kMaxCodePoint;
  return good ? of(c, 4) : ScanChar{0, 1};
}

// Properties of the 64 code points from `first` on, a multiple of 64.
NETCL_SCAN_INLINE const uint8_t* property_row(uint32_t first) {
  static_assert(tables::kBlockBits >= 6);
  constexpr uint32_t kOffsetMask = (1u << tables::kBlockBits) - 1;
  const uint32_t block = tables::kBlockIndex[first >> tables::kBlockBits];
  return tables::kBlockData + (block << tables::kBlockBits) + (first & kOffsetMask);
}

// Whether the lead byte E0..EF at bytes[0] and the next byte begin well-formed characters.
NETCL_SCAN_INLINE bool is_row_of_three(const unsigned char* bytes) {
  const unsigned lead = bytes[0];
  const unsigned second = bytes[1];
  return (second & 0xC0u) == 0x80 && (lead != 0xE0 || second >= 0xA0) &&
         (lead != 0xED || second < 0xA0);
}

// Classes of some characters, one plane of their bytes for each.
struct ClassPlanes {
  uint64_t letter = 0;
  uint64_t number = 0;
  uint64_t white = 0;
  uint64_t head = 0;  // kWordHead
  uint64_t tail = 0;  // kWordTail
};

// Adds characters above U+007F to the planes. kCased: upper, caseless and mark are wanted.
template <bool kCased>
NETCL_SCAN_INLINE void add_classes(BlockPlanes& planes, const ClassPlanes& added) {
  planes.letter |= added.letter;
  planes.number |= added.number;
  planes.white |= added.white;
  if constexpr (kCased) {
    const uint64_t both = added.head & added.tail;
    planes.upper |= added.head & ~added.tail;
    planes.caseless |= both & added.letter;
    planes.mark |= both & ~added.letter;
  }
}

// Adds the character `c` at byte i.
template <bool kCased>
NETCL_SCAN_INLINE void add_character(BlockPlanes& planes, unsigned i, ScanChar c) {
  const uint64_t bytes = low_bits(c.byte_count) << i;
  const auto plane = [&](CharClass bit) { return c.has(bit) ? bytes : 0; };
  planes.continuation |= bytes & (bytes << 1);
  add_classes<kCased>(
      planes, {plane(kLetter), plane(kNumber), plane(kSpace), plane(kWordHead), plane(kWordTail)});
}

// 1 when the character at `pos` is white space or the text ends there, else 0.
NETCL_SCAN_INLINE uint64_t white_follows(std::string_view text, size_t pos) {
  return pos >= text.size() || ScanText(text).at(pos).has(kSpace) ? 1 : 0;
}

// Whether white space that goes on at `pos` has a CR or LF.
inline bool newline_follows(std::string_view text, size_t pos) {
  const ScanText scan_text(text);
  while (pos < text.size()) {
    const ScanChar c = scan_text.at(pos);
    if (!c.has(kSpace) || c.has(kNewline)) {
      return c.has(kNewline);
    }
    pos += c.byte_count;
  }
  return false;
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_SCAN_BLOCK_H_
