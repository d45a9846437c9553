// SPDX-License-Identifier: Apache-2.0
#include "text/symbol_text.h"

#include <algorithm>

#include "base/error.h"

namespace netcl::text {

template <typename Symbol>
SymbolText<Symbol>::SymbolText(const WordLayout& layout, const WordWalk& words,
                               const std::array<uint32_t, 256>& byte_symbols, uint32_t limit)
    : limit_(limit),
      memory_((layout.slot_count() + kSpare) * sizeof(Symbol)),
      slot_count_(layout.slot_count()),
      segments_(layout.segments()),
      length_memory_((size_t{limit} + 2) * sizeof(uint32_t)),
      lengths_(static_cast<uint32_t*>(length_memory_.data())) {
  NETCL_CHECK(limit >= 256 && limit <= kMostSymbols);
  std::array<Symbol, 256> symbols{};
  for (size_t byte = 0; byte < symbols.size(); ++byte) {
    symbols[byte] = static_cast<Symbol>(byte_symbols[byte]);
    lengths_[symbols[byte]] = 1;
  }
  lengths_[separator()] = 1;
  Symbol* const slots = this->slots();
  slots[0] = separator();
  layout.place_all(words, [&](std::string_view word, uint64_t slot) {
    Symbol* at = slots + slot;
    for (const char byte : word) {
      *at++ = symbols[static_cast<uint8_t>(byte)];
    }
    *at = separator();
  });
  std::fill_n(slots + slot_count_, kSpare, separator());
  index_segments();
}

template <typename Symbol>
void SymbolText<Symbol>::index_segments() {
  segment_of_block_.assign(slot_count_ / kBlock + 1, 0);
  size_t segment = 0;
  for (size_t block = 0; block < segment_of_block_.size(); ++block) {
    while (segment + 1 < segments_.size() && segments_[segment + 1].begin <= block * kBlock) {
      ++segment;
    }
    segment_of_block_[block] = static_cast<uint32_t>(segment);
  }
}

template <typename Symbol>
uint64_t SymbolText<Symbol>::count_tokens(bool& some_pair) const {
  uint64_t count = 0;
  some_pair = false;
  const Symbol* const slots = this->slots();
  for (size_t segment = 0; segment + 1 < segments_.size(); ++segment) {
    uint64_t tokens = 0;
    uint64_t words = 0;
    for (uint32_t at = segments_[segment].begin; at < segments_[segment + 1].begin;) {
      const bool is_token = slots[at] != separator();
      tokens += is_token ? 1 : 0;
      words += is_token ? 0 : 1;
      at += lengths_[slots[at]];
    }
    count += tokens * segments_[segment].count;
    some_pair = some_pair || tokens > words;
  }
  return count;
}

// Writes what next(slot, symbol) says for each token: how many slots are read, and the symbol that
// is written for them. Never writes ahead of where it reads.
template <typename Symbol>
template <typename Next>
void SymbolText<Symbol>::rewrite(const Next& next) {
  Symbol* const slots = this->slots();
  uint32_t to = 1;
  for (size_t segment = 0; segment + 1 < segments_.size(); ++segment) {
    const uint32_t begin = segments_[segment].begin;
    segments_[segment].begin = to;
    for (uint32_t at = begin; at < segments_[segment + 1].begin;) {
      Symbol symbol = slots[at];
      at += symbol == separator() ? 1 : next(at, symbol);
      slots[to++] = symbol;
    }
  }
  segments_.back().begin = to;
  slot_count_ = to;
  std::fill_n(slots + slot_count_, kSpare, separator());
  for (uint32_t symbol = 0; symbol < limit_ && lengths_[symbol] > 0; ++symbol) {
    lengths_[symbol] = 1;
  }
  memory_.drop_back((slot_count_ + kSpare) * sizeof(Symbol));
  index_segments();
}

template <typename Symbol>
void SymbolText<Symbol>::compact() {
  rewrite([&](uint32_t, Symbol symbol) { return lengths_[symbol]; });
}

template <typename Symbol>
void SymbolText<Symbol>::merge_and_compact(uint32_t left, uint32_t right, uint32_t merged) {
  rewrite([&](uint32_t at, Symbol& symbol) {
    const uint32_t length = lengths_[symbol];
    if (symbol != left || slots()[at + length] != right) {
      return length;
    }
    symbol = static_cast<Symbol>(merged);
    return length + lengths_[right];
  });
}

template class SymbolText<uint16_t>;
template class SymbolText<uint32_t>;

}  // namespace netcl::text
