// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding of one pre-token. Both rules are one loop: merge the neighbouring pair of
// lowest rank, the leftmost of equals, until no pair has a rank. They differ in what has a rank:
//   kMergeList: the pairs of a merge list, by their place in it (Hugging Face);
//   kByteRanks: every pair whose joined bytes are a token, by the id of that token, and a piece
//     that is a token as a whole is that token at once (.tiktoken).
// Short pieces are merged with the ranks of all their pairs in registers or, without such
// registers, by scanning them all for the lowest (quadratic, but all in one or two cache lines).
// Longer ones are not merged at all (backtrack_encoder.h): O(n) for any input. What that needs is
// made when the first very long piece comes, or when so many long ones came that it pays; until
// then, and where a piece holds a token that a merge list makes by a lower rank than one of its
// parts, they are merged with a heap over a linked list: O(n log n).
//
// Under kByteRanks one pair a token is enough when every token is what its own bytes encode to, as
// in every published rank file: merging inside the bytes of a token goes the same way wherever they
// stand, so the token is only ever made from the two parts that its own bytes end in. The table is
// then less than half as large, and a piece that is a token needs no look-up as a whole. Otherwise
// all pairs whose joined bytes are a token are kept.
//
// The same holds for a merge list: where several merges of it make one token, as in lists that were
// made from ranks, only the one that its own bytes end in is ever done, and the others are left
// out (merge_selection.h). A list in the order of the ids that it makes then needs no ranks beside
// these ids.
#ifndef NETCL_TEXT_BPE_ENCODER_H_
#define NETCL_TEXT_BPE_ENCODER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/backtrack_encoder.h"
#include "text/pair_table.h"
#include "text/short_merge.h"
#include "text/substring_set.h"
#include "text/vocabulary.h"

namespace netcl::text {

enum class MergeRule { kMergeList, kByteRanks };

// left and right become result; all three are ids.
struct Merge {
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t result = 0;
  friend bool operator==(const Merge&, const Merge&) = default;
};
using Merges = base::BigVector<Merge>;

// Working memory of encode(), reused from piece to piece; one per thread.
struct EncodeScratch {
  struct Node {
    uint32_t id;
    uint32_t previous;
    uint32_t next;
  };
  std::vector<Node> nodes;
  BacktrackEncoder::Scratch backtrack;
  std::vector<uint64_t> heap;
};

// Immutable; encode() is safe from several threads, each with a scratch of its own. Refers to the
// vocabulary, which must outlive it.
class BpeEncoder {
 public:
  // The vocabulary must hold every single byte that encode() is given. `merges` is read under
  // kMergeList only; its ids must be tokens whose bytes join (std::logic_error for a breach:
  // callers check their input).
  BpeEncoder(const Vocabulary& vocabulary, MergeRule rule, std::span<const Merge> merges,
             bool ignore_merges);

  // Appends the ids of `piece`. At most 4 GiB - 2 bytes (the caller checks).
  void encode(std::string_view piece, EncodeScratch& scratch, std::vector<uint32_t>& ids) const;

  // The same for many short pieces, which is faster than one by one.
  void encode_short(std::span<ShortPiece> pieces) const;

  // Makes what encode() makes when so many long pieces came that it pays.
  void prepare_for_long_pieces() const { backtracking(); }

  // Whether every piece that is a token becomes that token; may be false where it is so all the
  // same.
  bool keeps_tokens() const { return whole_piece_first_ || keeps_tokens_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  // Longest piece that is merged by scanning. Above some 100 bytes the heap wins on random bytes;
  // text rarely has pieces that long.
  static constexpr size_t kLongestScan = 96;

  static size_t first_rank_index(const char* bytes) {
    return static_cast<uint8_t>(bytes[0]) | static_cast<size_t>(static_cast<uint8_t>(bytes[1]))
                                                << 8;
  }
  // What the constructor needs (bpe_encoder_tables.cpp).
  bool add_proper_pairs();
  void add_listed_pairs(std::span<const Merge> merges);
  void add_all_pairs();
  void add_pair(const Merge& merge, uint32_t rank, bool is_split);
  void start_splits();
  void set_first_ranks();
  bool all_reachable() const;
  uint32_t rank(uint32_t left, uint32_t right) const { return ranks_.find(left, right); }
  uint32_t result(uint32_t rank) const { return results_.empty() ? rank : results_[rank]; }
  MergeTables merge_tables() const {
    return {&ranks_, byte_ids_.data(), first_ranks_.data(),
            results_.empty() ? nullptr : results_.data()};
  }
  // What the last merge of a piece joined, for pieces that come to one token.
  struct LastMerge {
    uint32_t left = 0, right = 0, rank = 0;
  };
  // Writes the ids; returns how many.
  size_t merge_by_scan(std::string_view piece, uint32_t* ids, LastMerge* last = nullptr) const;
  void merge_short(std::span<ShortPiece> pieces) const;
  // The same by short_merge.h where it can.
  size_t merge(std::string_view piece, uint32_t* ids) const;
  void merge_by_heap(std::string_view piece, EncodeScratch& scratch, std::vector<uint32_t>& ids,
                     LastMerge* last = nullptr) const;
  TokenSplits make_splits() const;
  struct Backtracking {
    BacktrackEncoder encoder;
    SubstringSet out_of_order;  // tokens that it cannot make: pieces that hold one are merged
  };
  const Backtracking& backtracking() const;
  const BacktrackEncoder* backtrack_encoder_for(std::string_view piece) const;

  const Vocabulary* vocabulary_;
  bool whole_piece_first_;
  bool has_splits_ = false;    // splits_ are as backtracking needs them
  bool keeps_tokens_ = false;  // every token is what its bytes are merged to
  ShortMerge short_merge_;
  std::array<uint32_t, 256> byte_ids_{};
  PairTable ranks_;
  std::vector<uint32_t> first_ranks_;  // of every two bytes: the first look-ups of every piece
  // By id; without has_splits_ only what is known of them, see make_splits().
  TokenSplits splits_;
  std::vector<uint32_t> results_;  // by rank; empty where the rank is the result
  mutable std::once_flag backtracking_made_;
  mutable std::atomic<const Backtracking*> backtracking_ready_ = nullptr;
  mutable std::atomic<size_t> unaided_bytes_ = 0;  // of pieces encoded without it
  mutable std::unique_ptr<const Backtracking> backtracking_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BPE_ENCODER_H_
