// SPDX-License-Identifier: Apache-2.0
#include "text/backtrack_encoder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/cpu.h"

namespace netcl::text {

namespace {

constexpr uint32_t kNone = TokenSplit::kNone;

std::vector<bool> reachable_tokens(const TokenSplits& splits) {
  std::vector<bool> reachable(splits.size());
  for (size_t id = 0; id < splits.size(); ++id) {
    reachable[id] = splits[id].reachable;
  }
  return reachable;
}

// Goes back in time: the part that was made last is taken apart first. While x ends the left token
// and y begins the right one, they would have been joined if their pair came before the merge that
// has just been undone; of two equal pairs the left one is merged first.
template <typename RankOf>
bool never_joined(const RankOf& rank_of, const TokenSplits& splits, uint32_t left, uint32_t right) {
  uint64_t limit = UINT64_MAX;  // a pair of a lower rank than this joins the two
  uint32_t x = left, y = right;
  for (;;) {
    const uint32_t rank = rank_of(x, y);
    if (rank != PairTable::kNone && rank < limit) {
      return false;
    }
    const TokenSplit& of_x = splits[x];
    const TokenSplit& of_y = splits[y];
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

}  // namespace

PairFilter::PairFilter(const PairTable& pairs)
    : shift_(64 -
             std::max(static_cast<int>(std::bit_width(kBitsAPair * pairs.size())), kLeastBits)),
      words_((size_t{1} << (64 - shift_)) / 64) {
  pairs.for_each([&](uint64_t key, uint32_t) {
    words_[key >> shift_ >> 6] |= uint64_t{1} << (key >> shift_ & 63);
  });
}

BacktrackEncoder::BacktrackEncoder(const Vocabulary& vocabulary, const PairTable& ranks,
                                   TokenSplits splits)
    : ranks_(ranks),
      pairs_(ranks),
      splits_(std::move(splits)),
      trie_(vocabulary, reachable_tokens(splits_)),
      has_popcnt_(base::cpu_level() >= base::CpuLevel::kAvx2) {}

bool stay_apart(const PairTable& ranks, const TokenSplits& splits, uint32_t left, uint32_t right) {
  return never_joined([&](uint32_t x, uint32_t y) { return ranks.find(x, y); }, splits, left,
                      right);
}

bool BacktrackEncoder::stay_apart(uint32_t left, uint32_t right, Scratch& scratch) const {
  const uint64_t pair = uint64_t{left} << 34 | uint64_t{right} << 4;
  uint64_t& known = scratch.known[(pair * 0x9E3779B97F4A7C15U) >> (64 - Scratch::kKnownBits)];
  if ((known & ~uint64_t{3}) != pair || known == pair) {
    const auto rank_of = [&](uint32_t x, uint32_t y) {
      return pairs_.may_hold(x, y) ? ranks_.find(x, y) : PairTable::kNone;
    };
    known = pair | (never_joined(rank_of, splits_, left, right) ? 1 : 2);
  }
  return (known & 1) != 0;
}

// Leaves the tokens of the piece in the scratch.
__attribute__((always_inline)) inline void BacktrackEncoder::lay_tokens(std::string_view piece,
                                                                        Scratch& scratch) const {
  using Match = TokenTrie::Match;
  std::vector<Match>& tokens = scratch.tokens;
  std::vector<uint64_t>& dead = scratch.dead_ends;
  tokens.clear();
  scratch.known.resize(size_t{1} << Scratch::kKnownBits);
  dead.assign(piece.size() / 64 + 1, 0);
  size_t at = 0;  // where the tokens laid so far end
  Match next = trie_.longest(piece);
  for (;;) {
    const size_t end = at + next.size;
    const bool leads_on = (dead[end / 64] >> (end % 64) & 1) == 0;
    if (leads_on && (tokens.empty() || stay_apart(tokens.back().token, next.token, scratch))) {
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
}

// Counting bits is one instruction where there is one, and the baseline of x86-64 has none.
#if defined(__x86_64__)
__attribute__((target("popcnt")))
#endif
void BacktrackEncoder::lay_tokens_popcnt(std::string_view piece, Scratch& scratch) const {
  lay_tokens(piece, scratch);
}

void BacktrackEncoder::lay_tokens_plain(std::string_view piece, Scratch& scratch) const {
  lay_tokens(piece, scratch);
}

void BacktrackEncoder::encode(std::string_view piece, Scratch& scratch,
                              std::vector<uint32_t>& ids) const {
  if (has_popcnt_) {
    lay_tokens_popcnt(piece, scratch);
  } else {
    lay_tokens_plain(piece, scratch);
  }
  for (const TokenTrie::Match& match : scratch.tokens) {
    ids.push_back(match.token);
  }
}

}  // namespace netcl::text
