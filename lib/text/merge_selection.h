// SPDX-License-Identifier: Apache-2.0
// Of a merge list in which several merges make one token, as lists made from ranks have them, the
// merges that are ever done: one a token at most. Private to BpeEncoder.
//
// Merging goes the same way inside the bytes of a token wherever these stand, as long as nothing is
// joined across their ends; so the merge that makes a token is always the one that its own bytes
// come to, and the others never see their own two parts side by side: it is the merge of two parts
// that are made themselves and that merging leaves apart (stay_apart()). Looked for in the order in
// which merging makes tokens. That is the order of the list but for late tokens, whose merges come
// before those of one of their parts: they are made as soon as that part is. What has a late token
// inside breaks the rules that stay_apart() rests on; there the bytes are merged instead.
#ifndef NETCL_TEXT_MERGE_SELECTION_H_
#define NETCL_TEXT_MERGE_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/backtrack_encoder.h"
#include "text/bpe_encoder.h"
#include "text/pair_table.h"
#include "text/vocabulary.h"

namespace netcl::text {

// Runs of a list whose merges make one token, merges of the same token in a row being one run.
size_t count_runs(std::span<const Merge> merges);

class MergeSelection {
 public:
  // Fills `ranks`, which are empty, and `splits`, which hold the single bytes only. The rank of a
  // merge is its place in the list or, with `rank_is_result`, the token that it makes, for a list
  // in the order of these. merge_bytes(bytes) are the ids that the ranks so far make of the bytes.
  // All of that must outlive this.
  using MergeBytes = std::function<std::vector<uint32_t>(std::string_view)>;
  MergeSelection(const Vocabulary& vocabulary, std::span<const Merge> merges, bool rank_is_result,
                 const MergeBytes& merge_bytes, PairTable& ranks, TokenSplits& splits);

  // False, with nothing done, where a token is made in several places of the list: of two equal
  // merges the later one counts, and a token may then be made by either rank.
  bool run();

 private:
  bool find_tokens_to_make();
  void choose(uint32_t first, uint32_t end);
  uint32_t rank_of(uint32_t place) const;
  bool is_done(const Merge& merge) const;
  void add(uint32_t place, bool is_late);
  bool wait(uint32_t place);
  void add_waiting(uint32_t token);

  const Vocabulary& vocabulary_;
  std::span<const Merge> merges_;
  bool rank_is_result_;
  const MergeBytes& merge_bytes_;
  PairTable& ranks_;
  TokenSplits& splits_;
  std::vector<bool> to_make_;         // tokens that may still be made
  std::vector<bool> has_late_;        // tokens that are late or have one inside
  std::vector<uint32_t> candidates_;  // places
  // By a part that is not made yet: places of merges that wait for it.
  std::unordered_map<uint32_t, std::vector<uint32_t>> waiting_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_MERGE_SELECTION_H_
