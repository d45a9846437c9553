// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "text/byte_hash.h"

namespace netcl::text {

Vocabulary::Vocabulary(std::span<const VocabularyEntry> entries) {
  NETCL_CHECK(!fill(entries));
}

std::optional<Vocabulary> Vocabulary::make(std::span<const VocabularyEntry> entries, Clash& clash) {
  Vocabulary vocabulary;
  if (const std::optional<Clash> found = vocabulary.fill(entries)) {
    clash = *found;
    return std::nullopt;
  }
  return vocabulary;
}

std::optional<Vocabulary::Clash> Vocabulary::fill(std::span<const VocabularyEntry> entries) {
  uint32_t limit = 0;
  size_t byte_count = 0;
  for (const VocabularyEntry& entry : entries) {
    NETCL_CHECK(entry.id < kMaxIdCount && !entry.bytes.empty());
    limit = std::max(limit, entry.id + 1);
    byte_count += entry.bytes.size();
    longest_ = std::max(longest_, entry.bytes.size());
  }
  NETCL_CHECK(byte_count < UINT32_MAX);
  buffer_.reserve(byte_count + ShortWords::kLongest);
  extents_.resize(limit);
  slots_.assign(std::bit_ceil(2 * entries.size() + 2), Slot{});
  size_ = entries.size();
  const auto clash = [&](uint32_t id, size_t second, bool same_id) {
    const auto first = std::find_if(entries.begin(), entries.end(),
                                    [&](const VocabularyEntry& one) { return one.id == id; });
    return Clash{static_cast<size_t>(first - entries.begin()), second, same_id};
  };
  // Some entries at a time, so that their slots are fetched together.
  constexpr size_t kBatch = 32;
  std::array<uint64_t, kBatch> hashes;
  for (size_t first = 0; first < entries.size(); first += kBatch) {
    const size_t count = std::min(kBatch, entries.size() - first);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = hash_bytes(entries[first + i].bytes);
      prefetch(hashes[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const VocabularyEntry& entry = entries[first + i];
      if (extents_[entry.id].size != 0) {
        return clash(entry.id, first + i, true);
      }
      size_t slot = slot_of(hashes[i]);
      while (slots_[slot].id != kNone) {
        if (slots_[slot].tag == tag_of(hashes[i]) && is_token(slots_[slot].id, entry.bytes)) {
          return clash(slots_[slot].id, first + i, false);
        }
        slot = (slot + 1) & (slots_.size() - 1);
      }
      slots_[slot] = {tag_of(hashes[i]), entry.id};
      extents_[entry.id] = {static_cast<uint32_t>(buffer_.size()),
                            static_cast<uint32_t>(entry.bytes.size())};
      buffer_.insert(buffer_.end(), entry.bytes.begin(), entry.bytes.end());
    }
  }
  buffer_.resize(buffer_.size() + ShortWords::kLongest);
  return std::nullopt;
}

template <typename IsToken>
uint32_t Vocabulary::find(std::string_view key, uint64_t hash, const IsToken& is_token) const {
  if (key.empty() || key.size() > longest_) {
    return kNone;
  }
  for (size_t slot = slot_of(hash); slots_[slot].id != kNone;
       slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].tag == tag_of(hash) && is_token(slots_[slot].id)) {
      return slots_[slot].id;
    }
  }
  return kNone;
}

uint32_t Vocabulary::find_id(std::string_view key, uint64_t hash) const {
  return find(key, hash, [&](uint32_t id) { return is_token(id, key); });
}

uint32_t Vocabulary::find_readable(std::string_view key, uint64_t hash) const {
  return find(key, hash, [&](uint32_t id) { return is_token_readable(id, key); });
}

}  // namespace netcl::text
