// SPDX-License-Identifier: Apache-2.0
#include "text/pair_store.h"

#include <algorithm>
#include <numeric>

#include "base/big_buffer.h"
#include "base/error.h"

namespace netcl::text {

// A record with room for its positions, if the pair is frequent enough. Afterwards sum.weight is
// where its positions go, or kNoList.
template <typename Symbol>
void PairStore<Symbol>::record_sum(uint32_t left, uint32_t right, PairSum& sum) {
  const uint64_t weight = sum.weight;
  sum.last = 0;
  sum.weight = kNoList;
  if (!may_merge(left, right)) {
    return;
  }
  if (!is_frequent(left, weight)) {
    highest_below_ = std::max(highest_below_, weight);
    return;
  }
  if (is_full_ || !has_room(has_lists_ ? sum.units : 0)) {
    is_full_ = true;
    highest_below_ = std::max(highest_below_, weight);
    return;
  }
  PairRecord record{left, right, weight, 0, 0, weight};
  if (has_lists_) {
    record.list_begin = lists_.allot(sum.units);
    record.list_units = sum.units;
    live_units_ += live_units(record);
    sum.weight = record.list_begin;
  }
  records_.insert(record);
}

template <typename Symbol>
void PairStore<Symbol>::write_position(PairSum& sum, uint32_t position) {
  if (sum.weight != kNoList) {
    uint16_t* const units = lists_.data();
    sum.weight = static_cast<uint64_t>(
        PositionLists::write(units + sum.weight, position - sum.last) - units);
    sum.last = position;
  }
}

// Leaves the pairs of `left` and of all later symbols without records; those of `left` came from
// `first_record` on, with lists from `list_begin` on.
template <typename Symbol>
void PairStore<Symbol>::cut_ties(uint32_t left, uint32_t first_record, uint64_t list_begin) {
  for (uint32_t index = first_record; index < records_.index_limit(); ++index) {
    erase(index);
  }
  lists_.shrink(list_begin);
  highest_below_ = threshold_;
  tie_limit_ = left;
  is_full_ = false;
}

template <typename Symbol>
void PairStore<Symbol>::count_bytes() {
  BytePairCensus census;
  text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t weight) {
    census.at(left, right).add(at, weight);
  });
  for (uint32_t left = 0; left < kBytes; ++left) {
    const uint32_t first_record = records_.index_limit();
    const uint64_t list_begin = lists_.used();
    for (uint32_t right = 0; right < kBytes; ++right) {
      if (census.at(left, right).units > 0) {
        record_sum(left, right, census.at(left, right));
      }
    }
    if (is_full_ && may_cut_ties_) {
      cut_ties(left, first_record, list_begin);
      for (uint32_t right = 0; right < kBytes; ++right) {
        census.at(left, right).weight = kNoList;
      }
    }
  }
  if (has_lists_) {
    text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t) {
      write_position(census.at(left, right), at);
    });
  }
}

// The pairs of one left symbol by themselves, with sums by right symbol. `walk` calls its argument
// with position, right symbol and weight of each occurrence, in order.
template <typename Symbol>
template <typename Walk>
void PairStore<Symbol>::count_left(uint32_t left, const Walk& walk, LeftSums& left_sums) {
  std::vector<PairSum>& sums = left_sums.sums;
  std::vector<Symbol>& seen = left_sums.seen;
  walk([&](uint32_t at, Symbol right, uint64_t weight) {
    if (sums[right].units == 0) {
      seen.push_back(right);
    }
    sums[right].add(at, weight);
  });
  const uint32_t first_record = records_.index_limit();
  const uint64_t list_begin = lists_.used();
  for (const Symbol right : seen) {
    record_sum(left, right, sums[right]);
  }
  if (is_full_ && may_cut_ties_) {
    cut_ties(left, first_record, list_begin);
  } else if (has_lists_ && records_.index_limit() > first_record) {
    walk([&](uint32_t at, Symbol right, uint64_t) { write_position(sums[right], at); });
  }
  for (const Symbol right : seen) {
    sums[right] = {};
  }
  seen.clear();
}

// Pairs whose left symbol is in [first, end): their positions sorted by it, then one left symbol
// after the other. `counts`: positions of each left symbol.
template <typename Symbol>
void PairStore<Symbol>::count_range(uint32_t first, uint32_t end,
                                    const std::vector<uint64_t>& counts, LeftSums& sums) {
  constexpr size_t kAhead = 16;  // positions whose slots are fetched beforehand
  std::vector<uint64_t> next(end - first);
  std::exclusive_scan(counts.begin() + first, counts.begin() + end, next.begin(), uint64_t{0});
  base::BigVector<uint32_t> positions(next.back() + counts[end - 1]);
  census_bytes_ = positions.size() * sizeof(uint32_t);
  text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t, uint64_t) {
    if (left - first < end - first) {
      positions[next[left - first]++] = at;
    }
  });
  const Symbol* const slots = text_.slots();
  for (uint32_t left = first; left < end; ++left) {
    const uint64_t list_end = next[left - first];
    const uint64_t list_begin = list_end - counts[left];
    const uint32_t length = text_.length(left);
    count_left(
        left,
        [&](const auto& use) {
          typename SymbolText<Symbol>::Weights weights(text_);
          for (uint64_t i = list_begin; i < list_end; ++i) {
            __builtin_prefetch(slots + positions[std::min(i + kAhead, list_end - 1)] + length);
            use(positions[i], slots[positions[i] + length], weights.at(positions[i]));
          }
        },
        sums);
  }
  census_bytes_ = 0;
}

// Ranges of left symbols that have so few pairs together that their positions take little memory.
template <typename Symbol>
uint64_t PairStore<Symbol>::count_all(uint64_t threshold, bool lists, bool may_cut_ties) {
  is_full_ = false;
  may_cut_ties_ = may_cut_ties;
  tie_limit_ = UINT32_MAX;
  records_.clear();
  lists_.shrink(0);
  live_units_ = 0;
  threshold_ = threshold;
  has_lists_ = lists;
  highest_below_ = 0;
  if (symbol_count() <= kBytes) {
    count_bytes();
    return highest_below_;
  }
  std::vector<uint64_t> counts(symbol_count());
  text_.for_each_pair([&](uint32_t, uint32_t left, uint32_t, uint64_t) { ++counts[left]; });
  const uint64_t most =
      census_pairs(text_.slot_count(), limits_.memory == 0 ? limits_.census_pairs : kLeastCensus);
  LeftSums sums{std::vector<PairSum>(symbol_count()), {}};
  for (uint32_t first = 0; first < counts.size();) {
    if (counts[first] > most) {  // few symbols have so many: a walk over the text each
      count_left(
          first,
          [&](const auto& use) {
            text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t weight) {
              if (left == first) {
                use(at, static_cast<Symbol>(right), weight);
              }
            });
          },
          sums);
      ++first;
      continue;
    }
    uint32_t end = first;
    for (uint64_t sum = 0; end < counts.size() && sum + counts[end] <= most;) {
      sum += counts[end++];
    }
    count_range(first, end, counts, sums);
    first = end;
  }
  return highest_below_;
}

template <typename Symbol>
void PairStore<Symbol>::lose(uint32_t left, uint32_t right, uint64_t weight) {
  const uint32_t index = records_.find(left, right);
  if (index == PairRecords::kNone) {
    return;
  }
  PairRecord& record = records_[index];
  NETCL_CHECK(record.count >= weight);
  live_units_ -= live_units(record);
  record.count -= weight;
  live_units_ += live_units(record);
  if (!is_frequent(left, record.count)) {
    erase(index);
  }
}

template <typename Symbol>
uint64_t PairStore<Symbol>::create(uint32_t left, uint32_t right, uint64_t weight, uint64_t units,
                                   std::vector<uint32_t>& created) {
  if (!is_frequent(left, weight) || !may_merge(left, right)) {
    return kNoList;
  }
  if (is_full_ || !has_room(has_lists_ ? units : 0)) {
    is_full_ = true;
    return kNoList;
  }
  PairRecord record{left, right, weight, 0, 0, weight};
  if (has_lists_) {
    record.list_begin = lists_.allot(units);
    record.list_units = units;
    live_units_ += live_units(record);
  }
  created.push_back(records_.insert(record));
  return has_lists_ ? record.list_begin : kNoList;
}

// Lists of which more than a quarter is likely stale lose the stale positions.
template <typename Symbol>
void PairStore<Symbol>::compact_lists() {
  const double used = static_cast<double>(lists_.used());
  if (used <= 2 * live_units_ + static_cast<double>(limits_.least_garbage)) {
    return;
  }
  std::vector<uint32_t> order;
  for (uint32_t index = 0; index < records_.index_limit(); ++index) {
    if (records_[index].list_units > 0) {
      order.push_back(index);
    }
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return records_[a].list_begin < records_[b].list_begin;
  });
  uint64_t to = 0;
  live_units_ = 0;
  for (const uint32_t index : order) {
    PairRecord& record = records_[index];
    if (record.count < record.list_count - record.list_count / 4) {
      to = filter_list(record, to);
    } else {
      uint16_t* const units = lists_.data();
      std::copy_n(units + record.list_begin, record.list_units, units + to);
      record.list_begin = to;
      to += record.list_units;
    }
    live_units_ += live_units(record);
  }
  lists_.shrink(to);
}

// Writes the positions that hold the pair from unit `to` on, which is no later than the list, and
// returns the unit behind the last. A sum of differences takes no more units than they do.
template <typename Symbol>
uint64_t PairStore<Symbol>::filter_list(PairRecord& record, uint64_t to) {
  const Symbol* const slots = text_.slots();
  const uint32_t left_length = text_.length(record.left);
  uint16_t* const units = lists_.data();
  uint16_t* end = units + to;
  uint32_t last = 0;
  walk_list(
      record,
      [&](uint32_t at) {
        return (slots[at] == record.left) & (slots[at + left_length] == record.right);
      },
      [&](uint32_t at) {
        end = PositionLists::write(end, at - last);
        last = at;
      });
  record.list_begin = to;
  record.list_units = static_cast<uint64_t>(end - units) - to;
  record.list_count = record.count;
  return to + record.list_units;
}

template class PairStore<uint16_t>;
template class PairStore<uint32_t>;

}  // namespace netcl::text
