// SPDX-License-Identifier: Apache-2.0
// Names of special tokens that a tokenizer file cannot tell from a learned token.
//
// tokenizer.json and vocab.json hold learned tokens in printable form (byte_level.h) and special
// tokens as they are, as keys of one object: a special token "\u0120the" and a learned " the" would
// be one key. Hugging Face's trainer gives both one id, so that text becomes special tokens.
#ifndef NETCL_TEXT_SPECIAL_NAMES_H_
#define NETCL_TEXT_SPECIAL_NAMES_H_

#include <optional>
#include <string>

#include "text/bpe_trainer.h"

namespace netcl::text {

struct AmbiguousSpecial {
  std::string name;
  std::string bytes;  // of the token that would be written alike
};

// The first special token that some corpus would make ambiguous: other bytes have its name as their
// printable form, and may be learned. These never are:
//   - bytes that hold the text of a special token, which is cut out of the corpus. So names in
//     ASCII are all right, which are their own bytes;
//   - more bytes than a token may have;
//   - with a known pattern, bytes that are_always_split(). So "<|\u00C9TAPE|>" is all right.
// Names with a character that stands for no byte ("<\u0416>", a space) are no printable form.
std::optional<AmbiguousSpecial> find_ambiguous_special(const TrainerOptions& options);

// Whether every known pattern (splitter_names()) has a border of pieces within `bytes`, whatever
// stands around them: behind an ASCII letter or digit and before an ASCII character that is neither
// of these nor the apostrophe of a contraction.
bool are_always_split(std::string_view bytes);

}  // namespace netcl::text

#endif  // NETCL_TEXT_SPECIAL_NAMES_H_
