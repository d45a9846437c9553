// SPDX-License-Identifier: Apache-2.0
// The pattern of scanner_gpt2.h on the planes of a block (scan_block.h):
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// A piece begins where a run of letters, numbers or others begins, unless a U+0020 precedes it;
// where white space begins; at the last white space before something else; and around a
// contraction whose apostrophe begins a piece.
#ifndef NETCL_TEXT_BLOCK_GPT2_H_
#define NETCL_TEXT_BLOCK_GPT2_H_

#include "text/block_rules.h"
#include "text/scanner_gpt2.h"

namespace netcl::text {

struct BlockGpt2 {
  using Scanner = Gpt2Scanner;
  static constexpr bool kCased = false;

  template <bool kAscii>
  static NETCL_SCAN_INLINE BlockBorders borders(const BlockPlanes& planes, BlockCarry& carry,
                                                const Block& block) {
    const unsigned width = block.width;
    const uint64_t valid = kAscii ? ~uint64_t{0} : low_bits(width);
    const uint64_t first = kAscii ? ~uint64_t{0} : ~planes.continuation & valid;
    const uint64_t other = ~(planes.letter | planes.number | planes.white) & valid;
    const uint64_t unspaced = first & ~after(planes.space, carry.space);

    const uint64_t letters = planes.letter & ~after(planes.letter, carry.letter);
    const uint64_t numbers = planes.number & ~after(planes.number, carry.number);
    const uint64_t others = other & ~after(other, carry.other);
    const uint64_t white = planes.white & first & ~after(planes.white, carry.white);
    uint64_t begins = ((letters | numbers | others) & unspaced) | white |
                      last_before_text<kAscii>(planes.white, planes.white, planes, block);
    uint64_t no_begins = carry.no_borders;
    begins |= carry.borders;
    carry.borders = 0;
    carry.no_borders = 0;
    const uint64_t apostrophes = planes.apostrophe & others & unspaced;
    for (uint64_t rest = before_letter(apostrophes, planes.letter, width); rest != 0;
         rest &= rest - 1) {
      const unsigned i = lowest(rest);
      const size_t length =
          contraction_length(ScanText(block.text), block.pos + i, ContractionCase::kExact);
      if (length > 0) {
        mark_place(no_begins, carry.no_borders, i + 1, width);
        mark_place(begins, carry.borders, i + static_cast<unsigned>(length), width);
      }
    }

    carry.letter = at_end(planes.letter, width);
    carry.number = at_end(planes.number, width);
    carry.other = at_end(other, width);
    carry.white = at_end(planes.white, width);
    carry.space = at_end(planes.space, width);
    return {begins & ~no_begins, 0};
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BLOCK_GPT2_H_
