// SPDX-License-Identifier: Apache-2.0
// Whether two tokenizers give the same ids: the proof that goes with a converted file.
#ifndef NETCL_TEXT_TOKENIZER_COMPARE_H_
#define NETCL_TEXT_TOKENIZER_COMPARE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/thread_pool.h"
#include "text/tokenizer.h"

namespace netcl::text {

// A text with its name for messages.
struct NamedText {
  std::string name;
  std::string_view text;
};

// Texts that reach the corners of splitters and normalizers: some thirty scripts, code, white space
// of all kinds, digits, punctuation, emoji, combining marks, long runs, bytes that are no UTF-8.
// The views live as long as the program.
const std::vector<NamedText>& comparison_texts();

// The first difference between two tokenizers as one line without its end; nothing when there is
// none. Compared are, in this order: the bytes of every id and whether it is special; the added
// tokens with their flags (`normalized` only where there is a normalizer); what the bytes of every
// ordinary token encode to, and what that decodes to; then comparison_texts(), every added token
// alone and between other text, and `texts`, under each special policy. Ids around a text (the
// template) are compared when `with_template`.
// A text that both refuse (a vocabulary without the byte) counts as equal. Throws FormatError
// naming the text when a search of a regex splitter is given up in one of `texts`, for which that
// would prove nothing.
// Cost: the vocabulary and the texts are encoded up to four times by both; tokens are shared among
// the threads of `pool`. The result does not depend on them.
std::optional<std::string> first_difference(const BpeTokenizer& before, const BpeTokenizer& after,
                                            std::span<const NamedText> texts, bool with_template,
                                            base::ThreadPool& pool,
                                            const base::ProgressFn& progress = {});

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKENIZER_COMPARE_H_
