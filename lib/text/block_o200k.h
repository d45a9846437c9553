// SPDX-License-Identifier: Apache-2.0
// The pattern of scanner_o200k.h on the planes of a block (scan_block.h). Beyond what
// block_cl100k.h says of white space and prefixes:
//
// Marks are both others and parts of words. A run of marks is a run of caseless letters, except
// after an other that cannot be the prefix of a word: there it goes on with the others. In a run of
// letters a word ends before an upper letter (Lu, Lt) that follows a lower one (Ll). An upper
// letter after a caseless one ends the word or not depending on letters far before and after: the
// planes leave it to the scalar scanner. A contraction after a word belongs to it. Others absorb
// newlines and slashes after them once a newline has begun.
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
    MarkPlanes marks;
    if constexpr (!kAscii) {
      marks = judge_marks(planes, carry, first);
    }
    const uint64_t letter = planes.letter | marks.letter;
    const uint64_t caseless = planes.caseless | marks.letter;
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
    result.unsure = (upper & after(caseless, carry.caseless)) | marks.unsure;

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

 private:
  struct MarkPlanes {
    uint64_t letter = 0;  // marks that are letters of a word
    uint64_t unsure = 0;
  };

  // From left to right, because whether an other can be a prefix depends on the marks before it.
  static NETCL_SCAN_INLINE MarkPlanes judge_marks(const BlockPlanes& planes,
                                                  const BlockCarry& carry, uint64_t first) {
    MarkPlanes marks;
    marks.letter = run_from(planes.mark, planes.mark & after(planes.letter, carry.letter));
    for (uint64_t rest = planes.mark & ~marks.letter; rest != 0;) {
      const unsigned i = lowest(rest);
      const uint64_t run = run_from(rest, bit_at(i));
      const uint64_t other = ~(planes.letter | marks.letter | planes.number | planes.white);
      bool is_letter = true;
      if (i == 0) {
        is_letter = carry.other == 0 || carry.prefix != 0;
      } else if ((other & bit_at(i - 1)) != 0) {
        // The other before the marks is a prefix unless one more or a U+0020 precedes it. A slash
        // may have been absorbed, so that the next piece begins behind it.
        const uint64_t before = highest_bit(first & low_bits(i));
        const uint64_t no_prefix = after(other, carry.other) | after(planes.space, carry.space);
        if ((planes.slash & (bit_at(i - 1) | (before >> 1))) != 0) {
          marks.unsure = bit_at(i);
          return marks;
        }
        is_letter = (no_prefix & before) == 0;
      }
      marks.letter |= is_letter ? run : 0;
      rest &= ~run;
    }
    return marks;
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BLOCK_O200K_H_
