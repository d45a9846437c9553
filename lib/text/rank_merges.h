// SPDX-License-Identifier: Apache-2.0
// Byte ranks as a merge list and back: when the two rules of bpe_encoder.h mean the same.
//
// Take a token t and an occurrence of its bytes in a text. As long as no token crosses the ends of
// the occurrence, merging goes on inside it just as in the bytes of t alone (merge_learner.h). So
// the byte-rank rule makes t, wherever it does, of the two tokens that are the last step but one of
// merging the bytes of t alone: every token has at most one pair that ever makes it. The list of
// these pairs, in the order of the tokens' ids, therefore merges exactly as the ranks do, and so
// does any longer list that has them in that order. A token that merging its bytes does not give is
// only ever a whole piece; the list needs ignore_merges then.
#ifndef NETCL_TEXT_RANK_MERGES_H_
#define NETCL_TEXT_RANK_MERGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/bpe_encoder.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary.h"

namespace netcl::text {

struct RankMerges {
  Merges merges;                       // by ascending result
  std::vector<uint32_t> whole_pieces;  // tokens that merging their bytes does not give
};

// The pairs that the byte-rank rule over this vocabulary merges. O(n log n) look-ups in the bytes
// of all tokens.
RankMerges merges_of_ranks(const Vocabulary& vocabulary);

// Ordinary tokens of two bytes or more that merging their own bytes does not give: only
// ignore_merges or the whole-piece rule of byte ranks makes them.
std::vector<uint32_t> unmergeable_tokens(const TokenizerParts& parts, const Vocabulary& vocabulary);

// The ordinary tokens of `parts` that are not added tokens (a tokenizer.json may list those in its
// vocabulary too). Nothing when such a token is merged or made by a merge, with the token in
// `reason`: then it cannot be left out.
std::optional<Vocabulary> vocabulary_without_added(const TokenizerParts& parts,
                                                   std::string& reason);

// Why the byte-rank rule over `vocabulary` would give other ids than the merge list of `parts`, as
// "token 258 'abc' ..."; nothing when the ids are the same for every text.
std::optional<std::string> difference_to_ranks(const TokenizerParts& parts,
                                               const Vocabulary& vocabulary);

// Why merging alone, without ignore_merges, would give other ids than `parts`; nothing when the ids
// are the same.
std::optional<std::string> difference_to_plain_merges(const TokenizerParts& parts);

}  // namespace netcl::text

#endif  // NETCL_TEXT_RANK_MERGES_H_
