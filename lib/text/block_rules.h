// SPDX-License-Identifier: Apache-2.0
// Rules of white space, numbers and contractions on the planes of a block (scan_block.h). In all
// of them `text` at `pos` is the block and `width` its bytes; kAscii says that it has 64 and none
// above 0x7F.
#ifndef NETCL_TEXT_BLOCK_RULES_H_
#define NETCL_TEXT_BLOCK_RULES_H_

#include "text/scan_block.h"

namespace netcl::text {

struct Block {
  std::string_view text;
  size_t pos;
  unsigned width;
  size_t end() const { return pos + width; }
};

// First bytes of the last characters of runs of `white` that something other than white space
// follows: \s+(?!\S) ends before them, so a piece begins there.
template <bool kAscii>
NETCL_SCAN_INLINE uint64_t last_before_text(uint64_t white, uint64_t all_white,
                                            const BlockPlanes& planes, const Block& block) {
  const uint64_t beyond = white_follows(block.text, block.end()) << (block.width - 1);
  const uint64_t last = white & ~((all_white >> 1) | beyond);
  if constexpr (kAscii) {
    return last;
  }
  return first_of_last(last, planes.continuation);
}

// Begins of blanks after a free newline that run to the end of the white space: \s*[\r\n]+ takes
// them when one more newline follows them.
NETCL_SCAN_INLINE uint64_t blank_tails(uint64_t blank, uint64_t free_newline, uint64_t begins,
                                       const Block& block) {
  const uint64_t sum = blank + begins;
  const uint64_t behind = sum & ~blank;
  const uint64_t with_newline = behind & free_newline;
  const bool runs_on = block.width == kBlockBytes ? sum < begins : at_end(behind, block.width + 1);
  if (runs_on && newline_follows(block.text, block.end())) {
    begins &= ~highest_bit(begins);
  }
  for (uint64_t rest = with_newline; rest != 0; rest &= rest - 1) {
    begins &= ~highest_bit(begins & low_bits(lowest(rest)));
  }
  return begins;
}

// White space of the patterns that group newlines: \s*[\r\n]+|\s+(?!\S)|\s+ after an alternative
// that takes `absorbed` newlines. Returns the begins of pieces.
template <bool kAscii>
NETCL_SCAN_INLINE uint64_t grouped_white_begins(const BlockPlanes& planes, const BlockCarry& carry,
                                                uint64_t first, uint64_t blank,
                                                uint64_t free_newline, const Block& block) {
  const uint64_t after_newline = after(free_newline, carry.free_newline);
  const uint64_t after_blank = after(blank, carry.blank);
  const uint64_t run_begins = (blank | free_newline) & first & ~(after_newline | after_blank);
  return run_begins | blank_tails(blank, free_newline, blank & first & after_newline, block) |
         last_before_text<kAscii>(blank, planes.white, planes, block);
}

// Begins of pieces of \p{N}{1,3}, one character at a time.
NETCL_SCAN_INLINE uint64_t number_begins_by_character(uint64_t characters, uint64_t run_begins,
                                                      uint64_t count) {
  uint64_t begins = run_begins;
  for (uint64_t rest = characters; rest != 0; rest &= rest - 1) {
    const uint64_t bit = rest & (~rest + 1);
    count = (run_begins & bit) != 0 ? 0 : count;
    if (count == 3) {
      begins |= bit;
      count = 0;
    }
    ++count;
  }
  return begins;
}

// Begins of pieces of \p{N}{1,3}; keeps the count of an unfinished piece in carry.number.
template <bool kAscii>
NETCL_SCAN_INLINE uint64_t number_begins(const BlockPlanes& planes, BlockCarry& carry,
                                         uint64_t first, unsigned width) {
  const uint64_t number = planes.number;
  const uint64_t characters = number & first;
  const uint64_t run_begins = characters & ~after(number, carry.number != 0 ? 1 : 0);
  const uint64_t fourth = number & (number << 1) & (number << 2) & (number << 3);
  uint64_t begins = run_begins;
  if ((fourth | carry.number) != 0) {
    if (kAscii || (number & planes.high) == 0) {
      // Every third digit of all runs at once. Those of a run that goes on from the block before
      // are counted from there.
      const unsigned missing = 3 - static_cast<unsigned>(carry.number);
      const bool goes_on =
          carry.number != 0 && (number & low_bits(missing + 1)) == low_bits(missing + 1);
      uint64_t next = goes_on ? bit_at(missing) : 0;
      begins |= next;
      next = ((next | run_begins) << 3) & fourth;
      while (next != 0) {
        begins |= next;
        next = (next << 3) & fourth;
      }
    } else {
      begins = number_begins_by_character(characters, run_begins, carry.number);
    }
  }
  if (at_end(number, width) == 0) {
    carry.number = 0;
  } else {
    const uint64_t last = highest_bit(begins);
    carry.number = last == 0 ? carry.number + static_cast<unsigned>(std::popcount(characters))
                             : static_cast<unsigned>(std::popcount(characters & ~(last - 1)));
  }
  return begins;
}

// Marks the place `offset` bytes after the block's begin in `plane` or, beyond the block, in the
// plane of the next one. No offset reaches further than that.
NETCL_SCAN_INLINE void mark_place(uint64_t& plane, uint64_t& next_plane, unsigned offset,
                                  unsigned width) {
  if (offset < width) {
    plane |= bit_at(offset);
  } else {
    next_plane |= bit_at(offset - width);
  }
}

// Letters that an apostrophe in `places` precedes, as far as the block knows.
NETCL_SCAN_INLINE uint64_t before_letter(uint64_t places, uint64_t letter, unsigned width) {
  return places & ((letter >> 1) | bit_at(width - 1));
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_BLOCK_RULES_H_
