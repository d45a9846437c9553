// SPDX-License-Identifier: Apache-2.0
#include "text/char_bpe_encoder.h"

#include <algorithm>

#include "base/error.h"
#include "text/heap_merge.h"
#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr uint32_t kNoRank = PairMap::kNone;

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::string byte_token(size_t byte) {
  return {'<', '0', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15], '>'};
}

// C0, C1 and F5..FF are in no well-formed UTF-8.
bool is_in_utf8(size_t byte) {
  return byte != 0xC0 && byte != 0xC1 && byte < 0xF5;
}

}  // namespace

std::optional<uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') {
    return std::nullopt;
  }
  const size_t high = kHexDigits.find(token[3]);
  const size_t low = kHexDigits.find(token[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<uint8_t>(16 * high + low);
}

std::string decoded_token(const CharModel& model, std::string_view token) {
  std::string text(token);
  for (const auto& [pattern, content] : model.replacements) {
    for (size_t at = text.find(pattern); at != std::string::npos;
         at = text.find(pattern, at + content.size())) {
      text.replace(at, pattern.size(), content);
    }
  }
  const std::optional<uint8_t> byte = model.byte_tokens ? byte_of_token(text) : std::nullopt;
  return byte ? std::string(1, static_cast<char>(*byte)) : text;
}

CharBpeEncoder::CharBpeEncoder(const Vocabulary& vocabulary, const CharModel& model,
                               std::span<const Merge> merges, bool ignore_merges,
                               const std::string& where)
    : vocabulary_(&vocabulary),
      model_(&model),
      whole_piece_first_(ignore_merges),
      ranks_(merges.size()) {
  size_t found = 0;
  size_t wanted = 0;
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = vocabulary.find_id(byte_token(byte));
    wanted += is_in_utf8(byte) ? 1 : 0;
    found += is_in_utf8(byte) && byte_ids_[byte] != Vocabulary::kNone ? 1 : 0;
  }
  if (model.byte_fallback && found != 0 && found != wanted) {
    throw base::FormatError(where + ": byte_fallback with " + std::to_string(found) + " of the " +
                            std::to_string(wanted) +
                            " tokens <0x00> ... <0xF4> is not supported; it needs all or none");
  }
  has_byte_tokens_ = model.byte_fallback && found == wanted;
  NETCL_CHECK(merges.size() < kNoRank);
  results_.reserve(merges.size());
  for (const Merge& merge : merges) {
    ranks_.at(merge.left, merge.right) = static_cast<uint32_t>(results_.size());
    results_.push_back(merge.result);
  }
}

void CharBpeEncoder::encode(std::string_view piece, std::vector<uint32_t>& ids,
                            std::vector<ByteSpan>* spans) const {
  if (whole_piece_first_) {
    const uint32_t id = vocabulary_->find_id(piece);
    if (id != Vocabulary::kNone) {
      ids.push_back(id);
      if (spans != nullptr) {
        spans->push_back({0, piece.size()});
      }
      return;
    }
  }
  std::vector<Node> nodes = first_symbols(piece);
  if (nodes.empty()) {
    return;
  }
  merge(nodes);
  for (uint32_t at = 0; at != kNoSymbol; at = nodes[at].next) {
    ids.push_back(nodes[at].id);
    if (spans != nullptr) {
      spans->push_back({nodes[at].begin, nodes[at].end});
    }
  }
}

std::vector<CharBpeEncoder::Node> CharBpeEncoder::first_symbols(std::string_view piece) const {
  std::vector<Node> nodes;
  nodes.reserve(piece.size());
  bool after_unknown = false;
  const auto add = [&](uint32_t id, size_t begin, size_t end) {
    nodes.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), 0, 0});
  };
  for (size_t at = 0; at < piece.size();) {
    const size_t begin = at;
    at += decode_utf8(piece, at).byte_count;
    const uint32_t id = vocabulary_->find_id(piece.substr(begin, at - begin));
    if (id != Vocabulary::kNone) {
      add(id, begin, at);
      after_unknown = false;
    } else if (has_byte_tokens_) {
      for (size_t i = begin; i < at; ++i) {
        add(byte_ids_[static_cast<uint8_t>(piece[i])], i, i + 1);
      }
    } else if (model_->unknown_id) {
      if (after_unknown && model_->fuse_unknown) {
        nodes.back().end = static_cast<uint32_t>(at);
      } else {
        add(*model_->unknown_id, begin, at);
      }
      after_unknown = true;
    }
  }
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].previous = i == 0 ? kNoSymbol : i - 1;
    nodes[i].next = i + 1 == nodes.size() ? kNoSymbol : i + 1;
  }
  return nodes;
}

void CharBpeEncoder::merge(std::vector<Node>& nodes) const {
  std::vector<uint64_t> heap;
  merge_by_heap(
      nodes, heap, [&](uint32_t left, uint32_t right) { return ranks_.find(left, right); },
      [&](Node& node, const Node& swallowed, uint32_t rank) {
        node.id = results_[rank];
        node.end = swallowed.end;
      });
}

}  // namespace netcl::text
