// SPDX-License-Identifier: Apache-2.0
// How the tables of a BpeEncoder are made.
#include <algorithm>

#include "base/error.h"
#include "text/bpe_encoder.h"
#include "text/merge_selection.h"

namespace netcl::text {

namespace {

// In place of the right part of a token that several merges make.
constexpr uint32_t kSeveral = TokenSplit::kNone - 1;

constexpr uint32_t kNoRank = PairTable::kNone;

}  // namespace

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary, MergeRule rule, std::span<const Merge> merges,
                       bool ignore_merges)
    : vocabulary_(&vocabulary),
      whole_piece_first_(ignore_merges || rule == MergeRule::kByteRanks),
      short_merge_(short_merge(base::cpu_level())),
      first_ranks_(size_t{1} << 16, kNoRank) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char as_char = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary.find_id({&as_char, 1});
  }
  if (rule == MergeRule::kByteRanks) {
    has_splits_ = add_proper_pairs();
    if (!has_splits_) {
      add_all_pairs();
    }
  } else {
    add_listed_pairs(merges);
  }
  set_first_ranks();
  keeps_tokens_ = has_splits_ && all_reachable();
  whole_piece_first_ = whole_piece_first_ && !keeps_tokens_;
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
  ranks_ = PairTable(vocabulary_->size());
  start_splits();
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
      add_pair({piece.ids[0], piece.ids[1], batch_ids[i]}, batch_ids[i], true);
    }
    batched = 0;
    return true;
  };
  EncodeScratch scratch;
  std::vector<uint32_t> parts;
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    const std::string_view bytes = vocabulary_->bytes(id);
    if (bytes.size() < 2) {
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
    add_pair({parts[0], parts[1], id}, id, true);
  }
  return flush();
}

// Single bytes are made of nothing.
void BpeEncoder::start_splits() {
  splits_.assign(vocabulary_->id_limit(), {});
  for (const uint32_t id : byte_ids_) {
    if (id != Vocabulary::kNone) {
      splits_[id].reachable = true;
    }
  }
}

void BpeEncoder::add_pair(const Merge& merge, uint32_t rank, bool is_split) {
  ranks_.set(merge.left, merge.right, rank);
  TokenSplit& split = splits_[merge.result];
  const bool is_only = split.left == TokenSplit::kNone;
  split = {merge.left, is_only ? merge.right : kSeveral, rank, is_split};
}

// A rank is the place in the list or, of a list in the order of the tokens that it makes, the token
// made. Of such a list no token keeps several merges, whose order that would lose: its merges of a
// token stand in a row.
void BpeEncoder::add_listed_pairs(std::span<const Merge> merges) {
  const bool rank_is_result = std::is_sorted(
      merges.begin(), merges.end(),
      [](const Merge& one, const Merge& other) { return one.result < other.result; });
  const size_t runs = count_runs(merges);
  ranks_ = PairTable(runs);
  start_splits();
  if (!rank_is_result) {
    results_.reserve(merges.size() + 1);
    for (const Merge& merge : merges) {
      results_.push_back(merge.result);
    }
    results_.push_back(0);  // never empty, so that result() knows
  }
  if (runs < merges.size()) {
    EncodeScratch scratch;
    const MergeSelection::MergeBytes merge_bytes = [&](std::string_view bytes) {
      std::vector<uint32_t> ids;
      merge_by_heap(bytes, scratch, ids);
      return ids;
    };
    MergeSelection selection(*vocabulary_, merges, rank_is_result, merge_bytes, ranks_, splits_);
    has_splits_ = selection.run();
    if (has_splits_) {
      return;
    }
    NETCL_CHECK(!rank_is_result);
  }
  constexpr size_t kAhead = 16;
  for (uint32_t place = 0; place < merges.size(); ++place) {
    if (place + kAhead < merges.size()) {
      ranks_.prefetch(merges[place + kAhead].left, merges[place + kAhead].right);
    }
    add_pair(merges[place], rank_is_result ? merges[place].result : place, false);
  }
}

bool BpeEncoder::all_reachable() const {
  for (uint32_t id = 0; id < splits_.size(); ++id) {
    if (!splits_[id].reachable && vocabulary_->contains(id)) {
      return false;
    }
  }
  return true;
}

// Pairs of tokens whose joined bytes are a token, for every token: each of its splits with both
// parts in the vocabulary. Lengths that no token has are passed over without a look-up.
void BpeEncoder::add_all_pairs() {
  std::vector<bool> has_length(vocabulary_->longest() + 1);
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    has_length[vocabulary_->bytes(id).size()] = true;
  }
  splits_ = {};
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
  for (uint32_t id = 0; id < vocabulary_->id_limit(); ++id) {
    const std::string_view bytes = vocabulary_->bytes(id);
    if (bytes.size() == 2) {
      first_ranks_[first_rank_index(bytes.data())] = ranks_.find(
          byte_ids_[static_cast<uint8_t>(bytes[0])], byte_ids_[static_cast<uint8_t>(bytes[1])]);
    }
  }
}

// Of every token, by merging its bytes. What made a token last is known where only one merge makes
// it.
TokenSplits BpeEncoder::make_splits() const {
  constexpr size_t kBatch = 64;
  TokenSplits splits = splits_;
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

}  // namespace netcl::text
