// SPDX-License-Identifier: Apache-2.0
#include "text/pair_merger.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/pair_census.h"

namespace netcl::text {

template <typename Symbol>
PairMerger<Symbol>::PairMerger(SymbolText<Symbol>& text, uint32_t symbol_limit,
                               const PairMergerLimits& limits)
    : text_(text),
      max_token_length_(limits.max_token_length),
      least_garbage_(limits.least_garbage),
      census_pairs_(limits.census_pairs),
      side_memory_(2 * (size_t{symbol_limit} + 2) * sizeof(Side)),
      left_(static_cast<Side*>(side_memory_.data())),
      right_(left_ + symbol_limit + 2) {
  matches_.reserve(kMostMatches);
}

// Pairs whose left symbol is in the range: sums, then records, then lists.
template <typename Symbol>
template <typename Census>
uint64_t PairMerger<Symbol>::count_range(uint32_t first_left, uint32_t end_left) {
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
      if (lists_wanted_) {
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
  if (lists_wanted_) {
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
uint64_t PairMerger<Symbol>::count_all(uint64_t threshold, bool lists) {
  records_.clear();
  lists_.shrink(0);
  live_units_ = 0;
  if (4 * free_slots_ > text_.slot_count()) {
    compact_text();
  }
  threshold_ = threshold;
  lists_wanted_ = lists;
  constexpr uint32_t kBytes = 256;
  if (symbol_count() <= kBytes) {
    return count_range<BytePairCensus>(0, kBytes);
  }
  std::vector<uint64_t> pairs(symbol_count());
  text_.for_each_pair([&](uint32_t, uint32_t left, uint32_t, uint64_t) { ++pairs[left]; });
  const uint64_t most = std::max<uint64_t>(census_pairs_, text_.slot_count() / 8);
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

// Calls take(position) for the positions of a list for which keep(position) is true, decoded in
// blocks so that the slots of the next block are on their way while one is worked on.
template <typename Symbol>
template <typename Keep, typename Take>
void PairMerger<Symbol>::walk_list(uint64_t begin, uint64_t units, const Keep& keep,
                                   const Take& take) {
  const uint16_t* at = lists_.data() + begin;
  const uint16_t* const end = at + units;
  const Symbol* const slots = text_.slots();
  uint32_t position = 0;
  std::array<std::array<uint32_t, kBlock>, 2> blocks;
  const auto decode = [&](std::array<uint32_t, kBlock>& block) {
    size_t count = 0;
    while (at < end && count < kBlock) {
      uint32_t difference = 0;
      at = PositionLists::read(at, difference);
      position += difference;
      block[count++] = position;
      __builtin_prefetch(slots + position, 1);
    }
    return count;
  };
  size_t current = 0;
  size_t count = decode(blocks[0]);
  while (count > 0) {
    const size_t next_count = decode(blocks[1 - current]);
    std::array<uint32_t, kBlock>& block = blocks[current];
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t slot = block[i];
      block[kept] = slot;
      kept += keep(slot) ? 1 : 0;
    }
    for (size_t i = 0; i < kept; ++i) {
      take(block[i]);
    }
    current = 1 - current;
    count = next_count;
  }
}

// Calls take(position) wherever a token of `left` ends right before one of `right`. Slots inside
// tokens hold inside(), and a token of `left` has not two slots when right is left, so two slots
// tell. The loop over a block compiles to vector instructions.
template <typename Symbol>
template <typename Take>
void PairMerger<Symbol>::scan(Symbol left, Symbol right, const Take& take) {
  constexpr size_t kScanBlock = 32;
  const Symbol* const slots = text_.slots();
  const uint32_t back = text_.length(left) - 1;
  for (size_t begin = 0; begin + 1 < text_.slot_count(); begin += kScanBlock) {
    const Symbol* const block = slots + begin;
    Symbol any = 0;
    for (size_t i = 0; i < kScanBlock; ++i) {
      const bool both = (block[i] == left) & (block[i + 1] == right);
      any = static_cast<Symbol>(any | (both ? 1 : 0));
    }
    if (any == 0) {
      continue;
    }
    for (size_t i = 0; i < kScanBlock; ++i) {
      if (block[i] == left && block[i + 1] == right) {
        take(static_cast<uint32_t>(begin + i) - back);
      }
    }
  }
}

// First pass of a merge: writes the new symbols and sums up what becomes of the pairs that the
// occurrences have with their neighbours. An occurrence whose right neighbour is the next
// occurrence is known as such only then, so the right side is summed up one occurrence later.
template <typename Symbol>
template <bool kScan>
void PairMerger<Symbol>::replace(const PairRecord& pair, Symbol merged) {
  const Symbol left = static_cast<Symbol>(pair.left);
  const Symbol right = static_cast<Symbol>(pair.right);
  Symbol* const slots = text_.slots();
  const uint32_t left_length = text_.length(left);
  const uint32_t length = left_length + text_.length(right);
  typename SymbolText<Symbol>::Weights weights(text_);
  const Symbol inside = text_.inside();
  uint32_t last = 0;  // occurrence; 0: none yet
  uint32_t last_end = 0;
  uint64_t last_weight = 0;
  const auto add_right = [&] {
    const Symbol neighbour = slots[last_end];
    Side& side = right_[neighbour];
    if (side.units == 0) {
      seen_right_.push_back(neighbour);
    }
    side.add(last, last_weight);
  };
  const auto take = [&](uint32_t at) {
    if (left == right && at < last_end) {
      return;  // it begins inside the occurrence before
    }
    const uint64_t weight = weights.at(at);
    if (at == last_end) {
      doubled_.add(last, weight);
    } else {
      if (last != 0) {
        add_right();
      }
      const Symbol neighbour = slots[at - 1];
      Side& side = left_[neighbour];
      if (side.units == 0) {
        seen_left_.push_back(neighbour);
      }
      side.add(at - text_.length(neighbour), weight);
    }
    if constexpr (kScan) {
      if (left_length > 1) {
        slots[at + left_length - 1] = inside;
      }
    }
    slots[at + left_length] = inside;
    slots[at] = merged;
    slots[at + length - 1] = merged;
    last = at;
    last_end = at + length;
    last_weight = weight;
    if (!kScan && match_count_ < kMostMatches) {
      matches_.push_back(at);
    }
    ++match_count_;
  };
  if constexpr (kScan) {
    scan(left, right, take);
  } else {
    walk_list(
        pair.list_begin, pair.list_units,
        [&](uint32_t at) { return (slots[at] == left) & (slots[at + left_length] == right); },
        take);
  }
  if (last != 0) {
    add_right();
  }
}

template <typename Symbol>
void PairMerger<Symbol>::merge(uint32_t index, uint32_t merged, std::vector<uint32_t>& created) {
  const PairRecord pair = records_[index];
  erase(index);
  matches_.clear();
  match_count_ = 0;
  if (lists_wanted_) {
    replace<false>(pair, static_cast<Symbol>(merged));
  } else {
    const bool ambiguous = pair.left == pair.right && text_.length(pair.left) == 2;  // see scan()
    if (ambiguous || 4 * free_slots_ > text_.slot_count()) {
      compact_text();
    }
    replace<true>(pair, static_cast<Symbol>(merged));
  }
  text_.set_length(merged, text_.length(pair.left) + text_.length(pair.right));
  free_slots_ += match_count_;
  const size_t before = created.size();
  settle(pair, merged, created);
  if (lists_wanted_ && created.size() > before) {
    write_positions(pair, static_cast<Symbol>(merged));
  }
  for (const Symbol symbol : seen_left_) {
    left_[symbol] = {};
  }
  for (const Symbol symbol : seen_right_) {
    right_[symbol] = {};
  }
  seen_left_.clear();
  seen_right_.clear();
  doubled_ = {};
  if (lists_.used() > 2 * live_units_ + least_garbage_) {
    compact_lists();
  }
}

// Takes the sums off the old pairs and makes records of the new ones.
template <typename Symbol>
void PairMerger<Symbol>::settle(const PairRecord& pair, uint32_t merged,
                                std::vector<uint32_t>& created) {
  const auto is_same = [&](uint32_t left, uint32_t right) {
    return left == pair.left && right == pair.right;
  };
  for (const Symbol symbol : seen_left_) {
    Side& side = left_[symbol];
    if (symbol != text_.separator()) {
      if (!is_same(symbol, pair.left)) {
        lose(symbol, pair.left, side.weight);
      }
      side.weight = create(symbol, merged, side, created);
    } else {
      side.weight = kNoList;
    }
    side.last = 0;
  }
  for (const Symbol symbol : seen_right_) {
    Side& side = right_[symbol];
    if (symbol != text_.separator()) {
      if (!is_same(pair.right, symbol)) {
        lose(pair.right, symbol, side.weight);
      }
      side.weight = create(merged, symbol, side, created);
    } else {
      side.weight = kNoList;
    }
    side.last = 0;
  }
  if (doubled_.units > 0) {
    if (pair.left != pair.right) {
      lose(pair.right, pair.left, doubled_.weight);
    }
    doubled_.weight = create(merged, merged, doubled_, created);
    doubled_.last = 0;
  }
}

template <typename Symbol>
void PairMerger<Symbol>::lose(uint32_t left, uint32_t right, uint64_t weight) {
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
void PairMerger<Symbol>::erase(uint32_t index) {
  live_units_ -= records_[index].list_units;
  records_.erase(index);
}

template <typename Symbol>
void PairMerger<Symbol>::compact_text() {
  text_.compact();
  free_slots_ = 0;
}

// Where the positions of the new pair go, or kNoList.
template <typename Symbol>
uint64_t PairMerger<Symbol>::create(uint32_t left, uint32_t right, const Side& sum,
                                    std::vector<uint32_t>& created) {
  if (sum.weight < threshold_ || !may_merge(left, right)) {
    return kNoList;
  }
  PairRecord record{left, right, sum.weight, 0, 0, sum.weight};
  if (lists_wanted_) {
    record.list_begin = lists_.allot(sum.units);
    record.list_units = sum.units;
    live_units_ += sum.units;
  }
  created.push_back(records_.insert(record));
  return lists_wanted_ ? record.list_begin : kNoList;
}

template <typename Symbol>
void PairMerger<Symbol>::write_position(Side& side, uint32_t position) {
  if (side.weight != kNoList) {
    uint16_t* const units = lists_.data();
    side.weight = static_cast<uint64_t>(
        PositionLists::write(units + side.weight, position - side.last) - units);
    side.last = position;
  }
}

// Second pass of a merge: the positions of the new pairs. When there were too many occurrences to
// remember, they are found again: a position of the pair's list now holds the new symbol, in its
// first slot unless an occurrence before it reaches there.
template <typename Symbol>
void PairMerger<Symbol>::write_positions(const PairRecord& pair, Symbol merged) {
  const Symbol* const slots = text_.slots();
  const uint32_t length = text_.length(merged);
  uint32_t last_end = 0;
  const auto write = [&](uint32_t at) {
    if (at < last_end) {
      return;
    }
    const Symbol before = slots[at - 1];
    if (before == merged) {
      write_position(doubled_, at - length);
    } else {
      write_position(left_[before], at - text_.length(before));
    }
    last_end = at + length;
    const Symbol after = slots[last_end];
    if (after != merged) {
      write_position(right_[after], at);
    }
  };
  if (match_count_ <= kMostMatches) {
    for (const uint32_t at : matches_) {
      write(at);
    }
  } else {
    walk_list(
        pair.list_begin, pair.list_units, [&](uint32_t at) { return slots[at] == merged; }, write);
  }
}

// Moves all lists to the front of the buffer. Those of which more than a quarter is likely stale
// lose the stale positions.
template <typename Symbol>
void PairMerger<Symbol>::compact_lists() {
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
uint64_t PairMerger<Symbol>::filter_list(PairRecord& record, uint64_t to) {
  const Symbol* const slots = text_.slots();
  const uint32_t left_length = text_.length(record.left);
  uint16_t* const units = lists_.data();
  uint16_t* end = units + to;
  uint32_t last = 0;
  walk_list(
      record.list_begin, record.list_units,
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

template class PairMerger<uint16_t>;
template class PairMerger<uint32_t>;

}  // namespace netcl::text
