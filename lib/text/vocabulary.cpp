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
  slots_.assign(std::bit_ceil(2 * entries.size() + 2), Slot{});
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
    const uint64_t hash = hash_bytes(entry.bytes);
    size_t slot = slot_of(hash);
    while (slots_[slot].id != kNone) {
      if (slots_[slot].tag == tag_of(hash) && bytes(slots_[slot].id) == entry.bytes) {
        return clash_with(slots_[slot].id, false);
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {tag_of(hash), entry.id};
    begins_[entry.id] = static_cast<uint32_t>(buffer_.size());
    lengths_[entry.id] = static_cast<uint32_t>(entry.bytes.size());
    buffer_ += entry.bytes;
  }
  return std::nullopt;
}

uint32_t Vocabulary::find_id(std::string_view key, uint64_t hash) const {
  if (key.empty() || key.size() > longest_) {
    return kNone;
  }
  for (size_t slot = slot_of(hash); slots_[slot].id != kNone;
       slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].tag == tag_of(hash) && bytes(slots_[slot].id) == key) {
      return slots_[slot].id;
    }
  }
  return kNone;
}

}  // namespace netcl::text
