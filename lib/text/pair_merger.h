// SPDX-License-Identifier: Apache-2.0
// Merging a pair of a text of symbols.
#ifndef NETCL_TEXT_PAIR_MERGER_H_
#define NETCL_TEXT_PAIR_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/big_buffer.h"
#include "text/pair_store.h"
#include "text/position_lists.h"
#include "text/symbol_text.h"

namespace netcl::text {

// Merges in place. With lists, a merge goes through the positions of its pair; without, it scans
// the text. What becomes of the neighbouring pairs is summed up by symbol, so that each has its
// record touched once.
template <typename Symbol>
class PairMerger {
 public:
  PairMerger(SymbolText<Symbol>& text, uint32_t symbol_limit, const PairStoreLimits& limits);

  // Names the next symbol: bytes that its token has.
  void add_symbol(uint64_t byte_length) { store_.add_symbol(byte_length); }

  // PairStore::count_all(); makes free slots of the text go before, when they are many.
  uint64_t count_all(uint64_t threshold, bool lists, bool may_cut_ties = false);
  bool is_full() const { return store_.is_full(); }

  // Replaces all occurrences of a recorded pair, left to right, by a symbol that has just been
  // added, and appends the numbers of the new records to `created`.
  void merge(uint32_t index, uint32_t merged, std::vector<uint32_t>& created);

  const PairRecords& records() const { return store_.records(); }

 private:
  // What merges gain and lose on one side of the merged pair, by the symbol there.
  struct Side {
    uint64_t weight = 0;  // later: where in the lists the next position goes, or kNoList
    uint32_t last = 0;    // position
    uint32_t units = 0;   // 0: the symbol has not been seen
    void add(uint32_t position, uint64_t more) {
      weight += more;
      units += PositionLists::units_of(position - last);
      last = position;
    }
  };
  static constexpr size_t kMostMatches = 65536;  // kept from the first pass to the second

  template <bool kScan>
  void replace(const PairRecord& pair, Symbol merged);
  template <typename Take>
  void scan(Symbol left, Symbol right, const Take& take);
  void settle(const PairRecord& pair, uint32_t merged, std::vector<uint32_t>& created);
  void write_positions(const PairRecord& pair, Symbol merged);
  void write_position(Side& side, uint32_t position);
  void compact_text();

  SymbolText<Symbol>& text_;
  PairStore<Symbol> store_;
  uint64_t free_slots_ = 0;  // of the text, that a symbol a token would not need

  // Of the merge under way.
  base::BigBuffer side_memory_;
  Side* left_ = nullptr;  // by symbol, the separator's too
  Side* right_ = nullptr;
  Side doubled_;  // two merged tokens in a row
  std::vector<Symbol> seen_left_;
  std::vector<Symbol> seen_right_;
  std::vector<uint32_t> matches_;  // the first kMostMatches of them
  uint64_t match_count_ = 0;
};

extern template class PairMerger<uint16_t>;
extern template class PairMerger<uint32_t>;

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_MERGER_H_
