// SPDX-License-Identifier: Apache-2.0
// Scanner of the pattern of gpt2, r50k_base and p50k_base:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
#ifndef NETCL_TEXT_SCANNER_GPT2_H_
#define NETCL_TEXT_SCANNER_GPT2_H_

#include "text/scanner_rules.h"

namespace netcl::text {

struct Gpt2Scanner {
  static size_t piece_end(const ScanText& text, size_t begin) {
    if (const size_t length = contraction_length(text, begin, ContractionCase::kExact);
        length > 0) {
      return begin + length;
    }
    const size_t body = text.byte_is(begin, ' ') ? begin + 1 : begin;
    if (body < text.size()) {
      const ScanChar c = text.at(body);
      if (c.has(kLetter | kNumber)) {
        return text.skip_any(body + c.byte_count, c.bits & (kLetter | kNumber));
      }
      if (c.is_other()) {
        return text.skip_other(body + c.byte_count);
      }
    }
    return white_space_end(text, begin, NewlineRule::kNone);
  }
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SCANNER_GPT2_H_
