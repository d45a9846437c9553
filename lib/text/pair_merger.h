// SPDX-License-Identifier: Apache-2.0
// The pairs of a text of symbols: their counts, where they are, and merging one of them.
#ifndef NETCL_TEXT_PAIR_MERGER_H_
#define NETCL_TEXT_PAIR_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/big_buffer.h"
#include "text/pair_records.h"
#include "text/position_lists.h"
#include "text/symbol_text.h"

namespace netcl::text {

struct PairMergerLimits {
  uint64_t max_token_length = 0;  // bytes; 0 = none
  // Unused units among the position lists before they are written anew; and occurrences of pairs
  // that are summed up at a time when there are more (the memory for it).
  uint64_t least_garbage = uint64_t{1} << 20;
  uint64_t census_pairs = uint64_t{1} << 23;
};

// Only pairs that occur at least `threshold` times have a record; those that fall below it lose it.
// A count never rises once all tokens that a pair is made of are there, so a pair without a record
// is one that occurs less often than the threshold, until count_all() sets another. Positions go
// stale silently: a position holds the pair when the two symbols stand there.
template <typename Symbol>
class PairMerger {
 public:
  PairMerger(SymbolText<Symbol>& text, uint32_t symbol_limit, const PairMergerLimits& limits);

  // Names the next symbol: bytes that its token has.
  void add_symbol(uint64_t byte_length) { byte_lengths_.push_back(byte_length); }
  uint32_t symbol_count() const { return static_cast<uint32_t>(byte_lengths_.size()); }

  // Forgets all records, counts all pairs of the text anew and makes records of those that occur
  // `threshold` times or more and may be merged; with positions if `lists`, else merges scan the
  // text. Returns the highest count of those that may be merged but occur less often.
  uint64_t count_all(uint64_t threshold, bool lists);

  // Replaces all occurrences of a recorded pair, left to right, by a symbol that has just been
  // added, and appends the numbers of the new records to `created`.
  void merge(uint32_t index, uint32_t merged, std::vector<uint32_t>& created);

  const PairRecords& records() const { return records_; }

 private:
  // What merges gain and lose on one side of the merged pair, by the symbol there.
  struct Side {
    uint64_t weight = 0;  // later: where in lists_ the next position goes, or kNoList
    uint32_t last = 0;    // position
    uint32_t units = 0;   // 0: the symbol has not been seen
    void add(uint32_t position, uint64_t more) {
      weight += more;
      units += PositionLists::units_of(position - last);
      last = position;
    }
  };
  static constexpr uint64_t kNoList = UINT64_MAX;
  static constexpr size_t kBlock = 256;          // positions decoded at a time
  static constexpr size_t kMostMatches = 65536;  // kept from the first pass to the second

  bool may_merge(uint32_t left, uint32_t right) const {
    return max_token_length_ == 0 ||
           byte_lengths_[left] + byte_lengths_[right] <= max_token_length_;
  }
  template <typename Census>
  uint64_t count_range(uint32_t first_left, uint32_t end_left);
  template <bool kScan>
  void replace(const PairRecord& pair, Symbol merged);
  template <typename Keep, typename Take>
  void walk_list(uint64_t begin, uint64_t units, const Keep& keep, const Take& take);
  template <typename Take>
  void scan(Symbol left, Symbol right, const Take& take);
  void settle(const PairRecord& pair, uint32_t merged, std::vector<uint32_t>& created);
  void write_positions(const PairRecord& pair, Symbol merged);
  void write_position(Side& side, uint32_t position);
  uint64_t create(uint32_t left, uint32_t right, const Side& sum, std::vector<uint32_t>& created);
  void lose(uint32_t left, uint32_t right, uint64_t weight);
  void erase(uint32_t index);
  void compact_text();
  void compact_lists();
  uint64_t filter_list(PairRecord& record, uint64_t to);

  SymbolText<Symbol>& text_;
  PairRecords records_;
  PositionLists lists_;
  uint64_t live_units_ = 0;  // of lists_, that belong to records
  bool lists_wanted_ = false;
  uint64_t threshold_ = 1;
  uint64_t free_slots_ = 0;  // of the text, that a symbol a token would not need
  const uint64_t max_token_length_;
  const uint64_t least_garbage_;
  const uint64_t census_pairs_;
  std::vector<uint64_t> byte_lengths_;

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
