// SPDX-License-Identifier: Apache-2.0
// The tokens of a vocabulary as a trie of their bytes, for finding the longest one that begins a
// text. A node is 16 bytes: which of 64 neighbouring byte values lead on (the children lie beside
// each other, so counting bits finds one) and the token that ends there. The few nodes whose
// children lie in more than one such quarter of the byte values have a node for each quarter.
#ifndef NETCL_TEXT_TOKEN_TRIE_H_
#define NETCL_TEXT_TOKEN_TRIE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace netcl::text {

// Immutable; safe to read from several threads.
class TokenTrie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Of the tokens for which `takes_part` is true, by id. Some 100 ns a token. Ids are below 2^24
  // - 1.
  TokenTrie(const Vocabulary& vocabulary, const std::vector<bool>& takes_part);

  struct Match {
    uint32_t token = kNone;
    uint32_t size = 0;  // bytes
  };
  // The longest token that begins `text`, which is not empty; its first byte is a token.
  __attribute__((always_inline)) Match longest(std::string_view text) const {
    Match match{byte_tokens_[byte_at(text, 0)], 1};
    if (text.size() < 2) {
      return match;
    }
    uint32_t index = pair_nodes_[byte_at(text, 0) | byte_at(text, 1) << 8];
    for (uint32_t depth = 2; index != kNone; ++depth) {
      const Node& node = nodes_[index];
      if (node.token() != kNoToken) {
        match = {node.token(), depth};
      }
      if (depth == text.size()) {
        break;
      }
      index = child(node, byte_at(text, depth));
    }
    return match;
  }

  // The longest other token that begins the token `id`, or none.
  Match longest_prefix(uint32_t id) const { return prefixes_[id]; }

 private:
  static constexpr uint32_t kNoToken = (uint32_t{1} << 24) - 1;
  static constexpr uint32_t kWide = 4;  // in place of a quarter: a node for each of them

  struct Node {
    uint64_t children = 0;  // by byte & 63
    uint32_t first_child = 0;
    uint32_t token_and_quarter = kNoToken;
    uint32_t token() const { return token_and_quarter & kNoToken; }
    uint32_t quarter() const { return token_and_quarter >> 24; }
  };

  static uint32_t byte_at(std::string_view text, size_t at) {
    return static_cast<uint8_t>(text[at]);
  }

  __attribute__((always_inline)) uint32_t child(const Node& from, uint32_t byte) const {
    const Node* node = &from;
    if (node->quarter() == kWide) [[unlikely]] {
      node = &nodes_[node->first_child + byte / 64];
    }
    const uint64_t bit = uint64_t{1} << (byte % 64);
    if (node->quarter() != byte / 64 || (node->children & bit) == 0) {
      return kNone;
    }
    return node->first_child + static_cast<uint32_t>(std::popcount(node->children & (bit - 1)));
  }

  struct Sorted;
  void add_children(const std::vector<Sorted>& tokens, size_t begin, size_t end, uint32_t depth,
                    uint32_t index, Match above);

  std::vector<uint32_t> byte_tokens_;  // by byte, or kNone
  std::vector<uint32_t> pair_nodes_;   // after two bytes (the first one low), or kNone
  std::vector<Node> nodes_;
  std::vector<Match> prefixes_;  // by id
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKEN_TRIE_H_
