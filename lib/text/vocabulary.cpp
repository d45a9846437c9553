// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "text/byte_hash.h"

namespace netcl::text {

Vocabulary::Vocabulary(const std::vector<VocabularyEntry>& entries) {
  NETCL_CHECK(!fill(entries));
}

std::optional<Vocabulary> Vocabulary::make(const std::vector<VocabularyEntry>& entries,
                                           Clash& clash) {
  Vocabulary vocabulary;
  if (const std::optional<Clash> found = vocabulary.fill(entries)) {
    clash = *found;
    return std::nullopt;
  }
  return vocabulary;
}

std::optional<Vocabulary::Clash> Vocabulary::fill(const std::vector<VocabularyEntry>& entries) {
  uint32_t limit = 0;
  size_t byte_count = 0;
  for (const VocabularyEntry& entry : entries) {
    NETCL_CHECK(entry.id < kMaxIdCount && !entry.bytes.empty());
    limit = std::max(limit, entry.id + 1);
    byte_count += entry.bytes.size();
    longest_ = std::max(longest_, entry.bytes.size());
  }
  NETCL_CHECK(byte_count < UINT32_MAX);
  buffer_.reserve(byte_count);
  begins_.resize(limit);
  lengths_.resize(limit);
  slots_.assign(std::bit_ceil(2 * entries.size() + 2), kNone);
  size_ = entries.size();
  for (size_t place = 0; place < entries.size(); ++place) {
    const VocabularyEntry& entry = entries[place];
    const auto clash_with = [&](uint32_t id, bool same_id) {
      const auto first = std::find_if(entries.begin(), entries.end(),
                                      [&](const VocabularyEntry& one) { return one.id == id; });
      return Clash{static_cast<size_t>(first - entries.begin()), place, same_id};
    };
    if (lengths_[entry.id] != 0) {
      return clash_with(entry.id, true);
    }
    size_t slot = hash_bytes(entry.bytes) & (slots_.size() - 1);
    while (slots_[slot] != kNone) {
      if (bytes(slots_[slot]) == entry.bytes) {
        return clash_with(slots_[slot], false);
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = entry.id;
    begins_[entry.id] = static_cast<uint32_t>(buffer_.size());
    lengths_[entry.id] = static_cast<uint32_t>(entry.bytes.size());
    buffer_ += entry.bytes;
  }
  return std::nullopt;
}

uint32_t Vocabulary::find_id(std::string_view key) const {
  if (key.empty() || key.size() > longest_) {
    return kNone;
  }
  size_t slot = hash_bytes(key) & (slots_.size() - 1);
  while (slots_[slot] != kNone && bytes(slots_[slot]) != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slots_[slot];
}

}  // namespace netcl::text
