// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding and training written straight from their definitions, as slow as those read:
// the judges of bpe_encoder.h and bpe_trainer.h. Nothing is shared with what they judge.
#ifndef NETCL_TEXT_BPE_REFERENCE_H_
#define NETCL_TEXT_BPE_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace netcl::text {

// Tokens by their bytes.
using ReferenceVocabulary = std::map<std::string, uint32_t>;

// A merge list: (left bytes, right bytes) in rank order. The result of a merge is the token whose
// bytes are both joined. Of two entries with the same pair the later one counts.
using ReferenceMerges = std::vector<std::pair<std::string, std::string>>;

// Ids of one piece under a merge list. Start: one token per byte. Step: of all neighbouring pairs
// that are in the list, merge the one with the lowest rank, the leftmost of equals. End: no pair is
// in the list. With ignore_merges a piece that is a token as a whole is that token. Every byte and
// every result must be in the vocabulary (std::out_of_range). O(n^2) look-ups.
std::vector<uint32_t> reference_encode_merges(const ReferenceVocabulary& vocabulary,
                                              const ReferenceMerges& merges,
                                              const std::string& piece, bool ignore_merges = false);

// Ids of one piece under byte ranks. A piece that is a token as a whole is that token. Otherwise
// start with one token per byte; step: of all neighbouring pairs whose joined bytes are a token,
// merge the one whose token has the lowest id, the leftmost of equals.
std::vector<uint32_t> reference_encode_ranks(const ReferenceVocabulary& vocabulary,
                                             const std::string& piece);

struct ReferenceTrainOptions {
  std::vector<std::string> byte_tokens;  // the 256 bytes in id order
  uint32_t first_id = 0;                 // id of byte_tokens[0]
  uint64_t max_new_tokens = 0;           // tokens to add to the 256
  uint64_t min_frequency = 1;
  uint64_t max_token_length = 0;  // 0 = no limit
};

// Merges learned from pre-tokens and their counts, all pairs counted anew before every merge. New
// tokens are numbered on from the bytes; a merge whose bytes are a token already reuses its id.
ReferenceMerges reference_train(const std::map<std::string, uint64_t>& words,
                                const ReferenceTrainOptions& options);

}  // namespace netcl::text

#endif  // NETCL_TEXT_BPE_REFERENCE_H_
