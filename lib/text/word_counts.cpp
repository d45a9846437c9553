// SPDX-License-Identifier: Apache-2.0
#include "text/word_counts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "text/byte_hash.h"

namespace netcl::text {

namespace {

constexpr uint64_t kMostBytes = INT64_MAX;

[[noreturn]] void throw_too_many() {
  throw base::UsageError("the pre-tokens of the corpus add up to more than 2^63 - 1 bytes");
}

}  // namespace

uint64_t add_checked(uint64_t bytes, uint64_t more) {
  if (more > kMostBytes - bytes) {
    throw_too_many();
  }
  return bytes + more;
}

// No more words than bytes: their number needs no check of its own.
void WordCounts::add_totals(uint64_t count, uint64_t byte_count) {
  total_bytes_ = add_checked(total_bytes_, byte_count);
  total_ += count;
}

void WordCounts::add(std::string_view word, uint64_t count) {
  NETCL_CHECK(!word.empty());
  if (count > kMostBytes / word.size()) {
    throw_too_many();
  }
  add_totals(count, count * word.size());
  if (word.size() <= ShortKey::kLongest) {
    const ShortKey key = ShortKey::of(word, word.size());
    short_words_.reserve(1);
    short_words_.add(key, short_words_.home(key), count);
  } else {
    long_words_.add(word, hash_bytes(word), count);
  }
}

void WordCounts::add_pieces(std::string_view text, size_t begin, std::span<const size_t> ends) {
  NETCL_CHECK(ends.size() <= kMostPieces);
  if (ends.empty()) {
    return;
  }
  add_totals(ends.size(), ends.back() - begin);
  short_words_.reserve(ends.size());
  std::array<ShortKey, kMostPieces> keys;  // of a long piece .low is the hash and .high is 0
  std::array<size_t, kMostPieces> homes;
  const char* const data = text.data();
  // All 16 bytes of a key can be read as long as that many are left from the last piece on.
  const bool near_end = text.size() - ends.back() < sizeof(ShortKey);
  size_t at = begin;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t size = ends[i] - at;
    if (size <= ShortKey::kLongest) {
      keys[i] = near_end ? ShortKey::of({data + at, size}, text.size() - at)
                         : ShortKey::of_readable(data + at, size);
      homes[i] = short_words_.home(keys[i]);
      short_words_.prefetch(homes[i]);
    } else {
      keys[i] = {hash_bytes({data + at, size}), 0};
      long_words_.prefetch(keys[i].low);
    }
    at = ends[i];
  }
  at = begin;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (keys[i].high != 0) {
      short_words_.add(keys[i], homes[i], 1);
    } else {
      long_words_.add(text.substr(at, ends[i] - at), keys[i].low, 1);
    }
    at = ends[i];
  }
}

size_t WordCounts::memory_bytes(size_t count, size_t bytes) const {
  const size_t most_long = std::min(count, bytes / (ShortKey::kLongest + 1));
  return short_words_.memory_bytes(count) + (most_long == 0
                                                 ? long_words_.memory_bytes(0, 0)
                                                 : long_words_.memory_bytes(most_long, bytes));
}

void WordCounts::for_each_sorted(const WordUse& use) const {
  struct Word {
    std::string_view bytes;
    uint64_t count;
  };
  std::vector<Word> words;
  words.reserve(size());
  for_each([&](std::string_view word, uint64_t count) { words.push_back({word, count}); });
  std::sort(words.begin(), words.end(),
            [](const Word& a, const Word& b) { return a.bytes < b.bytes; });
  for (const Word& word : words) {
    use(word.bytes, word.count);
  }
}

void WordCounts::take_sorted(const WordUse& use) {
  short_words_.sort();
  long_words_.sort();
  for (size_t i = 0, k = 0; i < short_words_.size() || k < long_words_.size();) {
    if (k == long_words_.size() ||
        (i < short_words_.size() && short_words_.word_at(i) < long_words_.word_at(k))) {
      use(short_words_.word_at(i), short_words_.count_at(i));
      ++i;
    } else {
      use(long_words_.word_at(k), long_words_.count_at(k));
      ++k;
    }
  }
  short_words_ = ShortWordTable();
  long_words_ = LongWordTable();
}

void WordCounts::add_all(const WordCounts& other) {
  add_totals(other.total_, other.total_bytes_);
  short_words_.add_all(other.short_words_);
  long_words_.add_all(other.long_words_);
}

}  // namespace netcl::text
