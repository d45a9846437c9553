// SPDX-License-Identifier: Apache-2.0
// The words of a corpus as tokens that are merged in place.
#ifndef NETCL_TEXT_SYMBOL_TEXT_H_
#define NETCL_TEXT_SYMBOL_TEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/big_buffer.h"
#include "text/word_layout.h"

namespace netcl::text {

// Slots of one symbol each, a separator before, between and after the words. At first a byte takes
// one slot. A merge writes the new symbol into the first and the last slot that the two took, so
// the tokens beside a slot are found by their lengths and no links are stored. Symbol is uint16_t
// or uint32_t; symbols of tokens are below a limit, and two above it are the separator and the
// mark of slots inside a token.
template <typename Symbol>
class SymbolText {
 public:
  // byte_symbols: of each byte. `limit`: of symbols, at least 256 and at most kMostSymbols.
  SymbolText(const WordLayout& layout, const WordWalk& words,
             const std::array<uint32_t, 256>& byte_symbols, uint32_t limit);

  static constexpr uint32_t kMostSymbols = static_cast<Symbol>(-1) - 1;

  Symbol separator() const { return static_cast<Symbol>(limit_); }
  Symbol inside() const { return static_cast<Symbol>(limit_ + 1); }

  // Slots from 0 to slot_count() - 1; 64 more may be read. Slot 0 and the last are separators.
  Symbol* slots() { return static_cast<Symbol*>(memory_.data()); }
  const Symbol* slots() const { return static_cast<const Symbol*>(memory_.data()); }
  size_t slot_count() const { return slot_count_; }

  // Slots that a token of the symbol takes; 1 for the separator.
  uint32_t length(uint32_t symbol) const { return lengths_[symbol]; }
  void set_length(uint32_t symbol, uint32_t length) { lengths_[symbol] = length; }

  // Calls visit(slot, symbol, next_slot, next_symbol, weight) for each two neighbouring tokens of a
  // word, in order; weight is the count of the word.
  template <typename Visit>
  void for_each_pair(Visit&& visit) const {
    const Symbol* const slots = this->slots();
    for (size_t segment = 0; segment + 1 < segments_.size(); ++segment) {
      const uint64_t weight = segments_[segment].count;
      const uint32_t end = segments_[segment + 1].begin;
      for (uint32_t at = segments_[segment].begin; at < end; ++at) {
        Symbol symbol = slots[at];
        while (symbol != separator()) {
          const uint32_t next_slot = at + lengths_[symbol];
          const Symbol next = slots[next_slot];
          if (next != separator()) {
            visit(at, symbol, next, weight);
          }
          at = next_slot;
          symbol = next;
        }
      }
    }
  }

  // Occurrences of all tokens: the sum over words of tokens times count. `some_pair` becomes
  // whether a word has more than one.
  uint64_t count_tokens(bool& some_pair) const;

  // Makes every token take one slot. With `left` and `right`, what stands for these two tokens in a
  // row, from the left on and without overlap, becomes `merged` at the same time.
  void compact();
  void merge_and_compact(uint32_t left, uint32_t right, uint32_t merged);

  // Counts of the words at ascending slots, at the price of a comparison each as long as they stay
  // in one segment.
  class Weights {
   public:
    explicit Weights(const SymbolText& text) : text_(text) {}
    uint64_t at(uint32_t slot) {
      if (slot - begin_ >= size_) [[unlikely]] {
        find(slot);
      }
      return count_;
    }

   private:
    void find(uint32_t slot) {
      size_t segment = text_.segment_of_block_[slot / kBlock];
      while (text_.segments_[segment + 1].begin <= slot) {
        ++segment;
      }
      begin_ = text_.segments_[segment].begin;
      size_ = text_.segments_[segment + 1].begin - begin_;
      count_ = text_.segments_[segment].count;
    }

    const SymbolText& text_;
    uint32_t begin_ = 0;
    uint32_t size_ = 0;
    uint64_t count_ = 0;
  };

 private:
  static constexpr uint32_t kBlock = 64;  // slots
  static constexpr size_t kSpare = 64;    // slots behind the last one

  template <typename Next>
  void rewrite(const Next& next);
  void index_segments();

  uint32_t limit_;
  base::BigBuffer memory_;
  size_t slot_count_ = 0;
  std::vector<CountSegment> segments_;
  std::vector<uint32_t> segment_of_block_;  // that of the block's first slot
  base::BigBuffer length_memory_;           // pages are touched when symbols come
  uint32_t* lengths_ = nullptr;
};

extern template class SymbolText<uint16_t>;
extern template class SymbolText<uint32_t>;

}  // namespace netcl::text

#endif  // NETCL_TEXT_SYMBOL_TEXT_H_
