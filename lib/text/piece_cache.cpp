// SPDX-License-Identifier: Apache-2.0
#include "text/piece_cache.h"

#include <algorithm>
#include <array>

namespace netcl::text {

namespace {

constexpr size_t kFirstLines = size_t{1} << 12;  // 256 KiB
constexpr size_t kMostLines = size_t{1} << 31;
constexpr size_t kFirstLongEntries = size_t{1} << 10;
constexpr size_t kLeastBytes = size_t{1} << 20;
constexpr size_t kMostLongBytes = size_t{1} << 33;  // places of words have 32 bits
constexpr size_t kFirstRecordBytes = size_t{1} << 16;
constexpr size_t kSpareBytes = 16;
// An id a byte at most, and the bytes.
static_assert(kFirstRecordBytes > kSpareBytes + 8 * PieceCache::kLongestCached);

}  // namespace

PieceCache::PieceCache(size_t max_bytes, KeyHash hash) : hash_(hash) {
  max_bytes_ = std::max(max_bytes, kLeastBytes);
  max_lines_ = std::clamp(std::bit_floor(max_bytes_ / 2 / sizeof(Line)), kFirstLines, kMostLines);
  max_long_bytes_ = std::min(max_bytes_ / 4 * 3, kMostLongBytes);
  memory_ = base::BigBuffer(kFirstLines * sizeof(Line));
  lines_ = static_cast<Line*>(memory_.data());
  line_mask_ = kFirstLines - 1;
  allocate_long(kFirstLongEntries);
  record_memory_ = base::BigBuffer(kFirstRecordBytes);
  records_ = static_cast<uint32_t*>(record_memory_.data());
}

PieceCache::Entry* PieceCache::free_entry(size_t line) {
  for (Entry& entry : lines_[line].entries) {
    if (entry.key.high == 0) {
      return &entry;
    }
  }
  return nullptr;
}

void PieceCache::reserve_short(size_t count) {
  while (4 * (short_count_ + count) > 3 * (line_mask_ + 1) && line_mask_ + 1 < max_lines_ &&
         2 * (line_mask_ + 1) * sizeof(Line) + long_bytes() <= max_bytes_) {
    grow_lines();
  }
}

// Pieces that are frequent come early, so they have the entries that are found first, and an entry
// that is overwritten is a late one.
void PieceCache::add_short(const ShortKey& key, std::span<const uint32_t> ids) {
  if (ids.size() > kInlineIds) {
    make_room_for_record(ids.size());
  }
  reserve_short(1);
  const size_t line = line_of(key);
  Entry* entry = free_entry(line);
  if (entry == nullptr) {
    entry = free_entry(line ^ 1);
  }
  if (entry == nullptr) {
    entry = &lines_[line].entries[1];
  } else {
    ++short_count_;
  }
  entry->key = key;
  if (ids.size() <= kInlineIds) {
    std::copy(ids.begin(), ids.end(), entry->ids);
    entry->ids[0] |= static_cast<uint32_t>(ids.size()) << kIdBits;
  } else {
    entry->ids[0] = static_cast<uint32_t>(kMore) << kIdBits;
    entry->ids[1] = static_cast<uint32_t>(record_words_);
    entry->ids[2] = static_cast<uint32_t>(ids.size());
    std::copy(ids.begin(), ids.end(), records_ + record_words_);
    record_words_ += ids.size();
  }
}

// One more bit of the hash decides whether an entry stays where it is or goes as far into the half
// that is added. Two lines are taken up at a time, since each holds what overflowed from the other.
void PieceCache::grow_lines() {
  const size_t old_count = line_mask_ + 1;
  memory_.grow(2 * memory_.size());
  lines_ = static_cast<Line*>(memory_.data());
  line_mask_ = 2 * old_count - 1;
  for (size_t line = 0; line < old_count; line += 2) {
    std::array<Line, 2> old = {lines_[line], lines_[line + 1]};
    lines_[line] = {};
    lines_[line + 1] = {};
    for (const size_t rank : {0, 1}) {
      for (const Line& from : old) {
        const Entry& entry = from.entries[rank];
        if (entry.key.high == 0) {
          continue;
        }
        const size_t home = line_of(entry.key);
        Entry* to = free_entry(home);
        *(to != nullptr ? to : free_entry(home ^ 1)) = entry;
      }
    }
  }
}

void PieceCache::add_long(std::string_view piece, uint64_t hash, std::span<const uint32_t> ids) {
  const size_t byte_words = (piece.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  make_room_for_record(ids.size() + byte_words);
  if (2 * (long_count_ + 1) > long_mask_ + 1) {
    grow_long();
  }
  LongEntry entry;
  entry.hash = hash;
  entry.record = static_cast<uint32_t>(record_words_);
  entry.byte_count = static_cast<uint16_t>(piece.size());
  entry.id_count = static_cast<uint16_t>(ids.size());
  std::copy(ids.begin(), ids.end(), records_ + record_words_);
  std::memcpy(records_ + record_words_ + ids.size(), piece.data(), piece.size());
  record_words_ += ids.size() + byte_words;
  size_t slot = hash & long_mask_;
  while (long_entries_[slot].byte_count != 0) {
    slot = (slot + 1) & long_mask_;
  }
  long_entries_[slot] = entry;
  ++long_count_;
}

// `slots`: a power of two. The memory is zero, and so are free entries.
void PieceCache::allocate_long(size_t slots) {
  long_memory_ = base::BigBuffer(slots * sizeof(LongEntry));
  long_entries_ = static_cast<LongEntry*>(long_memory_.data());
  long_mask_ = slots - 1;
  long_count_ = 0;
}

void PieceCache::grow_long() {
  const base::BigBuffer old_memory = std::move(long_memory_);
  const LongEntry* old = long_entries_;
  const size_t old_slots = long_mask_ + 1;
  long_memory_ = base::BigBuffer();
  allocate_long(2 * old_slots);
  for (size_t i = 0; i < old_slots; ++i) {
    if (old[i].byte_count != 0) {
      size_t slot = old[i].hash & long_mask_;
      while (long_entries_[slot].byte_count != 0) {
        slot = (slot + 1) & long_mask_;
      }
      long_entries_[slot] = old[i];
      ++long_count_;
    }
  }
}

// More words than a record has are kept free behind it: ids are read in groups.
void PieceCache::make_room_for_record(size_t words) {
  const size_t taken = long_bytes() + words * sizeof(uint32_t);
  if (taken > max_long_bytes_ || taken + (line_mask_ + 1) * sizeof(Line) > max_bytes_) {
    wipe_long();
  }
  if ((record_words_ + words) * sizeof(uint32_t) + kSpareBytes > record_memory_.size()) {
    record_memory_.grow(2 * record_memory_.size());
    records_ = static_cast<uint32_t*>(record_memory_.data());
  }
}

size_t PieceCache::long_bytes() const {
  return record_words_ * sizeof(uint32_t) + (long_mask_ + 1) * sizeof(LongEntry);
}

// Short pieces whose ids lie among the records go with them.
void PieceCache::wipe_long() {
  allocate_long(kFirstLongEntries);
  record_words_ = 0;
  for (size_t line = 0; line <= line_mask_; ++line) {
    for (Entry& entry : lines_[line].entries) {
      if (entry.key.high != 0 && entry.ids[0] >> kIdBits == kMore) {
        entry = {};
        --short_count_;
      }
    }
  }
}

}  // namespace netcl::text
