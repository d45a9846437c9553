// SPDX-License-Identifier: Apache-2.0
#include "text/word_layout.h"

#include <algorithm>

#include "base/error.h"

namespace netcl::text {

namespace {

constexpr uint64_t kFrequent = uint64_t{1} << 16;  // counts from here on are sorted

}  // namespace

WordLayout::WordLayout(const WordWalk& words) {
  std::vector<uint64_t> slots_of_count(kFrequent);
  words([&](std::string_view word, uint64_t count) {
    if (word.size() == 1) {
      one_byte_count_ += count;
      return;
    }
    if (count == 0) {
      return;
    }
    word_count_ += 1;
    longest_word_ = std::max<uint64_t>(longest_word_, word.size());
    slot_count_ += word.size() + 1;
    pair_weight_ += count * (word.size() - 1);
    if (count < kFrequent) {
      slots_of_count[count] += word.size() + 1;
    } else {
      frequent_.push_back({std::string(word), count});
    }
  });
  if (slot_count_ > kMostSlots) {
    throw base::UsageError("the distinct pre-tokens of the corpus have more than 2^32 - 2 bytes");
  }
  std::stable_sort(frequent_.begin(), frequent_.end(),
                   [](const FrequentWord& a, const FrequentWord& b) { return a.count > b.count; });
  uint64_t slot = 1;
  const auto add_segment = [&](uint64_t count) {
    segments_.push_back({static_cast<uint32_t>(slot), count});
  };
  for (const FrequentWord& word : frequent_) {
    if (segments_.empty() || segments_.back().count != word.count) {
      add_segment(word.count);
    }
    slot += word.bytes.size() + 1;
  }
  begin_of_count_ = std::move(slots_of_count);
  for (uint64_t count = kFrequent - 1; count > 0; --count) {
    const uint64_t slots = begin_of_count_[count];
    begin_of_count_[count] = slot;
    if (slots > 0) {
      add_segment(count);
    }
    slot += slots;
  }
  add_segment(0);
}

uint64_t WordLayout::kept_bytes() const {
  uint64_t bytes = 2 * kFrequent * sizeof(uint64_t) + 2 * longest_word_;
  for (const FrequentWord& word : frequent_) {
    bytes += 2 * sizeof(FrequentWord) + word.bytes.size();
  }
  return bytes;
}

void WordLayout::place_all(
    const WordWalk& words,
    const std::function<void(std::string_view word, uint64_t slot)>& place) const {
  uint64_t slot = 1;
  for (const FrequentWord& word : frequent_) {
    place(word.bytes, slot);
    slot += word.bytes.size() + 1;
  }
  std::vector<uint64_t> next = begin_of_count_;
  words([&](std::string_view word, uint64_t count) {
    if (word.size() > 1 && count > 0 && count < kFrequent) {
      place(word, next[count]);
      next[count] += word.size() + 1;
    }
  });
}

}  // namespace netcl::text
