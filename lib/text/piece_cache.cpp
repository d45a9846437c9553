// SPDX-License-Identifier: Apache-2.0
#include "text/piece_cache.h"

#include <algorithm>

namespace netcl::text {

namespace {

constexpr size_t kFirstBuckets = size_t{1} << 12;  // 256 KiB
constexpr size_t kFirstLongEntries = size_t{1} << 10;
constexpr size_t kLeastBytes = size_t{1} << 20;
constexpr size_t kMostLongBytes = size_t{1} << 31;  // places in the arena have 32 bits

}  // namespace

PieceCache::PieceCache(size_t max_bytes) : long_entries_(kFirstLongEntries) {
  const size_t half = std::max(max_bytes, kLeastBytes) / 2;
  max_buckets_ = std::max(kFirstBuckets, std::bit_floor(half / sizeof(Bucket)));
  max_long_bytes_ = std::min(half, kMostLongBytes);
  allocate_buckets(kFirstBuckets);
}

void PieceCache::allocate_buckets(size_t count) {
  memory_ = base::BigBuffer(count * sizeof(Bucket));
  buckets_ = static_cast<Bucket*>(memory_.data());
  bucket_mask_ = count - 1;
  short_count_ = 0;
}

// A bucket that overflows loses an entry, so the table is kept at most a third full while it may
// grow.
void PieceCache::add_short(const ShortKey& key, std::span<const uint32_t> ids) {
  const size_t bucket_count = bucket_mask_ + 1;
  if (3 * short_count_ > 2 * bucket_count && bucket_count < max_buckets_) {
    grow_buckets();
  }
  Bucket& b = buckets_[bucket_of(key)];
  if (b.entries[0].high != 0) {
    short_count_ += b.entries[1].high == 0 ? 1 : 0;
    b.entries[1] = b.entries[0];
  } else {
    ++short_count_;
  }
  Entry& entry = b.entries[0];
  entry.low = key.low;
  entry.high = key.high;
  std::copy(ids.begin(), ids.end(), entry.ids);
  entry.ids[0] |= static_cast<uint32_t>(ids.size()) << kIdBits;
}

void PieceCache::grow_buckets() {
  const base::BigBuffer old_memory = std::move(memory_);
  const Bucket* old = buckets_;
  const size_t old_count = bucket_mask_ + 1;
  memory_ = base::BigBuffer();
  allocate_buckets(std::min(max_buckets_, 4 * old_count));
  for (size_t i = 0; i < old_count; ++i) {
    for (const Entry& entry : old[i].entries) {
      if (entry.high == 0) {
        continue;
      }
      Bucket& b = buckets_[bucket_of({entry.low, entry.high})];
      short_count_ += b.entries[1].high == 0 ? 1 : 0;
      b.entries[b.entries[0].high == 0 ? 0 : 1] = entry;
    }
  }
}

std::span<const uint32_t> PieceCache::find_long(std::string_view piece, uint64_t hash) const {
  for (size_t slot = hash & (long_entries_.size() - 1); long_entries_[slot].byte_count != 0;
       slot = (slot + 1) & (long_entries_.size() - 1)) {
    const LongEntry& entry = long_entries_[slot];
    if (entry.hash != hash || entry.byte_count != piece.size()) {
      continue;
    }
    const uint32_t* ids = long_records_.data() + entry.record;
    if (std::memcmp(ids + entry.id_count, piece.data(), piece.size()) == 0) {
      return {ids, entry.id_count};
    }
  }
  return {};
}

void PieceCache::add_long(std::string_view piece, uint64_t hash, std::span<const uint32_t> ids) {
  const size_t taken =
      long_records_.size() * sizeof(uint32_t) + long_entries_.size() * sizeof(LongEntry);
  if (taken > max_long_bytes_) {
    wipe_long();
  }
  if (2 * (long_count_ + 1) > long_entries_.size()) {
    grow_long();
  }
  LongEntry entry;
  entry.hash = hash;
  entry.record = static_cast<uint32_t>(long_records_.size());
  entry.byte_count = static_cast<uint16_t>(piece.size());
  entry.id_count = static_cast<uint16_t>(ids.size());
  const size_t byte_words = (piece.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  long_records_.insert(long_records_.end(), ids.begin(), ids.end());
  long_records_.resize(long_records_.size() + byte_words);
  std::memcpy(long_records_.data() + long_records_.size() - byte_words, piece.data(), piece.size());
  size_t slot = hash & (long_entries_.size() - 1);
  while (long_entries_[slot].byte_count != 0) {
    slot = (slot + 1) & (long_entries_.size() - 1);
  }
  long_entries_[slot] = entry;
  ++long_count_;
}

void PieceCache::grow_long() {
  std::vector<LongEntry> old(2 * long_entries_.size());
  old.swap(long_entries_);
  for (const LongEntry& entry : old) {
    if (entry.byte_count != 0) {
      size_t slot = entry.hash & (long_entries_.size() - 1);
      while (long_entries_[slot].byte_count != 0) {
        slot = (slot + 1) & (long_entries_.size() - 1);
      }
      long_entries_[slot] = entry;
    }
  }
}

void PieceCache::wipe_long() {
  long_entries_.assign(kFirstLongEntries, LongEntry());
  long_records_.clear();
  long_count_ = 0;
}

}  // namespace netcl::text
