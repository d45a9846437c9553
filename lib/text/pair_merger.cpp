// SPDX-License-Identifier: Apache-2.0
#include "text/pair_merger.h"

namespace netcl::text {

template <typename Symbol>
PairMerger<Symbol>::PairMerger(SymbolText<Symbol>& text, uint32_t symbol_limit,
                               const PairStoreLimits& limits)
    : text_(text),
      store_(text, limits),
      side_memory_(2 * (size_t{symbol_limit} + 2) * sizeof(Side)),
      left_(static_cast<Side*>(side_memory_.data())),
      right_(left_ + symbol_limit + 2) {
  matches_.reserve(kMostMatches);
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
    store_.walk_list(
        pair, [&](uint32_t at) { return (slots[at] == left) & (slots[at + left_length] == right); },
        take);
  }
  if (last != 0) {
    add_right();
  }
}

template <typename Symbol>
void PairMerger<Symbol>::merge(uint32_t index, uint32_t merged, std::vector<uint32_t>& created) {
  const PairRecord pair = store_.take(index);
  matches_.clear();
  match_count_ = 0;
  if (store_.has_lists()) {
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
  if (store_.has_lists() && created.size() > before) {
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
  store_.compact_lists();
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
        store_.lose(symbol, pair.left, side.weight);
      }
      side.weight = store_.create(symbol, merged, side.weight, side.units, created);
    } else {
      side.weight = PairStore<Symbol>::kNoList;
    }
    side.last = 0;
  }
  for (const Symbol symbol : seen_right_) {
    Side& side = right_[symbol];
    if (symbol != text_.separator()) {
      if (!is_same(pair.right, symbol)) {
        store_.lose(pair.right, symbol, side.weight);
      }
      side.weight = store_.create(merged, symbol, side.weight, side.units, created);
    } else {
      side.weight = PairStore<Symbol>::kNoList;
    }
    side.last = 0;
  }
  if (doubled_.units > 0) {
    if (pair.left != pair.right) {
      store_.lose(pair.right, pair.left, doubled_.weight);
    }
    doubled_.weight = store_.create(merged, merged, doubled_.weight, doubled_.units, created);
    doubled_.last = 0;
  }
}

template <typename Symbol>
uint64_t PairMerger<Symbol>::count_all(uint64_t threshold, bool lists, bool may_cut_ties) {
  if (4 * free_slots_ > text_.slot_count()) {
    compact_text();
  }
  return store_.count_all(threshold, lists, may_cut_ties);
}

template <typename Symbol>
void PairMerger<Symbol>::compact_text() {
  text_.compact();
  free_slots_ = 0;
}

template <typename Symbol>
void PairMerger<Symbol>::write_position(Side& side, uint32_t position) {
  if (side.weight != PairStore<Symbol>::kNoList) {
    uint16_t* const units = store_.lists().data();
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
    store_.walk_list(
        pair, [&](uint32_t at) { return slots[at] == merged; }, write);
  }
}

template class PairMerger<uint16_t>;
template class PairMerger<uint32_t>;

}  // namespace netcl::text
