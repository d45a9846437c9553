// SPDX-License-Identifier: Apache-2.0
#include "text/backtrack_encoder.h"

#include <utility>

namespace netcl::text {

namespace {

constexpr uint32_t kNone = TokenSplit::kNone;

std::vector<bool> reachable_tokens(const std::vector<TokenSplit>& splits) {
  std::vector<bool> reachable(splits.size());
  for (size_t id = 0; id < splits.size(); ++id) {
    reachable[id] = splits[id].reachable;
  }
  return reachable;
}

}  // namespace

BacktrackEncoder::BacktrackEncoder(const Vocabulary& vocabulary, const PairTable& ranks,
                                   std::vector<TokenSplit> splits)
    : ranks_(ranks), splits_(std::move(splits)), trie_(vocabulary, reachable_tokens(splits_)) {}

// Goes back in time: the part that was made last is taken apart first. While x ends the left token
// and y begins the right one, they would have been joined if their pair came before the merge that
// has just been undone; of two equal pairs the left one is merged first.
bool BacktrackEncoder::stay_apart(uint32_t left, uint32_t right) const {
  uint64_t limit = UINT64_MAX;  // a pair of a lower rank than this joins the two
  uint32_t x = left, y = right;
  for (;;) {
    const uint32_t rank = ranks_.find(x, y);
    if (rank != PairTable::kNone && rank < limit) {
      return false;
    }
    const TokenSplit& of_x = splits_[x];
    const TokenSplit& of_y = splits_[y];
    const uint64_t made_x = of_x.left == kNone ? 0 : uint64_t{of_x.rank} + 1;
    const uint64_t made_y = of_y.left == kNone ? 0 : uint64_t{of_y.rank} + 1;
    if (made_x == 0 && made_y == 0) {
      return true;
    }
    if (made_y >= made_x) {
      limit = made_y;  // the pair is to the left of the one undone, so an equal rank joins as well
      y = of_y.left;
    } else {
      limit = made_x - 1;
      x = of_x.right;
    }
  }
}

void BacktrackEncoder::encode(std::string_view piece, Scratch& scratch,
                              std::vector<uint32_t>& ids) const {
  using Match = TokenTrie::Match;
  std::vector<Match>& tokens = scratch.tokens;
  std::vector<uint64_t>& dead = scratch.dead_ends;
  tokens.clear();
  dead.assign(piece.size() / 64 + 1, 0);
  size_t at = 0;  // where the tokens laid so far end
  Match next = trie_.longest(piece);
  for (;;) {
    const size_t end = at + next.size;
    const bool leads_on = (dead[end / 64] >> (end % 64) & 1) == 0;
    if (leads_on && (tokens.empty() || stay_apart(tokens.back().token, next.token))) {
      tokens.push_back(next);
      at = end;
      if (at == piece.size()) {
        break;
      }
      next = trie_.longest(piece.substr(at));
      continue;
    }
    next = trie_.longest_prefix(next.token);
    while (next.token == kNone) {  // nothing goes on from here: take the last token back
      dead[at / 64] |= uint64_t{1} << (at % 64);
      const Match last = tokens.back();
      tokens.pop_back();
      at -= last.size;
      next = trie_.longest_prefix(last.token);
    }
  }
  for (const Match& match : tokens) {
    ids.push_back(match.token);
  }
}

}  // namespace netcl::text
