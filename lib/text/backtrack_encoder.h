// SPDX-License-Identifier: Apache-2.0
// BPE of a long piece without merging it: tokens are laid one after the other, the longest first,
// and taken back where they do not fit.
//
// Whether two tokens may stand side by side depends on them alone: BPE leaves them apart exactly if
// merging the joined bytes never joins across the border between them. And the BPE of a prefix that
// ends at a token border is what BPE makes of that prefix alone, so tokens that fit pairwise from
// the first byte to the last are the result; there is only one such sequence. (The idea is that of
// the crate `bpe` of rust-gems; see "A formal perspective on byte-pair encoding" for the proof that
// it is unique.) Places that were found to lead nowhere are remembered, so no place is tried twice:
// O(n) steps, each as long as the longest token at most.
//
// Only tokens that merging can make take part. Such a token is what its own bytes come to, since
// merging inside it goes the same way wherever it stands; the merge that makes it last is its
// split.
#ifndef NETCL_TEXT_BACKTRACK_ENCODER_H_
#define NETCL_TEXT_BACKTRACK_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/big_buffer.h"
#include "text/pair_table.h"
#include "text/token_trie.h"
#include "text/vocabulary.h"

namespace netcl::text {

// The merge that makes a token out of its own bytes.
struct TokenSplit {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t left = kNone;  // kNone: a single byte, or a token that merging never makes
  uint32_t right = kNone;
  uint32_t rank = 0;
  bool reachable = false;  // a byte, or made by merging
};

using TokenSplits = base::BigVector<TokenSplit>;  // by id

// Whether BPE leaves the tokens `left` and `right` side by side, both of which merging makes.
// `splits` by id; a few look-ups.
bool stay_apart(const PairTable& ranks, const TokenSplits& splits, uint32_t left, uint32_t right);

// Whether a table may hold a pair: one bit for several, so small that it stays in the processor's
// cache, which a table of many pairs does not. Most pairs that are asked for are not there.
class PairFilter {
 public:
  explicit PairFilter(const PairTable& pairs);
  bool may_hold(uint32_t left, uint32_t right) const {
    const uint64_t bit = PairTable::pair_key(left, right) >> shift_;
    return (words_[bit >> 6] >> (bit & 63) & 1) != 0;
  }

 private:
  static constexpr size_t kBitsAPair = 8;
  static constexpr int kLeastBits = 12;

  int shift_;  // of a pair_key(): its high bits are the place
  std::vector<uint64_t> words_;
};

// Immutable; encode() is safe from several threads. Refers to the ranks, which must outlive
// it.
class BacktrackEncoder {
 public:
  // splits[id] of every id below the vocabulary's limit. Builds a trie of the tokens: some 100 ns a
  // token.
  BacktrackEncoder(const Vocabulary& vocabulary, const PairTable& ranks, TokenSplits splits);

  // Working memory, reused from piece to piece.
  struct Scratch {
    static constexpr int kKnownBits = 13;

    std::vector<TokenTrie::Match> tokens;
    std::vector<uint64_t> dead_ends;  // bit i: no sequence goes on from byte i
    // Pairs of tokens that were compared: left, right and, in the low two bits, 1 where they stay
    // apart and 2 where not. Pairs come back, and an entry spares a chain of look-ups.
    std::vector<uint64_t> known;
  };

  // Appends the ids of `piece`, every byte of which is a token.
  void encode(std::string_view piece, Scratch& scratch, std::vector<uint32_t>& ids) const;

 private:
  bool stay_apart(uint32_t left, uint32_t right, Scratch& scratch) const;
  void lay_tokens(std::string_view piece, Scratch& scratch) const;
  void lay_tokens_popcnt(std::string_view piece, Scratch& scratch) const;
  void lay_tokens_plain(std::string_view piece, Scratch& scratch) const;

  const PairTable& ranks_;
  PairFilter pairs_;
  TokenSplits splits_;
  TokenTrie trie_;
  bool has_popcnt_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BACKTRACK_ENCODER_H_
