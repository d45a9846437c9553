// SPDX-License-Identifier: Apache-2.0
#include "text/merge_learner.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "text/pair_map.h"

namespace netcl::text {

namespace {

constexpr uint32_t kSeparator = UINT32_MAX;      // between words
constexpr uint32_t kSwallowed = UINT32_MAX - 1;  // first slot of a token that was merged leftwards
constexpr uint64_t kProgressStep = 64;

struct Pair {
  uint32_t left = 0;
  uint32_t right = 0;
  uint64_t count = 0;
  std::vector<uint32_t> positions;  // of the left token's first slot; may hold stale ones
  bool grew = false;                // by the merge under way
};

// Heap order: the highest count first, then the smallest (left, right).
struct Candidate {
  uint64_t count = 0;
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t pair = 0;
};
struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) {
      return a.count < b.count;
    }
    return a.left != b.left ? a.left > b.left : a.right > b.right;
  }
};

class Learner {
 public:
  Learner(const WordCounts& words, const LearnRequest& request)
      : request_(request), first_id_(request.first_byte_id) {
    for (const uint8_t byte : request.bytes_in_order) {
      add_token(std::string(1, static_cast<char>(byte)));
    }
    lay_out(words);
    count_pairs();
  }

  LearnedMerges run(const base::ProgressFn& progress);

 private:
  // Words with the same count lie together: slots [begin, next begin) weigh `count`.
  struct Segment {
    uint32_t begin = 0;
    uint64_t count = 0;
  };

  uint32_t add_token(std::string bytes) {
    const auto [place, is_new] =
        id_of_.emplace(std::move(bytes), first_id_ + static_cast<uint32_t>(lengths_.size()));
    if (is_new) {
      lengths_.push_back(static_cast<uint32_t>(place->first.size()));
      bytes_of_.push_back(&place->first);
    }
    return place->second;
  }
  uint32_t length(uint32_t id) const { return lengths_[id - first_id_]; }
  const std::string& bytes(uint32_t id) const { return *bytes_of_[id - first_id_]; }

  // Weight of a position; ascending positions cost one comparison each.
  uint64_t weight(uint32_t position) {
    if (position < segments_[segment_].begin || position >= segments_[segment_ + 1].begin) {
      const auto after =
          std::upper_bound(segments_.begin(), segments_.end(), position,
                           [](uint32_t at, const Segment& segment) { return at < segment.begin; });
      segment_ = static_cast<size_t>(after - segments_.begin()) - 1;
    }
    return segments_[segment_].count;
  }

  Pair& pair_of(uint32_t left, uint32_t right) {
    uint32_t& index = index_.at(left, right);
    if (index == PairMap::kNone) {
      index = static_cast<uint32_t>(pairs_.size());
      pairs_.push_back({left, right, 0, {}, false});
    }
    return pairs_[index];
  }

  void lay_out(const WordCounts& words);
  void count_pairs();
  void push(uint32_t pair);
  void gain(uint32_t left, uint32_t right, uint32_t position, uint64_t count);
  void lose(uint32_t left, uint32_t right, uint64_t count);
  void merge(uint32_t pair, uint32_t merged);
  uint64_t count_tokens();

  const LearnRequest& request_;
  const uint32_t first_id_;
  std::unordered_map<std::string, uint32_t> id_of_;
  std::vector<const std::string*> bytes_of_;  // keys of id_of_, which do not move
  std::vector<uint32_t> lengths_;
  std::vector<uint32_t> slots_;
  std::vector<Segment> segments_;  // ends with one that begins past the last slot
  size_t segment_ = 0;
  uint64_t one_byte_count_ = 0;
  PairMap index_;
  std::vector<Pair> pairs_;
  std::vector<uint32_t> grown_;  // pairs whose count rose in the merge under way
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> heap_;
};

void Learner::lay_out(const WordCounts& words) {
  std::vector<uint32_t> order;
  uint64_t slot_count = 1;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words.word(i).size() > 1) {
      order.push_back(static_cast<uint32_t>(i));
      slot_count += words.word(i).size() + 1;
    } else {
      one_byte_count_ += words.count(i);
    }
  }
  if (slot_count >= kSwallowed) {
    throw base::UsageError("the distinct pre-tokens of the corpus have more than 2^32 - 2 bytes");
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return words.count(a) != words.count(b) ? words.count(a) > words.count(b) : a < b;
  });
  std::array<uint32_t, 256> ids{};
  for (uint32_t place = 0; place < ids.size(); ++place) {
    ids[request_.bytes_in_order[place]] = first_id_ + place;
  }
  slots_.reserve(slot_count);
  slots_.push_back(kSeparator);
  for (const uint32_t word : order) {
    if (segments_.empty() || segments_.back().count != words.count(word)) {
      segments_.push_back({static_cast<uint32_t>(slots_.size()), words.count(word)});
    }
    for (const char byte : words.word(word)) {
      slots_.push_back(ids[static_cast<uint8_t>(byte)]);
    }
    slots_.push_back(kSeparator);
  }
  segments_.push_back({static_cast<uint32_t>(slots_.size()), 0});
}

void Learner::count_pairs() {
  for (uint32_t at = 1; at + 1 < slots_.size(); ++at) {
    if (slots_[at] != kSeparator && slots_[at + 1] != kSeparator) {
      Pair& pair = pair_of(slots_[at], slots_[at + 1]);
      pair.count += weight(at);
      pair.positions.push_back(at);
    }
  }
  for (uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    push(pair);
  }
}

void Learner::push(uint32_t pair) {
  const Pair& p = pairs_[pair];
  const uint64_t joined = uint64_t{length(p.left)} + length(p.right);
  if (p.count >= request_.min_frequency &&
      (request_.max_token_length == 0 || joined <= request_.max_token_length)) {
    heap_.push({p.count, p.left, p.right, pair});
  }
}

void Learner::gain(uint32_t left, uint32_t right, uint32_t position, uint64_t count) {
  Pair& pair = pair_of(left, right);
  pair.count += count;
  pair.positions.push_back(position);
  if (!pair.grew) {
    pair.grew = true;
    grown_.push_back(static_cast<uint32_t>(&pair - pairs_.data()));
  }
}

void Learner::lose(uint32_t left, uint32_t right, uint64_t count) {
  const uint32_t index = index_.find(left, right);
  NETCL_CHECK(index != PairMap::kNone && pairs_[index].count >= count);
  pairs_[index].count -= count;
}

// Replaces every occurrence of the pair, left to right.
void Learner::merge(uint32_t pair, uint32_t merged) {
  const uint32_t left = pairs_[pair].left;
  const uint32_t right = pairs_[pair].right;
  std::vector<uint32_t> positions = std::move(pairs_[pair].positions);
  pairs_[pair].positions.clear();
  if (!std::is_sorted(positions.begin(), positions.end())) {  // an id that was reused
    std::sort(positions.begin(), positions.end());
  }
  const uint32_t left_length = length(left);
  const uint32_t merged_length = length(merged);
  for (const uint32_t at : positions) {
    if (slots_[at] != left || slots_[at + left_length] != right) {
      continue;
    }
    const uint64_t count = weight(at);
    const uint32_t before = slots_[at - 1];
    const uint32_t after = slots_[at + merged_length];
    lose(left, right, count);
    slots_[at + left_length] = kSwallowed;
    slots_[at] = merged;
    slots_[at + merged_length - 1] = merged;
    if (before != kSeparator) {
      lose(before, left, count);
      gain(before, merged, at - length(before), count);
    }
    if (after != kSeparator) {
      lose(right, after, count);
      gain(merged, after, at, count);
    }
  }
  for (const uint32_t grown : grown_) {
    pairs_[grown].grew = false;
    push(grown);
  }
  grown_.clear();
}

// Words of one byte, which have no slots, and what the slots hold now.
uint64_t Learner::count_tokens() {
  uint64_t count = one_byte_count_;
  for (uint32_t at = 1; at < slots_.size();) {
    if (slots_[at] == kSeparator) {
      ++at;
    } else {
      count += weight(at);
      at += length(slots_[at]);
    }
  }
  return count;
}

LearnedMerges Learner::run(const base::ProgressFn& progress) {
  LearnedMerges learned;
  learned.stopped = StopReason::kVocabSize;
  const uint64_t wanted = request_.token_limit - lengths_.size();
  while (lengths_.size() < request_.token_limit) {
    while (!heap_.empty() && heap_.top().count != pairs_[heap_.top().pair].count) {
      const uint32_t pair = heap_.top().pair;
      heap_.pop();
      push(pair);
    }
    if (heap_.empty()) {
      const bool some_left = std::any_of(pairs_.begin(), pairs_.end(),
                                         [](const Pair& pair) { return pair.count > 0; });
      learned.stopped = some_left ? StopReason::kMinFrequency : StopReason::kNoPairs;
      break;
    }
    const Candidate best = heap_.top();
    heap_.pop();
    const uint32_t merged = add_token(bytes(best.left) + bytes(best.right));
    learned.merges.push_back({best.left, best.right, merged});
    learned.first_count = learned.merges.size() == 1 ? best.count : learned.first_count;
    learned.last_count = best.count;
    merge(best.pair, merged);
    if (progress && learned.merges.size() % kProgressStep == 0) {
      progress({"merge", "merges", lengths_.size() - (request_.token_limit - wanted), wanted});
    }
  }
  if (progress) {
    progress({"merge", "merges", lengths_.size() - (request_.token_limit - wanted), wanted});
  }
  learned.token_count = count_tokens();
  for (const std::string* token : bytes_of_) {
    learned.tokens.push_back(*token);
  }
  return learned;
}

}  // namespace

LearnedMerges learn_merges(const WordCounts& words, const LearnRequest& request,
                           const base::ProgressFn& progress) {
  return Learner(words, request).run(progress);
}

}  // namespace netcl::text
