// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_encoder.h"

#include <algorithm>
#include <utility>

#include "text/heap_merge.h"

namespace netcl::text {

namespace {

constexpr uint32_t kNoRank = PairTable::kNone;

// Pieces longer than a short merge are encoded faster by backtracking, once what it needs is there;
// making that takes as long as merging this many bytes.
constexpr size_t kUnaidedBytes = size_t{1} << 18;

// A rank and a place in one word, so that the lowest word is the leftmost of the lowest ranks.
constexpr int kPlaceBits = 8;
constexpr uint32_t kNoRankWord = kNoRank << kPlaceBits;

}  // namespace

void BpeEncoder::encode(std::string_view piece, EncodeScratch& scratch,
                        std::vector<uint32_t>& ids) const {
  if (piece.empty()) {
    return;
  }
  if (whole_piece_first_ || piece.size() == 1) {
    const uint32_t id =
        piece.size() == 1 ? byte_ids_[static_cast<uint8_t>(piece[0])] : vocabulary_->find_id(piece);
    if (id != Vocabulary::kNone) {
      ids.push_back(id);
      return;
    }
  }
  if (piece.size() > ShortPiece::kLongest) {
    if (const BacktrackEncoder* backtrack = backtrack_encoder_for(piece)) {
      backtrack->encode(piece, scratch.backtrack, ids);
      return;
    }
    if (piece.size() > kLongestScan) {
      merge_by_heap(piece, scratch, ids);
      return;
    }
  }
  std::array<uint32_t, kLongestScan> parts;
  const size_t count = merge(piece, parts.data());
  ids.insert(ids.end(), parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count));
}

size_t BpeEncoder::merge(std::string_view piece, uint32_t* ids) const {
  if (short_merge_ == nullptr || piece.size() > ShortPiece::kLongest) {
    return merge_by_scan(piece, ids);
  }
  ShortPiece short_piece;
  short_piece.bytes = piece.data();
  short_piece.size = static_cast<uint32_t>(piece.size());
  short_merge_(merge_tables(), {&short_piece, 1});
  std::copy_n(short_piece.ids.begin(), short_piece.count, ids);
  return short_piece.count;
}

void BpeEncoder::encode_short(std::span<ShortPiece> pieces) const {
  if (!whole_piece_first_) {
    merge_short(pieces);
    return;
  }
  constexpr size_t kBatch = 32;
  std::array<uint64_t, kBatch> hashes;
  std::array<ShortPiece, kBatch> rest;  // what is no token
  std::array<ShortPiece*, kBatch> places;
  while (!pieces.empty()) {
    const std::span<ShortPiece> batch = pieces.first(std::min(pieces.size(), kBatch));
    pieces = pieces.subspan(batch.size());
    for (size_t i = 0; i < batch.size(); ++i) {
      hashes[i] = hash_bytes({batch[i].bytes, batch[i].size});
      vocabulary_->prefetch(hashes[i]);
    }
    size_t count = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      ShortPiece& piece = batch[i];
      const uint32_t id = vocabulary_->find_id({piece.bytes, piece.size}, hashes[i]);
      if (id != Vocabulary::kNone) {
        piece.ids[0] = id;
        piece.count = 1;
      } else {
        rest[count].bytes = piece.bytes;
        rest[count].size = piece.size;
        places[count++] = &piece;
      }
    }
    merge_short({rest.data(), count});
    for (size_t i = 0; i < count; ++i) {
      places[i]->count = rest[i].count;
      std::copy_n(rest[i].ids.begin(), rest[i].count, places[i]->ids.begin());
    }
  }
}

void BpeEncoder::merge_short(std::span<ShortPiece> pieces) const {
  if (short_merge_ != nullptr) {
    short_merge_(merge_tables(), pieces);
    return;
  }
  for (ShortPiece& piece : pieces) {
    piece.count = static_cast<uint32_t>(merge_by_scan({piece.bytes, piece.size}, piece.ids.data()));
  }
}

// ranks[i] is that of the pair (ids[i], ids[i + 1]), shifted to leave room for the place.
size_t BpeEncoder::merge_by_scan(std::string_view piece, uint32_t* ids, LastMerge* last) const {
  std::array<uint32_t, kLongestScan> ranks;
  const size_t size = piece.size();
  for (size_t i = 0; i + 1 < size; ++i) {
    ids[i] = byte_ids_[static_cast<uint8_t>(piece[i])];
    ranks[i] = first_ranks_[first_rank_index(piece.data() + i)] << kPlaceBits;
  }
  ids[size - 1] = byte_ids_[static_cast<uint8_t>(piece[size - 1])];
  size_t pairs = size - 1;
  while (pairs > 0) {
    uint32_t lowest = kNoRankWord;
    for (uint32_t i = 0; i < pairs; ++i) {
      lowest = std::min(lowest, ranks[i] | i);
    }
    if (lowest >= kNoRankWord) {
      break;
    }
    const size_t at = lowest & ((1U << kPlaceBits) - 1);
    if (last != nullptr) {
      *last = {ids[at], ids[at + 1], lowest >> kPlaceBits};
    }
    ids[at] = result(lowest >> kPlaceBits);
    --pairs;
    for (size_t i = at; i < pairs; ++i) {
      ids[i + 1] = ids[i + 2];
      ranks[i] = ranks[i + 1];
    }
    if (at > 0) {
      ranks[at - 1] = rank(ids[at - 1], ids[at]) << kPlaceBits;
    }
    if (at < pairs) {
      ranks[at] = rank(ids[at], ids[at + 1]) << kPlaceBits;
    }
  }
  return pairs + 1;
}

// A token that is made by a merge of lower rank than one of its parts breaks the rule that
// backtracking rests on. It can only be made where its bytes are, so pieces without them are safe.
const BpeEncoder::Backtracking& BpeEncoder::backtracking() const {
  std::call_once(backtracking_made_, [this] {
    TokenSplits splits = has_splits_ ? splits_ : make_splits();
    const auto comes_after = [&](const TokenSplit& split, uint32_t part) {
      return splits[part].left == TokenSplit::kNone || splits[part].rank < split.rank;
    };
    std::vector<std::string_view> out_of_order;
    for (uint32_t id = 0; id < splits.size(); ++id) {
      const TokenSplit& split = splits[id];
      if (split.left != TokenSplit::kNone &&
          !(comes_after(split, split.left) && comes_after(split, split.right))) {
        out_of_order.push_back(vocabulary_->bytes(id));
      }
    }
    backtracking_ = std::make_unique<const Backtracking>(Backtracking{
        BacktrackEncoder(*vocabulary_, ranks_, std::move(splits)), SubstringSet(out_of_order)});
    backtracking_ready_.store(backtracking_.get(), std::memory_order_release);
  });
  return *backtracking_;
}

// Null while it does not pay, or where the piece does not allow it.
const BacktrackEncoder* BpeEncoder::backtrack_encoder_for(std::string_view piece) const {
  const Backtracking* ready = backtracking_ready_.load(std::memory_order_acquire);
  if (ready == nullptr) {
    if (unaided_bytes_.fetch_add(piece.size(), std::memory_order_relaxed) + piece.size() <
        kUnaidedBytes) {
      return nullptr;
    }
    ready = &backtracking();
  }
  return ready->out_of_order.occurs_in(piece) ? nullptr : &ready->encoder;
}

void BpeEncoder::merge_by_heap(std::string_view piece, EncodeScratch& scratch,
                               std::vector<uint32_t>& ids, LastMerge* last) const {
  using Node = EncodeScratch::Node;
  std::vector<Node>& nodes = scratch.nodes;
  const uint32_t size = static_cast<uint32_t>(piece.size());
  nodes.clear();
  nodes.reserve(size);
  for (uint32_t i = 0; i < size; ++i) {
    nodes.push_back({byte_ids_[static_cast<uint8_t>(piece[i])], i == 0 ? kNoSymbol : i - 1,
                     i + 1 == size ? kNoSymbol : i + 1});
  }
  text::merge_by_heap(
      nodes, scratch.heap, [&](uint32_t left, uint32_t right) { return rank(left, right); },
      [&](Node& node, const Node& swallowed, uint32_t joined) {
        if (last != nullptr) {
          *last = {node.id, swallowed.id, joined};
        }
        node.id = result(joined);
      });
  for (uint32_t at = 0; at != kNoSymbol; at = nodes[at].next) {
    ids.push_back(nodes[at].id);
  }
}

}  // namespace netcl::text
