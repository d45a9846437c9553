// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_encoder.h"

#include <algorithm>
#include <utility>

#include "text/heap_merge.h"

namespace netcl::text {

namespace {

// In place of the right part of a token that several merges make.
constexpr uint32_t kSeveral = TokenSplit::kNone - 1;

constexpr uint32_t kNoRank = PairTable::kNone;

// Longest piece that is merged by scanning. Above some 100 bytes the heap wins on random bytes;
// text rarely has pieces that long.
constexpr size_t kLongestScan = 96;

// Pieces longer than a short merge are encoded faster by backtracking, once what it needs is there;
// making that takes as long as merging this many bytes.
constexpr size_t kUnaidedBytes = size_t{1} << 18;

// A rank and a place in one word, so that the lowest word is the leftmost of the lowest ranks.
constexpr int kPlaceBits = 8;
constexpr uint32_t kNoRankWord = kNoRank << kPlaceBits;

}  // namespace

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary, MergeRule rule,
                       const std::vector<Merge>& merges, bool ignore_merges)
    : vocabulary_(&vocabulary),
      whole_piece_first_(ignore_merges || rule == MergeRule::kByteRanks),
      short_merge_(short_merge(base::cpu_level())),
      ranks_(rule == MergeRule::kMergeList ? merges.size() : vocabulary.size()),
      first_ranks_(size_t{1} << 16, kNoRank) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char as_char = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary.find_id({&as_char, 1});
  }
  if (rule == MergeRule::kByteRanks) {
    has_proper_pairs_ = add_proper_pairs();
    if (has_proper_pairs_) {
      whole_piece_first_ = false;
    } else {
      splits_ = {};
      add_all_pairs();
    }
    set_first_ranks();
    return;
  }
  results_.reserve(merges.size() + 1);
  splits_.resize(vocabulary.id_limit());
  for (const Merge& merge : merges) {
    const auto merge_rank = static_cast<uint32_t>(results_.size());
    ranks_.set(merge.left, merge.right, merge_rank);
    results_.push_back(merge.result);
    TokenSplit& split = splits_[merge.result];
    const bool is_only = split.left == TokenSplit::kNone;
    split = {merge.left, is_only ? merge.right : kSeveral, merge_rank, false};
  }
  results_.push_back(0);  // never empty, so that result() tells the rules apart
  set_first_ranks();
}

// By ascending rank, so that the pairs of all lower tokens are there when the bytes of a token are
// merged. Some short tokens at a time: a pair that is still missing then would be merged last, so a
// token that came to two parts without it has come to the right ones, and the others are merged
// again. False when some token does not come to two parts; the table is then of no use.
bool BpeEncoder::add_proper_pairs() {
  constexpr size_t kBatch = 32;
  std::array<ShortPiece, kBatch> batch;
  std::array<uint32_t, kBatch> batch_ids;
  size_t batched = 0;
  splits_.resize(vocabulary_->id_limit());
  const auto flush = [&] {
    if (batched > 1) {
      merge_short({batch.data(), batched});
    }
    for (size_t i = 0; i < batched; ++i) {
      ShortPiece& piece = batch[i];
      if (batched == 1 || piece.count != 2) {
        merge_short({&piece, 1});
      }
      if (piece.count != 2) {
        return false;
      }
      add_proper_pair(batch_ids[i], piece.ids[0], piece.ids[1]);
    }
    batched = 0;
    return true;
  };
  EncodeScratch scratch;
  std::vector<uint32_t> parts;
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    const std::string_view bytes = vocabulary_->bytes(id);
    if (bytes.size() < 2) {
      splits_[id].reachable = bytes.size() == 1;
      continue;
    }
    if (bytes.size() > 2 && bytes.size() <= ShortPiece::kLongest) {
      batch[batched].bytes = bytes.data();
      batch[batched].size = static_cast<uint32_t>(bytes.size());
      batch_ids[batched++] = id;
      if (batched == kBatch && !flush()) {
        return false;
      }
      continue;
    }
    if (!flush()) {
      return false;
    }
    parts.clear();
    if (bytes.size() == 2) {
      parts = {byte_ids_[static_cast<uint8_t>(bytes[0])],
               byte_ids_[static_cast<uint8_t>(bytes[1])]};
      first_ranks_[first_rank_index(bytes.data())] = id;
    } else if (bytes.size() <= kLongestScan) {
      parts.resize(bytes.size());
      parts.resize(merge_by_scan(bytes, parts.data()));
    } else {
      merge_by_heap(bytes, scratch, parts);
    }
    if (parts.size() != 2) {
      return false;
    }
    add_proper_pair(id, parts[0], parts[1]);
  }
  return flush();
}

void BpeEncoder::add_proper_pair(uint32_t id, uint32_t left, uint32_t right) {
  ranks_.set(left, right, id);
  splits_[id] = {left, right, id, true};
}

// Pairs of tokens whose joined bytes are a token, for every token: each of its splits with both
// parts in the vocabulary. Lengths that no token has are passed over without a look-up.
void BpeEncoder::add_all_pairs() {
  std::vector<bool> has_length(vocabulary_->longest() + 1);
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    has_length[vocabulary_->bytes(id).size()] = true;
  }
  ranks_ = PairTable(2 * vocabulary_->size());
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    const std::string_view bytes = vocabulary_->bytes(id);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      if (!has_length[cut] || !has_length[bytes.size() - cut]) {
        continue;
      }
      const uint32_t left = vocabulary_->find_id(bytes.substr(0, cut));
      const uint32_t right =
          left == Vocabulary::kNone ? left : vocabulary_->find_id(bytes.substr(cut));
      if (right != Vocabulary::kNone) {
        ranks_.set(left, right, id);
      }
    }
  }
}

void BpeEncoder::set_first_ranks() {
  for (uint32_t index = 0; index < first_ranks_.size(); ++index) {
    const char bytes[2] = {static_cast<char>(index & 0xFF), static_cast<char>(index >> 8)};
    const uint32_t left = byte_ids_[static_cast<uint8_t>(bytes[0])];
    const uint32_t right = byte_ids_[static_cast<uint8_t>(bytes[1])];
    first_ranks_[first_rank_index(bytes)] = left == Vocabulary::kNone || right == Vocabulary::kNone
                                                ? kNoRank
                                                : ranks_.find(left, right);
  }
}

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

// Of every token, by merging its bytes. What made a token last is known where only one merge makes
// it.
std::vector<TokenSplit> BpeEncoder::make_splits() const {
  constexpr size_t kBatch = 64;
  std::vector<TokenSplit> splits = splits_;
  if (splits.empty()) {  // all pairs of byte ranks
    splits.assign(vocabulary_->id_limit(), {0, kSeveral, 0, false});
  }
  std::array<ShortPiece, kBatch> batch;
  std::array<uint32_t, kBatch> batch_ids;
  size_t batched = 0;
  const auto flush = [&] {
    merge_short({batch.data(), batched});
    for (size_t i = 0; i < batched; ++i) {
      const bool is_made = batch[i].count == 1 && batch[i].ids[0] == batch_ids[i];
      splits[batch_ids[i]] = is_made ? splits[batch_ids[i]] : TokenSplit{};
      splits[batch_ids[i]].reachable = is_made;
    }
    batched = 0;
  };
  EncodeScratch scratch;
  std::vector<uint32_t> parts;
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    const std::string_view bytes = vocabulary_->bytes(id);
    TokenSplit& split = splits[id];
    if (bytes.size() < 2 || split.left == TokenSplit::kNone) {
      split = {};
      split.reachable = bytes.size() == 1;
      continue;
    }
    if (bytes.size() <= ShortPiece::kLongest && split.right != kSeveral) {
      batch[batched].bytes = bytes.data();
      batch[batched].size = static_cast<uint32_t>(bytes.size());
      batch_ids[batched++] = id;
      if (batched == kBatch) {
        flush();
      }
      continue;
    }
    LastMerge last;
    if (bytes.size() <= kLongestScan) {
      parts.resize(kLongestScan);
      parts.resize(merge_by_scan(bytes, parts.data(), &last));
    } else {
      parts.clear();
      merge_by_heap(bytes, scratch, parts, &last);
    }
    split = {};
    if (parts.size() == 1 && parts[0] == id) {
      split = {last.left, last.right, last.rank, true};
    }
  }
  flush();
  return splits;
}

// A token that is made by a merge of lower rank than one of its parts breaks the rule that
// backtracking rests on. It can only be made where its bytes are, so pieces without them are safe.
const BpeEncoder::Backtracking& BpeEncoder::backtracking() const {
  std::call_once(backtracking_made_, [this] {
    std::vector<TokenSplit> splits = has_proper_pairs_ ? splits_ : make_splits();
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
