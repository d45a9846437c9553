// SPDX-License-Identifier: Apache-2.0
#include "text/pair_store.h"

#include <algorithm>

#include "base/error.h"
#include "text/pair_census.h"

namespace netcl::text {

// Pairs whose left symbol is in the range: sums, then records, then lists.
template <typename Symbol>
template <typename Census>
uint64_t PairStore<Symbol>::count_range(uint32_t first_left, uint32_t end_left) {
  const uint32_t range = end_left - first_left;
  Census census;
  text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t weight) {
    if (left - first_left < range) {
      census.at(left, right).add(at, weight);
    }
  });
  uint64_t highest = 0;
  census.for_each([&](uint32_t left, uint32_t right, PairSum& sum) {
    const uint64_t weight = sum.weight;
    sum.last = 0;
    sum.weight = kNoList;
    if (weight >= threshold_ && may_merge(left, right)) {
      PairRecord record{left, right, weight, 0, 0, weight};
      if (has_lists_) {
        record.list_begin = lists_.allot(sum.units);
        record.list_units = sum.units;
        live_units_ += sum.units;
        sum.weight = record.list_begin;
      }
      records_.insert(record);
    } else if (may_merge(left, right)) {
      highest = std::max(highest, weight);
    }
  });
  if (has_lists_) {
    uint16_t* const units = lists_.data();
    text_.for_each_pair([&](uint32_t at, uint32_t left, uint32_t right, uint64_t) {
      if (left - first_left < range) {
        PairSum& sum = census.at(left, right);
        if (sum.weight != kNoList) {
          sum.weight = static_cast<uint64_t>(
              PositionLists::write(units + sum.weight, at - sum.last) - units);
          sum.last = at;
        }
      }
    });
  }
  return highest;
}

// Ranges of left symbols that have so few pairs together that the census stays small.
template <typename Symbol>
uint64_t PairStore<Symbol>::count_all(uint64_t threshold, bool lists) {
  records_.clear();
  lists_.shrink(0);
  live_units_ = 0;
  threshold_ = threshold;
  has_lists_ = lists;
  constexpr uint32_t kBytes = 256;
  if (symbol_count() <= kBytes) {
    return count_range<BytePairCensus>(0, kBytes);
  }
  std::vector<uint64_t> pairs(symbol_count());
  text_.for_each_pair([&](uint32_t, uint32_t left, uint32_t, uint64_t) { ++pairs[left]; });
  const uint64_t most = std::max<uint64_t>(limits_.census_pairs, text_.slot_count() / 8);
  uint64_t highest = 0;
  for (uint32_t first = 0; first < pairs.size();) {
    uint32_t end = first;
    for (uint64_t sum = 0; end < pairs.size() && (end == first || sum + pairs[end] <= most);) {
      sum += pairs[end++];
    }
    highest = std::max(highest, count_range<HashedPairCensus>(first, end));
    first = end;
  }
  return highest;
}

template <typename Symbol>
void PairStore<Symbol>::lose(uint32_t left, uint32_t right, uint64_t weight) {
  const uint32_t index = records_.find(left, right);
  if (index == PairRecords::kNone) {
    return;
  }
  PairRecord& record = records_[index];
  NETCL_CHECK(record.count >= weight);
  record.count -= weight;
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
    live_units_ += units;
  }
  created.push_back(records_.insert(record));
  return has_lists_ ? record.list_begin : kNoList;
}

// Lists of which more than a quarter is likely stale lose the stale positions.
template <typename Symbol>
void PairStore<Symbol>::compact_lists() {
  if (lists_.used() <= 2 * live_units_ + limits_.least_garbage) {
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
  for (const uint32_t index : order) {
    PairRecord& record = records_[index];
    if (record.count < record.list_count - record.list_count / 4) {
      to = filter_list(record, to);
      continue;
    }
    uint16_t* const units = lists_.data();
    std::copy_n(units + record.list_begin, record.list_units, units + to);
    record.list_begin = to;
    to += record.list_units;
  }
  live_units_ = to;
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
