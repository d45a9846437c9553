// SPDX-License-Identifier: Apache-2.0
// Scanner of the pattern of o200k_base, o200k_harmony and llama4. With
//   prefix = [^\r\n\p{L}\p{N}], head = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}],
//   tail = [\p{Ll}\p{Lm}\p{Lo}\p{M}], suffix = (?i:'s|'t|'re|'ve|'m|'ll|'d)
// it is
//
//   prefix?head*tail+suffix?|prefix?head+tail*suffix?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*
//   |\s*[\r\n]+|\s+(?!\S)|\s+
#ifndef NETCL_TEXT_SCANNER_O200K_H_
#define NETCL_TEXT_SCANNER_O200K_H_

#include "text/scanner_rules.h"

namespace netcl::text {

struct O200kScanner {
  static size_t piece_end(const ScanText& text, size_t begin) {
    const ScanChar first = text.at(begin);
    if (first.has(kNumber)) {
      return number_end(text, begin, 3);
    }
    if (const size_t end = word_end(text, begin, first); end > begin) {
      return end + contraction_length(text, end, ContractionCase::kFold);
    }
    const size_t second_begin = begin + first.byte_count;
    const bool space_then_other =
        text.byte_is(begin, ' ') && second_begin < text.size() && text.at(second_begin).is_other();
    if (first.is_other() || space_then_other) {
      size_t pos = text.skip_other(second_begin);
      while (pos < text.size() && (text.at(pos).has(kNewline) || text.byte(pos) == '/')) {
        ++pos;
      }
      return pos;
    }
    return white_space_end(text, begin, NewlineRule::kGrouped);
  }

 private:
  struct WordBody {
    size_t with_tail = 0;  // end of head*tail+ at the start, or 0 when it does not match
    size_t head_only = 0;  // end of the run of heads; the start when there is none
  };

  // head* takes the longest run. If a tail follows, tail+ goes on from there; otherwise head* gives
  // characters back until one is a tail too, and tail+ takes that one alone, because what was given
  // back after it are heads only.
  static WordBody word_body(const ScanText& text, size_t begin) {
    size_t pos = begin;
    size_t both_end = 0;
    while (pos < text.size()) {
      const ScanChar c = text.at(pos);
      if (!c.has(kWordHead)) {
        if (c.has(kWordTail)) {
          return {text.skip_any(pos + c.byte_count, kWordTail), pos};
        }
        break;
      }
      pos += c.byte_count;
      if (c.has(kWordTail)) {
        both_end = pos;
      }
    }
    return {both_end, pos};
  }

  // End of the first two alternatives without the suffix, or `begin` when neither matches. A prefix
  // is taken if that leads to a match, else left out; without it the first character must be a head
  // or a tail, so a prefix that is neither settles the alternative. Only a mark is all three: the
  // first alternative then matches the mark alone.
  static size_t word_end(const ScanText& text, size_t begin, ScanChar first) {
    if (first.has(kLetter)) {
      const WordBody body = word_body(text, begin);
      return body.with_tail > 0 ? body.with_tail : body.head_only;
    }
    if (first.has(kNewline)) {
      return begin;
    }
    const size_t after_prefix = begin + first.byte_count;
    const WordBody body = word_body(text, after_prefix);
    if (body.with_tail > 0) {
      return body.with_tail;
    }
    if (first.has(kWordTail)) {
      return after_prefix;
    }
    return body.head_only > after_prefix ? body.head_only : begin;
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SCANNER_O200K_H_
