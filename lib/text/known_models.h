// SPDX-License-Identifier: Apache-2.0
// Published tokenizers whose rank files (or vocab.json and merges.txt) carry neither split pattern,
// normalizer nor special tokens.
#ifndef NETCL_TEXT_KNOWN_MODELS_H_
#define NETCL_TEXT_KNOWN_MODELS_H_

#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"

namespace netcl::text {

struct KnownModel {
  std::string_view name;
  // Split patterns, one applied to the pieces of the other; the names of make_named_splitter() are
  // read as these.
  std::vector<std::string_view> patterns;
  bool nfc = false;  // text is brought into normal form C first
  // Several may share an id. Empty where the tokens of the model are not published in one form:
  // tekken's file numbers ranks, which begin at 0 like its special tokens; kimi-k2, qwen3.5.
  std::vector<AddedToken> specials;
};

// The model with this name; "cl100k_base" and the like are read as "cl100k", '_' as '-' and back.
// Throws UsageError naming the known ones when there is none.
KnownModel get_known_model(std::string_view name);

// The patterns as isolating splits, then bytes.
PreTokenizer make_pre_tokenizer(const KnownModel& model);
Normalizer make_normalizer(const KnownModel& model);

}  // namespace netcl::text

#endif  // NETCL_TEXT_KNOWN_MODELS_H_
