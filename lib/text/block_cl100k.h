// SPDX-License-Identifier: Apache-2.0
// The pattern of scanner_cl100k.h on the planes of a block (scan_block.h):
//
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//   |\s*[\r\n]+|\s+(?!\S)|\s+
//
// Let "blank" be white space other than CR and LF, and a newline "absorbed" when it follows others
// directly or through newlines. White space without absorbed newlines ends after its last newline
// and before its last blank, so the blank before a letter always begins a piece and takes the
// letters. The first of a run of others begins a piece unless a U+0020 precedes it; letters join it
// when it is the only one, and it may be the apostrophe of a contraction then.
#ifndef NETCL_TEXT_BLOCK_CL100K_H_
#define NETCL_TEXT_BLOCK_CL100K_H_

#include "text/block_rules.h"
#include "text/scanner_cl100k.h"

namespace netcl::text {

template <int kMaxNumbers>
struct BlockCl100k {
  static_assert(kMaxNumbers == 1 || kMaxNumbers == 3);
  using Scanner = Cl100kScanner<kMaxNumbers>;
  static constexpr bool kCased = false;

  template <bool kAscii>
  static NETCL_SCAN_INLINE BlockBorders borders(const BlockPlanes& planes, BlockCarry& carry,
                                                const Block& block) {
    const unsigned width = block.width;
    const uint64_t valid = kAscii ? ~uint64_t{0} : low_bits(width);
    const uint64_t first = kAscii ? ~uint64_t{0} : ~planes.continuation & valid;
    const uint64_t other = ~(planes.letter | planes.number | planes.white) & valid;
    const uint64_t blank = planes.white & ~planes.newline;
    const uint64_t absorbed =
        run_from(planes.newline, planes.newline & after(other, carry.other | carry.absorbed));
    const uint64_t free_newline = planes.newline & ~absorbed;

    const uint64_t prefix =
        other & first & ~after(other, carry.other) & ~after(planes.space, carry.space);
    const uint64_t whole_prefix = kAscii ? prefix : whole_characters(prefix, planes.continuation);
    const uint64_t letters = planes.letter & first & ~after(planes.letter, carry.letter) &
                             ~after(blank | whole_prefix, carry.blank | carry.prefix);
    uint64_t begins =
        prefix | letters | carry.borders |
        grouped_white_begins<kAscii>(planes, carry, first, blank, free_newline, block);
    if constexpr (kMaxNumbers == 1) {
      begins |= planes.number & first;
    } else {
      begins |= number_begins<kAscii>(planes, carry, first, width);
    }
    carry.borders = 0;
    for (uint64_t rest = before_letter(planes.apostrophe & prefix, planes.letter, width); rest != 0;
         rest &= rest - 1) {
      const unsigned i = lowest(rest);
      const size_t length =
          contraction_length(ScanText(block.text), block.pos + i, ContractionCase::kFold);
      if (length > 0) {
        mark_place(begins, carry.borders, i + static_cast<unsigned>(length), width);
      }
    }

    carry.letter = at_end(planes.letter, width);
    carry.other = at_end(other, width);
    carry.space = at_end(planes.space, width);
    carry.blank = at_end(blank, width);
    carry.free_newline = at_end(free_newline, width);
    carry.absorbed = at_end(absorbed, width);
    carry.prefix = at_end(whole_prefix, width);
    return {begins, 0};
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BLOCK_CL100K_H_
