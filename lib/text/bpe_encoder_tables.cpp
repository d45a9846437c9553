// SPDX-License-Identifier: Apache-2.0
// How the tables of a BpeEncoder are made.
#include <algorithm>

#include "text/bpe_encoder.h"

namespace netcl::text {

namespace {

// In place of the right part of a token that several merges make.
constexpr uint32_t kSeveral = TokenSplit::kNone - 1;

constexpr uint32_t kNoRank = PairTable::kNone;

// Merges in a row of a list that make one token.
struct MergeGroup {
  uint32_t first = 0;
  uint32_t size = 0;
};

std::vector<MergeGroup> group_merges(const std::vector<Merge>& merges) {
  std::vector<MergeGroup> groups;
  groups.reserve(merges.size());
  for (uint32_t i = 0; i < merges.size(); ++i) {
    if (i == 0 || merges[i].result != merges[i - 1].result) {
      groups.push_back({i, 0});
    }
    ++groups.back().size;
  }
  return groups;
}

bool each_token_once(const std::vector<Merge>& merges, const std::vector<MergeGroup>& groups,
                     size_t id_limit) {
  std::vector<bool> made(id_limit);
  for (const MergeGroup& group : groups) {
    const uint32_t token = merges[group.first].result;
    if (made[token]) {
      return false;
    }
    made[token] = true;
  }
  return true;
}

}  // namespace

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary, MergeRule rule,
                       const std::vector<Merge>& merges, bool ignore_merges)
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
    const bool is_ordered = std::is_sorted(
        merges.begin(), merges.end(),
        [](const Merge& one, const Merge& other) { return one.result < other.result; });
    if (!is_ordered || !add_listed_pairs(merges, true)) {
      add_listed_pairs(merges, false);
    }
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

// A rank is the place in the list or, with `rank_is_result`, the token made: false where that would
// not order the merges in the same way, because a token keeps several; the table is then of no use.
//
// Where merges in a row make one token, the one to keep is that of two tokens that the merges
// before it make and leave side by side. That holds until a merge comes before one that makes a
// part of it; from there on all merges are kept. So they are where a token is made in several
// places: of two equal merges the later one counts.
bool BpeEncoder::add_listed_pairs(const std::vector<Merge>& merges, bool rank_is_result) {
  const std::vector<MergeGroup> groups = group_merges(merges);
  ranks_ = PairTable(groups.size());
  start_splits();
  results_.clear();
  if (!rank_is_result) {
    results_.reserve(merges.size() + 1);
    for (const Merge& merge : merges) {
      results_.push_back(merge.result);
    }
    results_.push_back(0);  // never empty, so that result() knows
  }
  std::vector<bool> passed(vocabulary_->id_limit());  // tokens whose merges have come
  has_splits_ = groups.size() < merges.size() && each_token_once(merges, groups, passed.size());
  const auto is_later = [&](uint32_t part) {
    return !passed[part] && vocabulary_->bytes(part).size() > 1;
  };
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i + kAhead < groups.size()) {
      const Merge& merge = merges[groups[i + kAhead].first];
      ranks_.prefetch(merge.left, merge.right);
    }
    const uint32_t first = groups[i].first;
    const uint32_t end = first + groups[i].size;
    const auto rank_of = [&](uint32_t place) {
      return rank_is_result ? merges[place].result : place;
    };
    uint32_t kept = end;
    for (uint32_t place = end; has_splits_ && kept == end && place-- > first;) {
      const auto& [left, right, result] = merges[place];
      has_splits_ = !is_later(left) && !is_later(right);
      if (has_splits_ && splits_[left].reachable && splits_[right].reachable &&
          stay_apart(ranks_, splits_, left, right)) {
        kept = place;
      }
    }
    if (kept != end) {
      add_pair(merges[kept], rank_of(kept), true);
    }
    for (uint32_t place = first; !has_splits_ && place < end; ++place) {
      add_pair(merges[place], rank_of(place), false);
    }
    if (!has_splits_ && rank_is_result && end - first > 1) {
      return false;
    }
    passed[merges[first].result] = true;
  }
  return true;
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
  for (uint32_t index = 0; index < first_ranks_.size(); ++index) {
    const char bytes[2] = {static_cast<char>(index & 0xFF), static_cast<char>(index >> 8)};
    const uint32_t left = byte_ids_[static_cast<uint8_t>(bytes[0])];
    const uint32_t right = byte_ids_[static_cast<uint8_t>(bytes[1])];
    first_ranks_[first_rank_index(bytes)] = left == Vocabulary::kNone || right == Vocabulary::kNone
                                                ? kNoRank
                                                : ranks_.find(left, right);
  }
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

}  // namespace netcl::text
