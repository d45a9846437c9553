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
  if (weight < threshold_) {
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

template <typename Symbol>
void PairStore<Symbol>::count_bytes() {
  BytePairCensus census;
  text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t weight) {
    census.at(left, right).add(at, weight);
  });
  census.for_each(
      [&](uint32_t left, uint32_t right, PairSum& sum) { record_sum(left, right, sum); });
  if (has_lists_) {
    text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t) {
      write_position(census.at(left, right), at);
    });
  }
}

// Pairs whose left symbol is in [first, end): their positions sorted by it, then the pairs of each
// left symbol by themselves, with sums by right symbol. `counts`: positions of each left symbol.
template <typename Symbol>
void PairStore<Symbol>::count_range(uint32_t first, uint32_t end,
                                    const std::vector<uint64_t>& counts) {
  constexpr size_t kAhead = 16;  // positions whose slots are fetched beforehand
  std::vector<uint64_t> next(end - first);
  std::exclusive_scan(counts.begin() + first, counts.begin() + end, next.begin(), uint64_t{0});
  base::BigVector<uint32_t> positions(next.back() + counts[end - 1]);
  text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t, uint64_t) {
    if (left - first < end - first) {
      positions[next[left - first]++] = at;
    }
  });
  const Symbol* const slots = text_.slots();
  std::vector<PairSum> sums(symbol_count());
  std::vector<Symbol> seen;
  for (uint32_t left = first; left < end; ++left) {
    const uint64_t list_end = next[left - first];
    const uint64_t list_begin = list_end - counts[left];
    const uint32_t length = text_.length(left);
    typename SymbolText<Symbol>::Weights weights(text_);
    for (uint64_t i = list_begin; i < list_end; ++i) {
      __builtin_prefetch(slots + positions[std::min(i + kAhead, list_end - 1)] + length);
      const Symbol right = slots[positions[i] + length];
      if (sums[right].units == 0) {
        seen.push_back(right);
      }
      sums[right].add(positions[i], weights.at(positions[i]));
    }
    const size_t before = records_.size();
    for (const Symbol right : seen) {
      record_sum(left, right, sums[right]);
    }
    for (uint64_t i = list_begin; i < list_end && has_lists_ && records_.size() > before; ++i) {
      __builtin_prefetch(slots + positions[std::min(i + kAhead, list_end - 1)] + length);
      write_position(sums[slots[positions[i] + length]], positions[i]);
    }
    for (const Symbol right : seen) {
      sums[right] = {};
    }
    seen.clear();
  }
}

// Ranges of left symbols that have so few pairs together that their positions take little memory.
template <typename Symbol>
uint64_t PairStore<Symbol>::count_all(uint64_t threshold, bool lists) {
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
  const uint64_t most = std::max<uint64_t>(limits_.census_pairs, text_.slot_count() / 8);
  for (uint32_t first = 0; first < counts.size();) {
    uint32_t end = first;
    for (uint64_t sum = 0; end < counts.size() && (end == first || sum + counts[end] <= most);) {
      sum += counts[end++];
    }
    count_range(first, end, counts);
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
  if (record.count < threshold_) {
    erase(index);
  }
}

template <typename Symbol>
uint64_t PairStore<Symbol>::create(uint32_t left, uint32_t right, uint64_t weight, uint64_t units,
                                   std::vector<uint32_t>& created) {
  if (weight < threshold_ || !may_merge(left, right)) {
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
