// SPDX-License-Identifier: Apache-2.0
// What a tokenizer is made of, as file readers and the trainer hand it over and file writers read
// it. Everyone else uses tokenizer.h.
#ifndef NETCL_TEXT_TOKENIZER_PARTS_H_
#define NETCL_TEXT_TOKENIZER_PARTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe_encoder.h"
#include "text/char_bpe_encoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/sequence_shape.h"
#include "text/vocabulary.h"

namespace netcl::text {

struct TokenizerParts {
  // Source in messages: a path, or "trainer".
  std::string where = "tokenizer";
  // Ordinary tokens, found by their bytes. Every single byte must be there, except
  // those that are never part of UTF-8 (C0, C1, F5..FF); encoding refuses the ones that are not.
  Vocabulary vocabulary;
  // Tokens that no text becomes, only decoded: (id, bytes), ids not in the vocabulary.
  std::vector<std::pair<uint32_t, std::string>> decode_only;
  MergeRule rule = MergeRule::kMergeList;
  // Set for a tokenizer whose symbols are characters, not bytes: tokens are then the text that they
  // stand for in the normalized input, and the pre-tokenizer has no ByteLevel step.
  std::optional<CharModel> characters;
  // In rank order, for MergeRule::kMergeList. Two entries with the same pair: the later one counts.
  Merges merges;
  // Whoever made the list has found what each merge makes by the joined bytes of its parts, so
  // BpeTokenizer need not look again. It takes the promise back: the parts may be changed later.
  bool merges_join = false;
  // A piece that is a token as a whole becomes that token without merging. Byte ranks imply it.
  bool ignore_merges = false;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> added_tokens;
  // Ids that the post-processor puts around one text.
  std::vector<uint32_t> template_prefix;
  std::vector<uint32_t> template_suffix;
  // How sequences are cut and filled up where that is asked for (sequence_shape.h).
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKENIZER_PARTS_H_
