// SPDX-License-Identifier: Apache-2.0
// The frequent pairs of a text of symbols: their counts and where they are.
#ifndef NETCL_TEXT_PAIR_STORE_H_
#define NETCL_TEXT_PAIR_STORE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/pair_census.h"
#include "text/pair_records.h"
#include "text/position_lists.h"
#include "text/symbol_text.h"

namespace netcl::text {

struct PairStoreLimits {
  uint64_t max_token_length = 0;  // bytes; 0 = none
  // Unused or stale units among the position lists before they are written anew; and positions, of
  // 4 bytes, that are held while all pairs are counted anew, or an eighth of all if that is more.
  uint64_t least_garbage = uint64_t{1} << 20;
  uint64_t census_pairs = uint64_t{1} << 22;
  // Most bytes that records, positions and the heap of pairs take; 0 = no limit.
  uint64_t memory = 0;
};

// Only pairs that occur at least `threshold` times have a record; those that fall below it lose it.
// A count never rises once all tokens that a pair is made of are there, so a pair without a record
// is one that occurs less often than the threshold, until count_all() sets another. Positions go
// stale silently: a position holds the pair when the two symbols stand there.
//
// With a limit of memory not all of these may find room. is_full() tells so, and then all pairs
// must be counted anew: with a higher threshold or, where that is the highest count already, with
// only the first of the pairs that have it. These are those whose left symbol is below a limit, so
// that every pair without a record still comes after all that have one: by count, then by left
// symbol.
template <typename Symbol>
class PairStore {
 public:
  PairStore(const SymbolText<Symbol>& text, const PairStoreLimits& limits)
      : text_(text), limits_(limits) {}

  // Names the next symbol: bytes that its token has.
  void add_symbol(uint64_t byte_length) { byte_lengths_.push_back(byte_length); }
  uint32_t symbol_count() const { return static_cast<uint32_t>(byte_lengths_.size()); }

  // Forgets all records, counts all pairs of the text anew and makes records of those that occur
  // `threshold` times or more and may be merged; with positions if `lists`. Returns the highest
  // count of those that may be merged but have none. With `may_cut_ties` no pair occurs more often
  // than the threshold, and those that find no room are left out from some left symbol on.
  uint64_t count_all(uint64_t threshold, bool lists, bool may_cut_ties = false);
  // Whether a pair was left without a record because there was no room.
  bool is_full() const { return is_full_; }

  // The least limit of memory with which learning never comes to a stop, for a text of `slots`
  // slots and `symbols` symbols at most: the pairs of one left symbol have room, with their lists,
  // beside the positions that are sorted. A position takes two units where its difference is 2^15
  // or more, which a list can have only so often.
  static uint64_t least_memory(uint64_t slots, uint64_t symbols) {
    const uint64_t pairs = std::min(slots, symbols);
    const uint64_t units = slots + std::min(slots, pairs * (slots >> 15)) + 4 * pairs;
    return pairs * kPairBytes + units * sizeof(uint16_t) +
           census_pairs(slots, kLeastCensus) * sizeof(uint32_t);
  }

  const PairRecords& records() const { return records_; }
  bool has_lists() const { return has_lists_; }

  // Takes a record away; its positions stay readable until the next compact_lists().
  PairRecord take(uint32_t index) {
    const PairRecord record = records_[index];
    erase(index);
    return record;
  }
  // Lowers a count, of a pair that has a record.
  void lose(uint32_t left, uint32_t right, uint64_t weight);
  // A record for a new pair if it occurs often enough and may be merged: its number is appended to
  // `created`. Returns the unit of lists() where its positions go, or kNoList.
  static constexpr uint64_t kNoList = UINT64_MAX;
  uint64_t create(uint32_t left, uint32_t right, uint64_t weight, uint64_t units,
                  std::vector<uint32_t>& created);
  PositionLists& lists() { return lists_; }

  // Moves all lists to the front of their buffer when half of it is unused or stale.
  void compact_lists();

  // Calls take(position) for the positions of a record's list for which keep(position) is true,
  // decoded in blocks so that the slots of the next block are on their way while one is worked on.
  template <typename Keep, typename Take>
  void walk_list(const PairRecord& record, const Keep& keep, const Take& take) const {
    const uint16_t* at = lists_.data() + record.list_begin;
    const uint16_t* const end = at + record.list_units;
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

 private:
  static constexpr size_t kBlock = 256;  // positions decoded at a time
  static constexpr uint64_t kLeastCensus = uint64_t{1} << 16;
  // Positions that are sorted at a time.
  static uint64_t census_pairs(uint64_t slots, uint64_t least) {
    return std::min(slots, std::max(least, slots / 8));
  }
  static constexpr uint32_t kBytes = 256;

  bool may_merge(uint32_t left, uint32_t right) const {
    return limits_.max_token_length == 0 ||
           byte_lengths_[left] + byte_lengths_[right] <= limits_.max_token_length;
  }
  void erase(uint32_t index) {
    live_units_ -= live_units(records_[index]);
    records_.erase(index);
  }
  // Units of a record's list that are likely not stale.
  static double live_units(const PairRecord& record) {
    return static_cast<double>(record.list_units) * static_cast<double>(record.count) /
           static_cast<double>(record.list_count);
  }
  // Of a pair: its record, and up to two entries in the heap, which are there twice while it grows.
  static constexpr uint64_t kHeapEntryBytes = 24;
  static constexpr uint64_t kPairBytes = PairRecords::kMostBytes + 4 * kHeapEntryBytes;

  // Whether a record with a list of `units` units has room.
  bool has_room(uint64_t units) const {
    const uint64_t pairs = std::max<uint64_t>(records_.index_limit(), records_.size() + 1);
    return limits_.memory == 0 ||
           pairs * kPairBytes + (lists_.used() + units) * sizeof(uint16_t) + census_bytes_ <=
               limits_.memory;
  }
  bool is_frequent(uint32_t left, uint64_t weight) const {
    return weight > threshold_ || (weight == threshold_ && left < tie_limit_);
  }
  void cut_ties(uint32_t left, uint32_t first_record, uint64_t list_begin);
  void count_bytes();
  // By right symbol, and the right symbols that have occurred.
  struct LeftSums {
    std::vector<PairSum> sums;
    std::vector<Symbol> seen;
  };
  template <typename Walk>
  void count_left(uint32_t left, const Walk& walk, LeftSums& left_sums);
  void count_range(uint32_t first, uint32_t end, const std::vector<uint64_t>& counts,
                   LeftSums& sums);
  void record_sum(uint32_t left, uint32_t right, PairSum& sum);
  void write_position(PairSum& sum, uint32_t position);
  uint64_t filter_list(PairRecord& record, uint64_t to);

  const SymbolText<Symbol>& text_;
  const PairStoreLimits limits_;
  PairRecords records_;
  PositionLists lists_;
  double live_units_ = 0;  // of lists_: the sum over all records
  bool has_lists_ = false;
  bool is_full_ = false;
  bool may_cut_ties_ = false;
  uint32_t tie_limit_ = UINT32_MAX;  // left symbols from which on `threshold_` is not enough
  uint64_t census_bytes_ = 0;        // positions that are sorted while all pairs are counted
  uint64_t threshold_ = 1;
  uint64_t highest_below_ = 0;  // count, of those without a record, when all were counted
  std::vector<uint64_t> byte_lengths_;
};

extern template class PairStore<uint16_t>;
extern template class PairStore<uint32_t>;

}  // namespace netcl::text

#endif  // NETCL_TEXT_PAIR_STORE_H_
