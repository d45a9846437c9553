// SPDX-License-Identifier: Apache-2.0
#include "text/token_trie.h"

#include <algorithm>
#include <array>

namespace netcl::text {

// A token in the order of its bytes; those from the third to the tenth are the key.
struct TokenTrie::Sorted {
  uint64_t key = 0;
  std::string_view bytes;
  uint32_t id = 0;

  bool operator<(const Sorted& other) const {
    return key != other.key ? key < other.key : bytes < other.bytes;
  }
};

namespace {

uint64_t key_of(std::string_view bytes) {
  uint64_t key = 0;
  for (size_t i = 0; i < 8; ++i) {
    key = key << 8 | (i + 2 < bytes.size() ? static_cast<uint8_t>(bytes[i + 2]) : 0);
  }
  return key;
}

}  // namespace

// Tokens are put in order by their first two bytes by counting, then among those with the same two
// by comparing.
TokenTrie::TokenTrie(const Vocabulary& vocabulary, const std::vector<bool>& takes_part)
    : byte_tokens_(256, kNone),
      pair_nodes_(size_t{1} << 16, kNone),
      prefixes_(vocabulary.id_limit()) {
  const auto pair_of = [](std::string_view bytes) {
    return byte_at(bytes, 0) | byte_at(bytes, 1) << 8;
  };
  std::vector<uint32_t> ends(pair_nodes_.size() + 1);
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    const std::string_view bytes = vocabulary.bytes(id);
    if (!takes_part[id] || bytes.empty()) {
      continue;
    }
    if (bytes.size() == 1) {
      byte_tokens_[byte_at(bytes, 0)] = id;
    } else {
      ++ends[pair_of(bytes) + 1];
    }
  }
  for (size_t i = 1; i < ends.size(); ++i) {
    ends[i] += ends[i - 1];
  }
  std::vector<Sorted> tokens(ends.back());
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    const std::string_view bytes = vocabulary.bytes(id);
    if (takes_part[id] && bytes.size() > 1) {
      tokens[ends[pair_of(bytes)]++] = {key_of(bytes), bytes, id};
    }
  }
  nodes_.reserve(2 * tokens.size() + 256);
  size_t begin = 0;
  for (size_t pair = 0; pair < pair_nodes_.size(); ++pair) {
    const size_t end = ends[pair];
    if (begin == end) {
      continue;
    }
    std::sort(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
              tokens.begin() + static_cast<std::ptrdiff_t>(end));
    pair_nodes_[pair] = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
    add_children(tokens, begin, end, 2, pair_nodes_[pair], {byte_tokens_[pair & 0xFF], 1});
    begin = end;
  }
}

// Fills the node of the tokens [begin, end), which have their first `depth` bytes in common;
// `above` is the longest token of fewer bytes that begins them.
void TokenTrie::add_children(const std::vector<Sorted>& tokens, size_t begin, size_t end,
                             uint32_t depth, uint32_t index, Match above) {
  if (tokens[begin].bytes.size() == depth) {
    const uint32_t id = tokens[begin].id;
    prefixes_[id] = above;
    above = {id, depth};
    nodes_[index].token_and_quarter = id;
    ++begin;
  }
  if (begin == end) {
    return;
  }
  const uint32_t first = byte_at(tokens[begin].bytes, depth);
  const uint32_t last = byte_at(tokens[end - 1].bytes, depth);
  const bool is_wide = first / 64 != last / 64;
  if (is_wide) {
    nodes_[index].first_child = static_cast<uint32_t>(nodes_.size());
    nodes_[index].token_and_quarter |= kWide << 24;
    nodes_.resize(nodes_.size() + 4);
  }
  const uint32_t quarters = nodes_[index].first_child;
  // Tokens with the same next byte lie side by side, and so will their nodes.
  for (size_t at = begin; at < end;) {
    const uint32_t quarter = byte_at(tokens[at].bytes, depth) / 64;
    const uint32_t parent = is_wide ? quarters + quarter : index;
    const auto first_child = static_cast<uint32_t>(nodes_.size());
    std::array<size_t, 65> borders;
    size_t count = 0;
    uint64_t children = 0;
    while (at < end && byte_at(tokens[at].bytes, depth) / 64 == quarter) {
      const uint32_t byte = byte_at(tokens[at].bytes, depth);
      children |= uint64_t{1} << (byte % 64);
      borders[count++] = at;
      while (at < end && byte_at(tokens[at].bytes, depth) == byte) {
        ++at;
      }
    }
    borders[count] = at;
    nodes_[parent].children = children;
    nodes_[parent].first_child = first_child;
    nodes_[parent].token_and_quarter |= quarter << 24;
    nodes_.resize(nodes_.size() + count);
    for (size_t i = 0; i < count; ++i) {
      add_children(tokens, borders[i], borders[i + 1], depth + 1,
                   first_child + static_cast<uint32_t>(i), above);
    }
  }
}

}  // namespace netcl::text
