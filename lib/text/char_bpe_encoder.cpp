// SPDX-License-Identifier: Apache-2.0
#include "text/char_bpe_encoder.h"

#include <algorithm>

#include "base/error.h"
#include "text/heap_merge.h"
#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr uint32_t kNoRank = PairMap::kNone;

constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581

// Longer words are not looked up before they are merged.
constexpr size_t kLongestCachedWord = 128;

std::string_view last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) {
    --begin;
  }
  return text.substr(begin);
}

// Of well-formed UTF-8.
size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

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
  find_word_borders(merges);
}

// A border between two words is one that no merge goes across: what a merge joins there ends in the
// character before it and begins with the one behind it. Characters that are no token are not
// merged at all, unless what stands for them is.
void CharBpeEncoder::find_word_borders(std::span<const Merge> merges) {
  const uint32_t blank = vocabulary_->find_id(kBlank);
  const auto stands_for_others = [&](uint32_t id) {
    return id == model_->unknown_id ||
           (has_byte_tokens_ && byte_of_token(vocabulary_->bytes(id)).has_value());
  };
  // Characters that leave nothing behind make neighbours of what is around them.
  has_words_ = blank != Vocabulary::kNone && (has_byte_tokens_ || model_->unknown_id);
  for (const Merge& merge : merges) {
    if (stands_for_others(merge.left) || stands_for_others(merge.right)) {
      has_words_ = false;
    }
    if (vocabulary_->bytes(merge.right).starts_with(kBlank)) {
      joined_to_blank_.push_back(
          vocabulary_->find_id(last_character(vocabulary_->bytes(merge.left))));
    }
  }
  std::sort(joined_to_blank_.begin(), joined_to_blank_.end());
  joined_to_blank_.erase(std::unique(joined_to_blank_.begin(), joined_to_blank_.end()),
                         joined_to_blank_.end());
  only_blanks_are_joined_ = joined_to_blank_ == std::vector<uint32_t>{blank};
  ends_at_line_feed_ = has_byte_tokens_ && vocabulary_->find_id("\n") == Vocabulary::kNone;
}

// Whether a U+2581 after this text begins a word.
bool CharBpeEncoder::ends_word(std::string_view before) const {
  if (only_blanks_are_joined_) {
    return !before.ends_with(kBlank);
  }
  const uint32_t id = vocabulary_->find_id(last_character(before));
  return !std::binary_search(joined_to_blank_.begin(), joined_to_blank_.end(), id);
}

// End of the word that begins at `begin`.
size_t CharBpeEncoder::word_end(std::string_view piece, size_t begin) const {
  if (!has_words_) {
    return piece.size();
  }
  for (size_t at = begin; at < piece.size(); ++at) {
    if (piece[at] == '\n' && ends_at_line_feed_) {
      return at + 1;
    }
    if (piece[at] == kBlank[0] && at > begin && piece.substr(at).starts_with(kBlank) &&
        ends_word(piece.substr(begin, at - begin))) {
      return at;
    }
  }
  return piece.size();
}

// The token that the piece is as a whole, where that counts, or kNone.
uint32_t CharBpeEncoder::whole_piece(std::string_view piece) const {
  return whole_piece_first_ ? vocabulary_->find_id(piece) : Vocabulary::kNone;
}

void CharBpeEncoder::encode(std::string_view piece, PieceCache& cache, Scratch& scratch,
                            std::vector<uint32_t>& ids) const {
  if (const uint32_t id = whole_piece(piece); id != Vocabulary::kNone) {
    ids.push_back(id);
    return;
  }
  for (size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
    end = word_end(piece, begin);
    encode_word(piece.substr(begin, end - begin), piece.size() - begin, cache, scratch, ids);
  }
}

void CharBpeEncoder::encode(std::string_view piece, Scratch& scratch, std::vector<uint32_t>& ids,
                            std::vector<ByteSpan>& spans) const {
  if (const uint32_t id = whole_piece(piece); id != Vocabulary::kNone) {
    ids.push_back(id);
    spans.push_back({0, piece.size()});
    return;
  }
  for (size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
    end = word_end(piece, begin);
    merge_word(piece.substr(begin, end - begin), scratch, true);
    for (size_t i = 0; i < scratch.nodes.size(); ++i) {
      if (scratch.nodes[i].id != kNoSymbol) {
        ids.push_back(scratch.nodes[i].id);
        spans.push_back({begin + scratch.extents[i].begin, begin + scratch.extents[i].end});
      }
    }
  }
}

// `room`: how many bytes from its first one on may be read.
void CharBpeEncoder::encode_word(std::string_view word, size_t room, PieceCache& cache,
                                 Scratch& scratch, std::vector<uint32_t>& ids) const {
  const bool is_short = word.size() <= ShortKey::kLongest;
  const bool is_cached = word.size() <= kLongestCachedWord;
  ShortKey key;
  uint64_t hash = 0;
  std::span<const uint32_t> found;
  std::array<uint32_t, PieceCache::kInlineIds> room_for_ids;
  if (is_short) {
    key = ShortKey::of(word, room);
    found = cache.find(key, cache.line_of(key), room_for_ids.data());
  } else if (is_cached) {
    hash = hash_bytes(word);
    found = cache.find_long(word, hash);
  }
  if (!found.empty()) {
    ids.insert(ids.end(), found.begin(), found.end());
    return;
  }
  merge_word(word, scratch, false);
  if (!is_cached) {  // of a long word a second list of the ids would be the larger part of them
    for (const Node& node : scratch.nodes) {
      if (node.id != kNoSymbol) {
        ids.push_back(node.id);
      }
    }
    return;
  }
  scratch.word_ids.clear();
  for (const Node& node : scratch.nodes) {
    if (node.id != kNoSymbol) {
      scratch.word_ids.push_back(node.id);
    }
  }
  ids.insert(ids.end(), scratch.word_ids.begin(), scratch.word_ids.end());
  if (scratch.word_ids.empty()) {
    return;  // characters that are left out
  }
  if (is_short) {
    cache.add_short(key, scratch.word_ids);
  } else {
    cache.add_long(word, hash, scratch.word_ids);
  }
}

// Leaves the ids in the nodes; those of nodes that were merged into others are kNoSymbol.
void CharBpeEncoder::merge_word(std::string_view word, Scratch& scratch, bool with_extents) const {
  start_symbols(word, scratch.nodes, with_extents ? &scratch.extents : nullptr);
  merge_by_heap(
      scratch.nodes, scratch.heap,
      [&](uint32_t left, uint32_t right) { return ranks_.find(left, right); },
      [&](Node& node, const Node& swallowed, uint32_t rank) {
        node.id = results_[rank];
        if (with_extents) {
          const Node* const first = scratch.nodes.data();
          scratch.extents[static_cast<size_t>(&node - first)].end =
              scratch.extents[static_cast<size_t>(&swallowed - first)].end;
        }
      });
}

void CharBpeEncoder::start_symbols(std::string_view word, std::vector<Node>& nodes,
                                   std::vector<Extent>* extents) const {
  // Growing by doubling would hold up to three times of what a long word needs.
  const size_t characters = count_characters(word);
  nodes.clear();
  nodes.reserve(characters);
  if (extents != nullptr) {
    extents->clear();
    extents->reserve(characters);
  }
  bool after_unknown = false;
  const auto add = [&](uint32_t id, size_t begin, size_t end) {
    nodes.push_back({id, 0, 0});
    if (extents != nullptr) {
      extents->push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    }
  };
  for (size_t at = 0; at < word.size();) {
    const size_t begin = at;
    at += decode_utf8(word, at).byte_count;
    const uint32_t id = vocabulary_->find_id(word.substr(begin, at - begin));
    if (id != Vocabulary::kNone) {
      add(id, begin, at);
      after_unknown = false;
    } else if (has_byte_tokens_) {
      for (size_t i = begin; i < at; ++i) {
        add(byte_ids_[static_cast<uint8_t>(word[i])], i, i + 1);
      }
    } else if (model_->unknown_id) {
      if (after_unknown && model_->fuse_unknown) {
        if (extents != nullptr) {
          extents->back().end = static_cast<uint32_t>(at);
        }
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
}

}  // namespace netcl::text
