// SPDX-License-Identifier: Apache-2.0
// Ids of pieces seen before. Text repeats itself: of a gigabyte of English some 99 % of the pieces
// were there before, and nine of ten are a single token, so looking a piece up beats merging it.
//
// Two tables. Pieces of up to 15 bytes lie in lines of the processor's cache:
// two entries of a 16-byte key (the bytes, with the length in the last) and four ids with their
// number in the top byte of the first (ids are below 2^24). What does not fit its line goes to the
// line beside it, so most look-ups are one cache miss and no branch but hit or miss. The table
// grows in place, line by line into the next half. Longer pieces up to kLongestCached bytes lie in
// a hash table of 16-byte entries over an arena that holds ids and bytes of a piece beside each
// other; more than four ids of a short piece lie in the arena too. Memory is bounded: the short
// table stops growing and then overwrites the younger entry of a line; the long one starts anew
// when it is full.
#ifndef NETCL_TEXT_PIECE_CACHE_H_
#define NETCL_TEXT_PIECE_CACHE_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/big_buffer.h"
#include "text/short_key.h"

namespace netcl::text {

// Not thread-safe: one per thread.
class PieceCache {
 public:
  static constexpr size_t kLongestCached = 1024;  // bytes of a piece
  static constexpr size_t kInlineIds = 4;
  static constexpr uint32_t kIdBits = 24;

  // What the two tables are made of; for piece_lookup.h, which compares many pieces at once.
  struct Entry {
    ShortKey key;  // .high = 0: free
    // The number of ids in the top byte of the first.
    uint32_t ids[kInlineIds];
    bool has(const ShortKey& other) const {
      return ((key.low ^ other.low) | (key.high ^ other.high)) == 0;
    }
  };
  struct alignas(64) Line {
    Entry entries[2];  // the first is used first

    // Writes four ids to `out`, of which the first count ones are the piece's; returns count, or 0
    // when the piece is not in the line (what was written is then of no use).
    size_t find(const ShortKey& key, uint32_t* out) const {
      // Of the two entries one at most is the piece's. No branch depends on which it is.
      const auto first = static_cast<uint32_t>(entries[0].has(key));
      const auto second = static_cast<uint32_t>(entries[1].has(key));
      const Entry& entry = entries[second];
      std::memcpy(out, entry.ids, sizeof entry.ids);
      const uint32_t count = entry.ids[0] >> kIdBits;
      out[0] = entry.ids[0] & ((uint32_t{1} << kIdBits) - 1);
      return count & (uint32_t{0} - (first | second));
    }
  };
  struct Lines {
    const Line* first;
    size_t mask;
  };

  using KeyHash = uint64_t (*)(const ShortKey& key);
  static uint64_t mixed_hash(const ShortKey& key) { return key.hash(); }

  // At most about `max_bytes` of memory, half of it for short pieces and three quarters for long
  // ones at most; at least 1 MiB is used.
  explicit PieceCache(size_t max_bytes, KeyHash hash = mixed_hash);

  // Where the ids of a short piece may be, for prefetch() and find(): the hash of its key, cut by
  // the mask. Valid until the next add.
  Lines lines() const { return {lines_, line_mask_}; }
  size_t line_of(const ShortKey& key) const { return hash_(key) & line_mask_; }
  void prefetch(size_t line) const { __builtin_prefetch(lines_ + line); }
  // A count of Line::find() that says that the ids are more than kInlineIds: more_ids() of what was
  // written has them, valid until the next add.
  static constexpr size_t kMore = 0xFF;
  std::span<const uint32_t> more_ids(const uint32_t* out) const {
    return {records_ + out[1], out[2]};
  }
  // The ids of a short piece, in the cache or at `out`, which has room for kInlineIds; empty when
  // it is not there.
  std::span<const uint32_t> find(const ShortKey& key, size_t line, uint32_t* out) const {
    size_t count = lines_[line].find(key, out);
    if (count == 0 && lines_[line].entries[1].key.high != 0) {
      count = lines_[line ^ 1].find(key, out);
    }
    return count == kMore ? more_ids(out) : std::span<const uint32_t>(out, count);
  }
  // Whether so many more short pieces can be remembered without overwriting others.
  bool has_room_for_short(size_t count) const {
    return 4 * (short_count_ + count) <= 3 * max_lines_;
  }
  // Makes the table large enough for `count` more short pieces, if it may be that large.
  void reserve_short(size_t count);
  // Remembers the ids of a piece that is not there. Lines move when the table grows.
  void add_short(const ShortKey& key, std::span<const uint32_t> ids);

  // The other pieces, by their hash_bytes(). The two prefetches are for a piece that is looked up a
  // little later: first the entry, then what it points to.
  void prefetch_long(uint64_t hash) const {
    __builtin_prefetch(long_entries_ + (hash & long_mask_));
  }
  void prefetch_long_record(uint64_t hash) const {
    __builtin_prefetch(records_ + long_entries_[hash & long_mask_].record);
  }
  // The ids; empty when the piece is not there. Valid until the next add. 16 bytes from the last id
  // on may be read.
  std::span<const uint32_t> find_long(std::string_view piece, uint64_t hash) const {
    for (size_t slot = hash & long_mask_; long_entries_[slot].byte_count != 0;
         slot = (slot + 1) & long_mask_) {
      const LongEntry& entry = long_entries_[slot];
      if (entry.hash == hash && entry.byte_count == piece.size()) {
        const uint32_t* ids = records_ + entry.record;
        if (same_bytes(reinterpret_cast<const char*>(ids + entry.id_count), piece)) {
          return {ids, entry.id_count};
        }
      }
    }
    return {};
  }
  // Remembers the ids of a piece of at most kLongestCached bytes that is not there.
  void add_long(std::string_view piece, uint64_t hash, std::span<const uint32_t> ids);

 private:
  struct LongEntry {
    uint64_t hash = 0;
    uint32_t record = 0;      // place in records_: the ids, then the bytes
    uint16_t byte_count = 0;  // 0: free
    uint16_t id_count = 0;
  };

  Entry* free_entry(size_t line);
  void grow_lines();
  static bool same_bytes(const char* bytes, std::string_view piece) {
    constexpr size_t kWord = sizeof(uint64_t);
    const auto differ = [&](size_t at) {
      uint64_t a = 0, b = 0;
      std::memcpy(&a, bytes + at, kWord);
      std::memcpy(&b, piece.data() + at, kWord);
      return a ^ b;
    };
    if (piece.size() < kWord) {
      return std::memcmp(bytes, piece.data(), piece.size()) == 0;
    }
    uint64_t difference = differ(piece.size() - kWord);
    for (size_t at = 0; at + kWord < piece.size(); at += kWord) {
      difference |= differ(at);
    }
    return difference == 0;
  }

  void allocate_long(size_t slots);
  void grow_long();
  void make_room_for_record(size_t words);
  size_t long_bytes() const;
  void wipe_long();

  KeyHash hash_;
  base::BigBuffer memory_;
  Line* lines_ = nullptr;
  size_t line_mask_ = 0;
  size_t short_count_ = 0;
  size_t max_lines_ = 0;

  base::BigBuffer long_memory_;
  LongEntry* long_entries_ = nullptr;  // open addressing, at most half full
  size_t long_mask_ = 0;
  size_t long_count_ = 0;

  base::BigBuffer record_memory_;
  uint32_t* records_ = nullptr;
  size_t record_words_ = 0;  // taken

  size_t max_bytes_ = 0;
  size_t max_long_bytes_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PIECE_CACHE_H_
