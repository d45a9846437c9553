// SPDX-License-Identifier: Apache-2.0
#include "text/merge_selection.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace netcl::text {

size_t count_runs(std::span<const Merge> merges) {
  size_t count = merges.empty() ? 0 : 1;
  for (size_t i = 1; i < merges.size(); ++i) {
    count += merges[i].result != merges[i - 1].result ? 1 : 0;
  }
  return count;
}

MergeSelection::MergeSelection(const Vocabulary& vocabulary, std::span<const Merge> merges,
                               bool rank_is_result, const MergeBytes& merge_bytes, PairTable& ranks,
                               TokenSplits& splits)
    : vocabulary_(vocabulary),
      merges_(merges),
      rank_is_result_(rank_is_result),
      merge_bytes_(merge_bytes),
      ranks_(ranks),
      splits_(splits) {}

bool MergeSelection::run() {
  if (!find_tokens_to_make()) {
    return false;
  }
  constexpr uint32_t kAhead = 24;
  for (uint32_t first = 0, end = 0; first < merges_.size(); first = end) {
    for (; end < merges_.size() && merges_[end].result == merges_[first].result; ++end) {
      if (end + kAhead < merges_.size()) {
        ranks_.prefetch(merges_[end + kAhead].left, merges_[end + kAhead].right);
      }
    }
    choose(first, end);
  }
  return true;
}

// False where one is made in several places of the list.
bool MergeSelection::find_tokens_to_make() {
  to_make_.assign(vocabulary_.id_limit(), false);
  has_late_.assign(vocabulary_.id_limit(), false);
  for (size_t i = 0; i < merges_.size(); ++i) {
    const uint32_t token = merges_[i].result;
    if (i == 0 || token != merges_[i - 1].result) {
      if (to_make_[token]) {
        return false;
      }
      to_make_[token] = true;
    }
  }
  return true;
}

// Of the merges from `first` to `end`, which make one token. Most often it is the one whose parts
// are made first, so they are tried in that order.
void MergeSelection::choose(uint32_t first, uint32_t end) {
  const auto later_part = [&](uint32_t place) {
    return std::max(merges_[place].left, merges_[place].right);
  };
  candidates_.clear();
  for (uint32_t place = first; place < end; ++place) {
    candidates_.push_back(place);
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [&](uint32_t one, uint32_t other) { return later_part(one) < later_part(other); });
  for (const uint32_t place : candidates_) {
    if (is_done(merges_[place])) {
      add(place, false);
      if (!waiting_.empty()) {
        add_waiting(merges_[place].result);
      }
      return;
    }
  }
  bool waits = false;
  for (const uint32_t place : candidates_) {
    waits = wait(place) || waits;
  }
  to_make_[merges_[first].result] = waits;
}

uint32_t MergeSelection::rank_of(uint32_t place) const {
  return rank_is_result_ ? merges_[place].result : place;
}

// Once the merges have been added that merging comes to before this one.
bool MergeSelection::is_done(const Merge& merge) const {
  if (!splits_[merge.left].reachable || !splits_[merge.right].reachable) {
    return false;
  }
  if (has_late_[merge.left] || has_late_[merge.right]) {
    return merge_bytes_(vocabulary_.bytes(merge.result)) ==
           std::vector<uint32_t>{merge.left, merge.right};
  }
  return stay_apart(ranks_, splits_, merge.left, merge.right);
}

void MergeSelection::add(uint32_t place, bool is_late) {
  const auto& [left, right, result] = merges_[place];
  ranks_.set(left, right, rank_of(place));
  splits_[result] = {left, right, rank_of(place), true};
  to_make_[result] = false;
  has_late_[result] = is_late || has_late_[left] || has_late_[right];
}

// Until one of the parts is made that are not; false when there is none.
bool MergeSelection::wait(uint32_t place) {
  for (const uint32_t part : {merges_[place].left, merges_[place].right}) {
    if (to_make_[part]) {
      waiting_[part].push_back(place);
      return true;
    }
  }
  return false;
}

// What waited for `token`, which has been made, and for what that makes. The shortest first: what
// merging a token's bytes comes to depends on shorter tokens only.
void MergeSelection::add_waiting(uint32_t token) {
  using Entry = std::pair<size_t, uint32_t>;  // length of the token made, place
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto take_up = [&](uint32_t made) {
    const auto found = waiting_.find(made);
    if (found == waiting_.end()) {
      return;
    }
    for (const uint32_t place : found->second) {
      queue.emplace(vocabulary_.bytes(merges_[place].result).size(), place);
    }
    waiting_.erase(found);
  };
  take_up(token);
  while (!queue.empty()) {
    const uint32_t place = queue.top().second;
    queue.pop();
    const Merge& merge = merges_[place];
    if (splits_[merge.result].reachable) {
      continue;
    }
    if (is_done(merge)) {
      add(place, true);
      take_up(merge.result);
    } else {
      wait(place);
    }
  }
}

}  // namespace netcl::text
