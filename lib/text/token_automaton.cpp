// SPDX-License-Identifier: Apache-2.0
#include "text/token_automaton.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"

namespace netcl::text {

namespace {

constexpr uint32_t kRoot = 0;
constexpr size_t kBlock = 64;

// True when one of 64 bytes is one of four; a form that compilers make vector code of.
bool block_has(const char* block, const std::array<uint8_t, 4>& bytes) {
  uint8_t found = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint8_t byte = static_cast<uint8_t>(block[i]);
    found |= static_cast<uint8_t>((byte == bytes[0]) | (byte == bytes[1]) | (byte == bytes[2]) |
                                  (byte == bytes[3]));
  }
  return found != 0;
}

// Compares from the last byte to the first, as the automaton reads.
bool less_from_end(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(
      a.rbegin(), a.rend(), b.rbegin(), b.rend(),
      [](char x, char y) { return static_cast<uint8_t>(x) < static_cast<uint8_t>(y); });
}

}  // namespace

TokenAutomaton::TokenAutomaton(const std::vector<std::string>& tokens) {
  build_trie(tokens);
  link();
  std::vector<uint8_t> last_bytes;
  for (size_t byte = 0; byte < from_root_.size(); ++byte) {
    if (from_root_[byte] != kRoot) {
      last_bytes.push_back(static_cast<uint8_t>(byte));
    }
  }
  few_last_bytes_ = !last_bytes.empty() && last_bytes.size() <= last_bytes_.size();
  if (few_last_bytes_) {
    last_bytes_.fill(last_bytes[0]);
    std::copy(last_bytes.begin(), last_bytes.end(), last_bytes_.begin());
  }
}

// A node stands for the strings of a run of the sorted list that agree in their last `depth` bytes.
void TokenAutomaton::build_trie(const std::vector<std::string>& tokens) {
  std::vector<uint32_t> order(tokens.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return less_from_end(tokens[a], tokens[b]); });
  struct Run {
    uint32_t begin;
    uint32_t end;
  };
  std::vector<Run> level = {{0, static_cast<uint32_t>(order.size())}};
  std::vector<Run> next_level;
  labels_.push_back(0);
  tokens_.push_back(kNone);
  for (size_t depth = 0; !level.empty(); ++depth) {
    next_level.clear();
    for (const Run& run : level) {
      first_child_.push_back(static_cast<uint32_t>(labels_.size()));
      uint32_t at = run.begin;
      // The strings that are no longer come first; the node itself stands for them.
      while (at < run.end && tokens[order[at]].size() == depth) {
        ++at;
      }
      while (at < run.end) {
        const auto byte_of = [&](uint32_t i) {
          const std::string& token = tokens[order[i]];
          return static_cast<uint8_t>(token[token.size() - 1 - depth]);
        };
        const uint32_t begin = at;
        const uint8_t byte = byte_of(begin);
        while (at < run.end && byte_of(at) == byte) {
          ++at;
        }
        NETCL_CHECK(labels_.size() < kNone);
        labels_.push_back(byte);
        const bool is_token = tokens[order[begin]].size() == depth + 1;
        tokens_.push_back(is_token ? order[begin] : kNone);
        longest_ = is_token ? depth + 1 : longest_;
        next_level.push_back({begin, at});
      }
    }
    level.swap(next_level);
  }
  first_child_.push_back(static_cast<uint32_t>(labels_.size()));
}

void TokenAutomaton::link() {
  for (uint32_t node = first_child_[kRoot]; node < first_child_[kRoot + 1]; ++node) {
    from_root_[labels_[node]] = node;
  }
  fallback_.assign(labels_.size(), kRoot);
  for (uint32_t parent = kRoot + 1; parent < labels_.size(); ++parent) {
    for (uint32_t node = first_child_[parent]; node < first_child_[parent + 1]; ++node) {
      // Nodes are in the order of their depth, so what this looks at is done.
      fallback_[node] = step(fallback_[parent], labels_[node]);
      if (tokens_[node] == kNone) {
        tokens_[node] = tokens_[fallback_[node]];
      }
    }
  }
}

inline uint32_t TokenAutomaton::child(uint32_t node, uint8_t byte) const {
  if (node == kRoot) {
    return from_root_[byte];
  }
  const uint32_t begin = first_child_[node];
  const uint32_t count = first_child_[node + 1] - begin;
  constexpr uint32_t kFew = 4;
  if (count <= kFew) {
    for (uint32_t i = begin; i < begin + count; ++i) {
      if (labels_[i] == byte) {
        return i;
      }
    }
    return kRoot;
  }
  const void* const found = std::memchr(&labels_[begin], byte, count);
  return found == nullptr
             ? kRoot
             : static_cast<uint32_t>(static_cast<const uint8_t*>(found) - labels_.data());
}

inline uint32_t TokenAutomaton::step(uint32_t node, uint8_t byte) const {
  while (true) {
    const uint32_t next = child(node, byte);
    if (next != kRoot || node == kRoot) {
      return next;
    }
    node = fallback_[node];
  }
}

// Largest i in (to, from] with text[i - 1] the last byte of a string, or `to`.
size_t TokenAutomaton::skip_back(std::string_view text, size_t from, size_t to) const {
  if (few_last_bytes_) {
    while (from - to >= kBlock && !block_has(text.data() + from - kBlock, last_bytes_)) {
      from -= kBlock;
    }
  }
  while (from > to && from_root_[static_cast<uint8_t>(text[from - 1])] == kRoot) {
    --from;
  }
  return from;
}

void TokenAutomaton::find(std::string_view text, size_t begin, size_t end,
                          std::vector<Hit>& hits) const {
  hits.clear();
  uint32_t node = kRoot;
  // No state reaches further than the longest string, so starting that far behind is exact.
  size_t at = std::min(text.size() - end, longest_) + end;
  while (true) {
    if (node == kRoot) {
      at = skip_back(text, at, begin);
    }
    if (at == begin) {
      return;
    }
    --at;
    node = step(node, static_cast<uint8_t>(text[at]));
    if (tokens_[node] != kNone && at < end) {
      hits.push_back({static_cast<uint32_t>(at - begin), tokens_[node]});
    }
  }
}

}  // namespace netcl::text
