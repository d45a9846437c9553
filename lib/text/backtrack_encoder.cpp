// SPDX-License-Identifier: Apache-2.0
#include "text/backtrack_encoder.h"

#include <utility>

namespace netcl::text {

namespace {

constexpr uint32_t kNone = TokenSplit::kNone;

uint32_t byte_at(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]);
}

size_t pair_index(std::string_view text) {
  return byte_at(text, 0) | byte_at(text, 1) << 8;
}

}  // namespace

BacktrackEncoder::BacktrackEncoder(const Vocabulary& vocabulary, const PairTable& ranks,
                                   std::vector<TokenSplit> splits)
    : vocabulary_(vocabulary),
      ranks_(ranks),
      splits_(std::move(splits)),
      byte_tokens_(256, kNone),
      pair_nodes_(size_t{1} << 16, kNone),
      children_(2 * vocabulary.size()),
      longest_prefixes_(vocabulary.id_limit(), kNone) {
  for (uint32_t id = 0; id < vocabulary_.id_limit(); ++id) {
    if (splits_[id].reachable) {
      add_token(id);
    }
  }
  for (uint32_t id = 0; id < vocabulary_.id_limit(); ++id) {
    if (splits_[id].reachable && vocabulary_.bytes(id).size() > 1) {
      longest_prefixes_[id] = shorter_token(id);
    }
  }
}

void BacktrackEncoder::add_token(uint32_t id) {
  const std::string_view bytes = vocabulary_.bytes(id);
  if (bytes.size() == 1) {
    byte_tokens_[byte_at(bytes, 0)] = id;
    return;
  }
  const auto new_node = [&] {
    node_tokens_.push_back(kNone);
    return static_cast<uint32_t>(node_tokens_.size() - 1);
  };
  uint32_t& first = pair_nodes_[pair_index(bytes)];
  if (first == kNone) {
    first = new_node();
  }
  uint32_t node = first;
  for (size_t i = 2; i < bytes.size(); ++i) {
    uint32_t next = children_.find(node, byte_at(bytes, i));
    if (next == PairTable::kNone) {
      next = new_node();
      children_.set(node, byte_at(bytes, i), next);
    }
    node = next;
  }
  node_tokens_[node] = id;
}

uint32_t BacktrackEncoder::shorter_token(uint32_t id) const {
  const std::string_view bytes = vocabulary_.bytes(id);
  return longest_token(bytes.substr(0, bytes.size() - 1));
}

uint32_t BacktrackEncoder::longest_token(std::string_view text) const {
  uint32_t token = byte_tokens_[byte_at(text, 0)];
  if (text.size() < 2) {
    return token;
  }
  uint32_t node = pair_nodes_[pair_index(text)];
  for (size_t i = 2; node != kNone; ++i) {
    if (node_tokens_[node] != kNone) {
      token = node_tokens_[node];
    }
    if (i == text.size()) {
      break;
    }
    node = children_.find(node, byte_at(text, i));
  }
  return token;
}

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
  std::vector<uint32_t>& tokens = scratch.tokens;
  std::vector<uint64_t>& dead = scratch.dead_ends;
  tokens.clear();
  dead.assign(piece.size() / 64 + 1, 0);
  size_t at = 0;  // where the tokens laid so far end
  uint32_t next = longest_token(piece);
  for (;;) {
    const size_t end = at + vocabulary_.bytes(next).size();
    const bool leads_on = (dead[end / 64] >> (end % 64) & 1) == 0;
    if (leads_on && (tokens.empty() || stay_apart(tokens.back(), next))) {
      tokens.push_back(next);
      at = end;
      if (at == piece.size()) {
        break;
      }
      next = longest_token(piece.substr(at));
      continue;
    }
    next = longest_prefixes_[next];
    while (next == kNone) {  // nothing goes on from here: take the last token back
      dead[at / 64] |= uint64_t{1} << (at % 64);
      const uint32_t last = tokens.back();
      tokens.pop_back();
      at -= vocabulary_.bytes(last).size();
      next = longest_prefixes_[last];
    }
  }
  ids.insert(ids.end(), tokens.begin(), tokens.end());
}

}  // namespace netcl::text
