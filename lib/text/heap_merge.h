// SPDX-License-Identifier: Apache-2.0
// BPE merging of a long list of symbols: a heap of pairs over a linked list, O(n log n). Shared by
// the encoders of bytes and of characters.
#ifndef NETCL_TEXT_HEAP_MERGE_H_
#define NETCL_TEXT_HEAP_MERGE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace netcl::text {

inline constexpr uint32_t kNoSymbol = UINT32_MAX;  // no neighbour; the id of a swallowed symbol

// Merges the neighbours of lowest rank, the leftmost of equals, until no pair has a rank. A Node
// has `id`, `previous` and `next` (places in `nodes`, kNoSymbol at the ends). rank_of(left id,
// right id) is the rank of a pair, UINT32_MAX without one; join(node, swallowed, rank) gives `node`
// the id of the two. The heap holds (rank, node) of pairs that were neighbours when they were
// pushed; an entry counts only if the pair that now starts at the node has that rank. Merging
// pushes at most two entries and removes a node, so there are fewer than 3 n entries in all. `heap`
// is working memory.
template <class Node, class RankOf, class Join>
void merge_by_heap(std::vector<Node>& nodes, std::vector<uint64_t>& heap, const RankOf& rank_of,
                   const Join& join) {
  const auto later = std::greater<>();
  const auto rank_at = [&](uint32_t node) {
    return nodes[node].next == kNoSymbol ? UINT32_MAX
                                         : rank_of(nodes[node].id, nodes[nodes[node].next].id);
  };
  heap.clear();
  heap.reserve(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (const uint32_t rank = rank_at(i); rank != UINT32_MAX) {
      heap.push_back((uint64_t{rank} << 32) | i);
    }
  }
  std::make_heap(heap.begin(), heap.end(), later);
  const auto push = [&](uint32_t node) {
    if (const uint32_t rank = rank_at(node); rank != UINT32_MAX) {
      heap.push_back((uint64_t{rank} << 32) | node);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const uint32_t rank = static_cast<uint32_t>(heap.back() >> 32);
    const uint32_t at = static_cast<uint32_t>(heap.back());
    heap.pop_back();
    if (nodes[at].id == kNoSymbol || rank_at(at) != rank) {
      continue;
    }
    const uint32_t swallowed = nodes[at].next;
    join(nodes[at], nodes[swallowed], rank);
    nodes[at].next = nodes[swallowed].next;
    nodes[swallowed].id = kNoSymbol;
    if (nodes[at].next != kNoSymbol) {
      nodes[nodes[at].next].previous = at;
    }
    push(at);
    if (nodes[at].previous != kNoSymbol) {
      push(nodes[at].previous);
    }
  }
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_HEAP_MERGE_H_
