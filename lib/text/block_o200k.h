// SPDX-License-Identifier: Apache-2.0
// The pattern of scanner_o200k.h on the planes of a block (scan_block.h). Beyond what
// block_cl100k.h says of white space and prefixes:
//
// A mark that follows a letter, directly or through marks, is a caseless letter. Any other mark may
// be a prefix, a word or one of the others: the planes leave it to the scalar scanner. In a run of
// letters a word ends before an upper letter (Lu, Lt) that follows a lower one (Ll). An upper
// letter after a caseless one ends the word or not depending on letters far before and after: left
// to the scalar scanner too. A contraction after a word belongs to it. Others absorb newlines and
// slashes after them once a newline has begun.
#ifndef NETCL_TEXT_BLOCK_O200K_H_
#define NETCL_TEXT_BLOCK_O200K_H_

#include "text/block_rules.h"
#include "text/scanner_o200k.h"

namespace netcl::text {

struct BlockO200k {
  using Scanner = O200kScanner;
  static constexpr bool kCased = true;

  template <bool kAscii>
  static NETCL_SCAN_INLINE BlockBorders borders(const BlockPlanes& planes, BlockCarry& carry,
                                                const Block& block) {
    const unsigned width = block.width;
    const uint64_t valid = kAscii ? ~uint64_t{0} : low_bits(width);
    const uint64_t first = kAscii ? ~uint64_t{0} : ~planes.continuation & valid;
    const uint64_t joined_marks =
        kAscii ? 0 : run_from(planes.mark, planes.mark & after(planes.letter, carry.letter));
    const uint64_t letter = planes.letter | joined_marks;
    const uint64_t caseless = planes.caseless | joined_marks;
    const uint64_t lower = letter & ~planes.upper & ~caseless;

    const uint64_t all_other = ~(letter | planes.number | planes.white) & valid;
    const uint64_t blank = planes.white & ~planes.newline;
    const uint64_t absorb_begins = planes.newline & after(all_other, carry.other | carry.absorbed);
    const uint64_t absorbed =
        run_from(planes.newline | planes.slash, absorb_begins | (planes.slash & carry.absorbed));
    const uint64_t free_newline = planes.newline & ~absorbed;
    const uint64_t other = all_other & ~absorbed;

    const uint64_t prefix =
        other & first & ~after(other, carry.other) & ~after(planes.space, carry.space);
    const uint64_t whole_prefix = kAscii ? prefix : whole_characters(prefix, planes.continuation);
    const uint64_t after_letter = after(letter, carry.letter);
    const uint64_t words =
        letter & first & ~after_letter & ~after(blank | whole_prefix, carry.blank | carry.prefix);
    const uint64_t upper = planes.upper & first;
    const uint64_t next_words = upper & after(lower, carry.lower);
    uint64_t begins =
        prefix | words | next_words | carry.borders |
        number_begins<kAscii>(planes, carry, first, width) |
        grouped_white_begins<kAscii>(planes, carry, first, blank, free_newline, block);
    BlockBorders result;
    if constexpr (!kAscii) {
      result.unsure =
          (upper & after(caseless, carry.caseless)) | (planes.mark & ~joined_marks & first);
    } else {
      result.unsure = upper & carry.caseless;
    }

    uint64_t fresh = carry.borders;  // contractions end here, so an apostrophe begins a piece
    uint64_t no_begins = carry.no_borders;
    carry.borders = 0;
    carry.no_borders = 0;
    const uint64_t apostrophes = planes.apostrophe & after_letter;
    for (uint64_t rest = before_letter(apostrophes, letter, width); rest != 0; rest &= rest - 1) {
      const unsigned i = lowest(rest);
      const size_t length =
          contraction_length(ScanText(block.text), block.pos + i, ContractionCase::kFold);
      if (length > 0 && (fresh & bit_at(i)) == 0) {
        // Nor does a word begin inside it ("'vE").
        for (unsigned k = 0; k < length; ++k) {
          mark_place(no_begins, carry.no_borders, i + k, width);
        }
        mark_place(fresh, carry.borders, i + static_cast<unsigned>(length), width);
      }
    }
    result.begins = (begins & ~no_begins) | fresh;

    carry.letter = at_end(letter, width);
    carry.lower = at_end(lower, width);
    carry.caseless = at_end(caseless, width);
    carry.other = at_end(other, width);
    carry.space = at_end(planes.space, width);
    carry.blank = at_end(blank, width);
    carry.free_newline = at_end(free_newline, width);
    carry.absorbed = at_end(absorbed, width);
    carry.prefix = at_end(whole_prefix, width);
    return result;
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BLOCK_O200K_H_
