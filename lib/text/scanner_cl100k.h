// SPDX-License-Identifier: Apache-2.0
// Scanner of the pattern of cl100k_base and llama3 (kMaxNumbers = 3) and of qwen2 (1, where the
// number alternative is \p{N}):
//
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//   |\s*[\r\n]+|\s+(?!\S)|\s+
#ifndef NETCL_TEXT_SCANNER_CL100K_H_
#define NETCL_TEXT_SCANNER_CL100K_H_

#include "text/scanner_rules.h"

namespace netcl::text {

template <int kMaxNumbers>
struct Cl100kScanner {
  static size_t piece_end(const ScanText& text, size_t begin) {
    if (const size_t length = contraction_length(text, begin, ContractionCase::kFold); length > 0) {
      return begin + length;
    }
    const ScanChar first = text.at(begin);
    const size_t second_begin = begin + first.byte_count;
    if (first.has(kLetter)) {
      return text.skip_any(second_begin, kLetter);
    }
    if (first.has(kNumber)) {
      return number_end(text, begin, kMaxNumbers);
    }
    ScanChar second;
    if (second_begin < text.size()) {
      second = text.at(second_begin);
      if (!first.has(kNewline) && second.has(kLetter)) {
        return text.skip_any(second_begin + second.byte_count, kLetter);
      }
    }
    const bool space_then_other =
        text.byte_is(begin, ' ') && second_begin < text.size() && second.is_other();
    if (first.is_other() || space_then_other) {
      return text.skip_any(text.skip_other(second_begin), kNewline);
    }
    return white_space_end(text, begin, NewlineRule::kGrouped);
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SCANNER_CL100K_H_
