// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_encoder.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace netcl::text {

namespace {

constexpr uint32_t kNoRank = PairMap::kNone;
constexpr uint32_t kNoNode = UINT32_MAX;

// Longest piece that is merged by scanning. Above some 100 bytes the heap wins on random bytes;
// text rarely has pieces that long.
constexpr size_t kLongestScan = 96;

// Pairs of tokens whose joined bytes are a token, for every token: each of its splits with both
// parts in the vocabulary. Lengths that no token has are passed over without a look-up.
PairMap pairs_of(const Vocabulary& vocabulary) {
  std::vector<bool> has_length(vocabulary.longest() + 1);
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    has_length[vocabulary.bytes(id).size()] = true;
  }
  PairMap pairs(2 * vocabulary.size());
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    const std::string_view bytes = vocabulary.bytes(id);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      if (!has_length[cut] || !has_length[bytes.size() - cut]) {
        continue;
      }
      const uint32_t left = vocabulary.find_id(bytes.substr(0, cut));
      const uint32_t right =
          left == Vocabulary::kNone ? left : vocabulary.find_id(bytes.substr(cut));
      if (right != Vocabulary::kNone) {
        pairs.at(left, right) = id;
      }
    }
  }
  return pairs;
}

}  // namespace

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary, MergeRule rule,
                       const std::vector<Merge>& merges, bool ignore_merges)
    : vocabulary_(&vocabulary),
      whole_piece_first_(ignore_merges || rule == MergeRule::kByteRanks),
      ranks_(rule == MergeRule::kMergeList ? merges.size() : 0) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char as_char = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary.find_id({&as_char, 1});
  }
  if (rule == MergeRule::kByteRanks) {
    ranks_ = pairs_of(vocabulary);
    return;
  }
  NETCL_CHECK(merges.size() < kNoRank);
  results_.reserve(merges.size() + 1);
  for (const Merge& merge : merges) {
    ranks_.at(merge.left, merge.right) = static_cast<uint32_t>(results_.size());
    results_.push_back(merge.result);
  }
  results_.push_back(0);  // never empty, so that result() tells the rules apart
}

void BpeEncoder::encode(std::string_view piece, EncodeScratch& scratch,
                        std::vector<uint32_t>& ids) const {
  if (whole_piece_first_) {
    const uint32_t id = vocabulary_->find_id(piece);
    if (id != Vocabulary::kNone) {
      ids.push_back(id);
      return;
    }
  }
  if (piece.size() > kLongestScan) {
    merge_by_heap(piece, scratch, ids);
    return;
  }
  scratch.ids.clear();
  for (const char byte : piece) {
    scratch.ids.push_back(byte_ids_[static_cast<uint8_t>(byte)]);
  }
  merge_by_scan(scratch);
  ids.insert(ids.end(), scratch.ids.begin(), scratch.ids.end());
}

// ranks[i] is the rank of the pair (ids[i], ids[i + 1]).
void BpeEncoder::merge_by_scan(EncodeScratch& scratch) const {
  std::vector<uint32_t>& ids = scratch.ids;
  std::vector<uint32_t>& ranks = scratch.ranks;
  ranks.clear();
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    ranks.push_back(rank(ids[i], ids[i + 1]));
  }
  while (!ranks.empty()) {
    const auto lowest = std::min_element(ranks.begin(), ranks.end());  // the first of equals
    if (*lowest == kNoRank) {
      return;
    }
    const size_t at = static_cast<size_t>(lowest - ranks.begin());
    ids[at] = result(*lowest);
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(at));
    if (at > 0) {
      ranks[at - 1] = rank(ids[at - 1], ids[at]);
    }
    if (at < ranks.size()) {
      ranks[at] = rank(ids[at], ids[at + 1]);
    }
  }
}

// The heap holds (rank, node) of pairs that were neighbours when they were pushed; an entry counts
// only if the pair that now starts at the node has that rank. Merging pushes at most two entries
// and removes a node, so there are fewer than 3 n entries in all.
void BpeEncoder::merge_by_heap(std::string_view piece, EncodeScratch& scratch,
                               std::vector<uint32_t>& ids) const {
  using Node = EncodeScratch::Node;
  std::vector<Node>& nodes = scratch.nodes;
  std::vector<uint64_t>& heap = scratch.heap;
  const uint32_t size = static_cast<uint32_t>(piece.size());
  nodes.clear();
  heap.clear();
  for (uint32_t i = 0; i < size; ++i) {
    nodes.push_back({byte_ids_[static_cast<uint8_t>(piece[i])], i == 0 ? kNoNode : i - 1,
                     i + 1 == size ? kNoNode : i + 1});
  }
  const auto rank_at = [&](uint32_t node) {
    return nodes[node].next == kNoNode ? kNoRank : rank(nodes[node].id, nodes[nodes[node].next].id);
  };
  for (uint32_t i = 0; i < size; ++i) {
    if (const uint32_t found = rank_at(i); found != kNoRank) {
      heap.push_back((uint64_t{found} << 32) | i);
    }
  }
  const auto later = std::greater<>();
  std::make_heap(heap.begin(), heap.end(), later);
  const auto push = [&](uint32_t node) {
    if (const uint32_t found = rank_at(node); found != kNoRank) {
      heap.push_back((uint64_t{found} << 32) | node);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const uint32_t entry_rank = static_cast<uint32_t>(heap.back() >> 32);
    const uint32_t at = static_cast<uint32_t>(heap.back());
    heap.pop_back();
    // A swallowed node has no id of its own any more (kNone), so no rank.
    if (nodes[at].id == Vocabulary::kNone || rank_at(at) != entry_rank) {
      continue;
    }
    const uint32_t swallowed = nodes[at].next;
    nodes[at].id = result(entry_rank);
    nodes[at].next = nodes[swallowed].next;
    nodes[swallowed].id = Vocabulary::kNone;
    if (nodes[at].next != kNoNode) {
      nodes[nodes[at].next].previous = at;
    }
    push(at);
    if (nodes[at].previous != kNoNode) {
      push(nodes[at].previous);
    }
  }
  for (uint32_t at = 0; at != kNoNode; at = nodes[at].next) {
    ids.push_back(nodes[at].id);
  }
}

}  // namespace netcl::text
