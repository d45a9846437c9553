// SPDX-License-Identifier: Apache-2.0
// The merge phase of training: from counted pre-tokens to a merge list. bpe_trainer.h states the
// rules; this is how they are kept cheap.
//
// All distinct pre-tokens with two bytes or more lie in one array of symbols (symbol_text.h), words
// of equal counts together, so a position's weight needs no memory of its own. Every pair that
// occurs at least a threshold of times has its count and the positions where it was created, as
// differences (pair_merger.h, position_lists.h). The threshold is guessed from the text and the
// number of merges wanted, well below the count of the last merge; when no pair reaches it any
// more, it is lowered and all pairs are counted anew. Counts fall without telling the heap, so an
// entry is put back with the true count when it comes up too high. Text that is not split has few
// pairs that occur everywhere: there the first merges scan the array instead, which spares their
// lists. After "Neural Machine Translation of Rare Words with Subword Units" (Sennrich, Haddow,
// Birch 2016), section 3.2, and the usual index.
//
// No byte string is made by two different merges as long as the first 256 tokens are the bytes: as
// long as no token crosses the ends of an occurrence of the string, merging goes on inside it just
// as in the string alone, so at any time all such occurrences are cut alike. With another alphabet
// it happens, and then the id is reused, as in Hugging Face's trainer: the merge list grows and the
// vocabulary does not.
#ifndef NETCL_TEXT_MERGE_LEARNER_H_
#define NETCL_TEXT_MERGE_LEARNER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "text/bpe_encoder.h"
#include "text/bpe_trainer.h"
#include "text/pair_merger.h"
#include "text/word_layout.h"

namespace netcl::text {

// How learning goes about it: changes time and memory, never the result. For tests.
struct LearnTuning {
  uint64_t first_threshold = 0;  // 0 = guessed
  // Whether the first merges scan; by default when words are long. They do until the best pair has
  // less than this part of the weight of all first pairs.
  enum class Scan { kWhenLong, kNever, kFirst } scan = Scan::kWhenLong;
  uint64_t scan_part = 400;   // 1/400
  bool wide_symbols = false;  // 32 bits even where 16 do
  PairStoreLimits limits;     // without max_token_length
};

struct LearnRequest {
  std::array<uint8_t, 256> bytes_in_order{};  // byte of id first_byte_id + place
  // What the tokens of those ids stand for, all different, where it is not the byte: makes an
  // alphabet of other things than bytes. Empty, or 256.
  std::vector<std::string> alphabet;
  uint32_t first_byte_id = 0;
  uint64_t token_limit = 256;  // bytes and learned tokens
  uint64_t min_frequency = 1;  // at least 1
  uint64_t max_token_length = 0;
  // Called for every merge as soon as it is chosen, with the count of its pair; may be empty.
  std::function<void(const Merge&, uint64_t)> merged;
  uint64_t memory_limit = 0;  // bytes, with those that the process takes besides; 0 = none
  LearnTuning tuning;
};

struct LearnedMerges {
  std::vector<std::string> tokens;  // id first_byte_id + index; the 256 first
  Merges merges;
  uint64_t first_count = 0;
  uint64_t last_count = 0;
  uint64_t token_count = 0;  // of all occurrences of all words, after the last merge
  StopReason stopped = StopReason::kNoPairs;
};

// Walks over the words twice, then calls `laid_out`, after which they are not needed any more.
// Throws UsageError when the distinct words have more than 2^32 - 2 bytes, or would need more
// memory than the limit, with a number that would do. Memory: 2 bytes for each byte of the distinct
// words (4 with more than 65,534 tokens), 2 to 4 bytes for each place of a frequent pair, and some
// 100 bytes for each frequent pair.
LearnedMerges learn_merges(const WordWalk& words, const LearnRequest& request,
                           const base::ProgressFn& progress,
                           const std::function<void()>& laid_out = {});

// A memory limit with which learn_merges() would not refuse these words, for all that is known of
// them before: more words only need more. Walks over them once.
uint64_t enough_memory_to_learn(const WordWalk& words, uint64_t token_limit);

}  // namespace netcl::text

#endif  // NETCL_TEXT_MERGE_LEARNER_H_
