// SPDX-License-Identifier: Apache-2.0
// The merge phase of training: from counted pre-tokens to a merge list. bpe_trainer.h states the
// rules; this is how they are kept cheap.
//
// All distinct pre-tokens with two bytes or more lie in one array of slots, one byte per slot, with
// a separator after each. A token covers as many slots as it has bytes and its id stands in its
// first and its last slot, so both neighbours are found by their lengths and no links are stored.
// Every pair has its count and the positions where it was created; a position is stale when the two
// ids are no longer there and is skipped then. Counts fall without telling the heap, so an entry is
// put back with the true count when it comes up too high. After "Neural Machine Translation of Rare
// Words with Subword Units" (Sennrich, Haddow, Birch 2016), section 3.2, and the usual index.
//
// No byte string is made by two different merges: as long as no token crosses the ends of an
// occurrence of the string, merging goes on inside it just as in the string alone, so at any time
// all such occurrences are cut alike. Should it happen all the same, the id is reused, as in
// Hugging Face's trainer: the merge list grows and the vocabulary does not.
#ifndef NETCL_TEXT_MERGE_LEARNER_H_
#define NETCL_TEXT_MERGE_LEARNER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "text/bpe_encoder.h"
#include "text/bpe_trainer.h"
#include "text/word_counts.h"

namespace netcl::text {

struct LearnRequest {
  std::array<uint8_t, 256> bytes_in_order{};  // byte of id first_byte_id + place
  uint32_t first_byte_id = 0;
  uint64_t token_limit = 256;  // bytes and learned tokens
  uint64_t min_frequency = 1;  // at least 1
  uint64_t max_token_length = 0;
};

struct LearnedMerges {
  std::vector<std::string> tokens;  // id first_byte_id + index; the 256 bytes first
  Merges merges;
  uint64_t first_count = 0;
  uint64_t last_count = 0;
  uint64_t token_count = 0;  // of all occurrences of all words, after the last merge
  StopReason stopped = StopReason::kNoPairs;
};

// Throws UsageError when the distinct pre-tokens have more than 2^32 - 2 bytes.
LearnedMerges learn_merges(const WordCounts& words, const LearnRequest& request,
                           const base::ProgressFn& progress);

}  // namespace netcl::text

#endif  // NETCL_TEXT_MERGE_LEARNER_H_
