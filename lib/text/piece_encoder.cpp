// SPDX-License-Identifier: Apache-2.0
#include "text/piece_encoder.h"

#include <cstring>
#include <utility>

#include "base/big_buffer.h"

namespace netcl::text {

namespace {

// Bytes of a text after which the number of its ids is estimated.
constexpr size_t kFirstEstimate = size_t{1} << 18;

// Short pieces merged before all tokens are added to the cache: a text that has so many different
// ones is a long one.
constexpr size_t kMissesBeforeTokens = 16384;

constexpr size_t kNoLine = UINT32_MAX;  // a piece too long for the short table

// Of the pieces that the cache never holds no hash is made.
uint64_t hash_long(std::string_view piece) {
  return piece.size() <= PieceCache::kLongestCached ? hash_bytes(piece) : 0;
}

// Ids of the cache, four at a time: what is read and written beyond the last is not used.
uint32_t* copy_ids(std::span<const uint32_t> ids, uint32_t* out) {
  constexpr size_t kGroup = 4;
  for (size_t i = 0; i < ids.size(); i += kGroup) {
    std::memcpy(out + i, ids.data() + i, kGroup * sizeof(uint32_t));
  }
  return out + ids.size();
}

// Piece i of those that end at `ends`, of which the first begins at `begin`.
std::string_view piece_at(std::string_view text, size_t begin, std::span<const size_t> ends,
                          size_t i) {
  const size_t at = i == 0 ? begin : ends[i - 1];
  return {text.data() + at, ends[i] - at};
}

}  // namespace

// Memory that is not used is never touched, and growing copies all of it, so there is room for half
// as many more.
void reserve_expected_ids(size_t first, size_t done, size_t size, std::vector<uint32_t>& ids) {
  const double expected = static_cast<double>(ids.size() - first) * static_cast<double>(size) /
                          static_cast<double>(done);
  if (first + static_cast<size_t>(expected) <= ids.capacity()) {
    return;
  }
  const size_t room = first + static_cast<size_t>(1.5 * expected);
  ids.reserve(room);
  base::advise_huge_pages(ids.data() + ids.size(), (room - ids.size()) * sizeof(uint32_t));
}

PieceEncoder::PieceEncoder(const BpeEncoder& encoder, size_t cache_bytes)
    : encoder_(encoder), cache_bytes_(cache_bytes), cache_(cache_bytes) {}

void PieceEncoder::encode_text(std::string_view text, const PreSplitter& splitter,
                               std::vector<uint32_t>& ids) {
  const size_t first_id = ids.size();
  size_t next_estimate = kFirstEstimate;
  for (size_t begin = 0; begin < text.size();) {
    const size_t count = splitter.next_ends(text, begin, ends_);
    encode_step(text, begin, std::span<const size_t>(ends_).first(count), ids);
    begin = ends_[count - 1];
    if (begin >= next_estimate) {
      reserve_expected_ids(first_id, begin, text.size(), ids);
      next_estimate = 2 * begin;
    }
  }
}

// Keys of the pieces of a step, and the lines of the cache that hold them on their way. Returns
// whether one is too long for the short table.
bool PieceEncoder::make_keys(std::string_view text, size_t begin, std::span<const size_t> ends) {
  const char* const data = text.data();
  // All 16 bytes of a key can be read as long as that many are left from the last piece on.
  const bool near_end = text.size() - ends.back() < sizeof(ShortKey);
  bool any_long = false;
  size_t at = begin;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t size = ends[i] - at;
    if (size <= ShortKey::kLongest) {
      const ShortKey key = near_end ? ShortKey::of({data + at, size}, text.size() - at)
                                    : ShortKey::of_readable(data + at, size);
      keys_[i] = key;
      const size_t line = cache_.line_of(key);
      lines_[i] = static_cast<uint32_t>(line);
      cache_.prefetch(line);
    } else {
      const uint64_t hash = hash_long({data + at, size});
      keys_[i].low = hash;
      lines_[i] = kNoLine;
      cache_.prefetch_long(hash);
      any_long = true;
    }
    at = ends[i];
  }
  return any_long;
}

void PieceEncoder::encode_step(std::string_view text, size_t begin, std::span<const size_t> ends,
                               std::vector<uint32_t>& ids) {
  const bool any_long = make_keys(text, begin, ends);
  for (size_t i = 0; any_long && i < ends.size(); ++i) {
    if (lines_[i] == kNoLine) {
      cache_.prefetch_long_record(keys_[i].low);
    }
  }
  miss_count_ = 0;
  insert_count_ = 0;
  uint32_t* out = out_.data();
  for (size_t i = 0; i < ends.size(); ++i) {
    std::span<const uint32_t> found;
    if (lines_[i] != kNoLine) {
      const size_t count = cache_.find_short(keys_[i], lines_[i], out);
      if (count - 1 < PieceCache::kInlineIds) [[likely]] {
        out += count;
        continue;
      }
      found = cache_.find(keys_[i], lines_[i], out);
    } else {
      found = cache_.find_long(piece_at(text, begin, ends, i), keys_[i].low);
    }
    if (found.size() - 1 < kMostFound) {
      out = found.data() == out ? out + found.size() : copy_ids(found, out);
      continue;
    }
    Insert& insert = inserts_[insert_count_++];
    insert.out_count = static_cast<uint16_t>(out - out_.data());
    insert.piece = static_cast<uint16_t>(i);
    insert.miss = kNoMiss;
    const std::string_view piece = piece_at(text, begin, ends, i);
    if (found.empty() && piece.size() <= ShortPiece::kLongest) {
      misses_[miss_count_].bytes = piece.data();
      misses_[miss_count_].size = static_cast<uint32_t>(piece.size());
      insert.miss = static_cast<uint16_t>(miss_count_++);
    }
  }
  const size_t out_count = static_cast<size_t>(out - out_.data());
  if (insert_count_ == 0) {
    ids.insert(ids.end(), out_.data(), out);
  } else {
    append_with_inserts(text, begin, ends, out_count, ids);
  }
}

// Appends the ids found in the step and, between them, those of the other pieces.
void PieceEncoder::append_with_inserts(std::string_view text, size_t begin,
                                       std::span<const size_t> ends, size_t out_count,
                                       std::vector<uint32_t>& ids) {
  encoder_.encode_short({misses_.data(), miss_count_});
  std::array<uint32_t, PieceCache::kInlineIds> inline_ids;
  size_t appended = 0;
  for (const Insert& insert : std::span<const Insert>(inserts_.data(), insert_count_)) {
    ids.insert(ids.end(), out_.data() + appended, out_.data() + insert.out_count);
    appended = insert.out_count;
    const ShortKey& key = keys_[insert.piece];
    std::span<const uint32_t> found;
    if (insert.miss != kNoMiss) {
      const ShortPiece& miss = misses_[insert.miss];
      found = {miss.ids.data(), miss.count};
      const std::string_view piece(miss.bytes, miss.size);
      // It may come twice.
      if (piece.size() > ShortKey::kLongest) {
        if (cache_.find_long(piece, key.low).empty()) {
          cache_.add_long(piece, key.low, found);
        }
      } else if (cache_.find(key, cache_.line_of(key), inline_ids.data()).empty()) {
        cache_.add_short(key, found);
      }
    } else if (lines_[insert.piece] == kNoLine) {
      found = find_or_merge_long(piece_at(text, begin, ends, insert.piece), key.low);
    } else {
      found = find_or_merge_short(piece_at(text, begin, ends, insert.piece), key);
    }
    ids.insert(ids.end(), found.begin(), found.end());
  }
  ids.insert(ids.end(), out_.data() + appended, out_.data() + out_count);
  all_misses_ += miss_count_;
  if (all_misses_ > kMissesBeforeTokens && !has_tokens_) {
    has_tokens_ = true;
    if (encoder_.keeps_tokens() && cache_.has_room_for_short(encoder_.vocabulary().size())) {
      add_tokens();
    }
  }
}

// Adds every token of the vocabulary that is a short piece, in steps of which the lines are fetched
// beforehand: a long text has most of them, and so they need not be merged one by one.
void PieceEncoder::add_tokens() {
  const Vocabulary& vocabulary = encoder_.vocabulary();
  std::array<ShortKey, kStep> keys;
  std::array<uint32_t, kStep> ids;
  std::array<uint32_t, PieceCache::kInlineIds> found;
  cache_.reserve_short(vocabulary.size());
  for (uint32_t next = 0; next < vocabulary.id_limit();) {
    size_t count = 0;
    for (; next < vocabulary.id_limit() && count < kStep; ++next) {
      const std::string_view bytes = vocabulary.bytes(next);
      if (!bytes.empty() && bytes.size() <= ShortKey::kLongest) {
        keys[count] = ShortKey::of(bytes, bytes.size());
        cache_.prefetch(cache_.line_of(keys[count]));
        ids[count++] = next;
      }
    }
    for (size_t i = 0; i < count; ++i) {
      if (cache_.find(keys[i], cache_.line_of(keys[i]), found.data()).empty()) {
        cache_.add_short(keys[i], {&ids[i], 1});
      }
    }
  }
}

void PieceEncoder::encode_piece(std::string_view piece, std::vector<uint32_t>& ids) {
  const std::span<const uint32_t> found =
      piece.size() <= ShortKey::kLongest
          ? find_or_merge_short(piece, ShortKey::of(piece, piece.size()))
          : find_or_merge_long(piece, hash_long(piece));
  ids.insert(ids.end(), found.begin(), found.end());
}

std::span<const uint32_t> PieceEncoder::find_or_merge_short(std::string_view piece,
                                                            const ShortKey& key) {
  const std::span<const uint32_t> found = cache_.find(key, cache_.line_of(key), found_ids_.data());
  if (!found.empty()) {
    return found;
  }
  merged_.clear();
  encoder_.encode(piece, scratch_, merged_);
  cache_.add_short(key, merged_);
  return merged_;
}

std::span<const uint32_t> PieceEncoder::find_or_merge_long(std::string_view piece, uint64_t hash) {
  if (piece.size() > max_piece_) {
    throw PieceTooLong(piece);
  }
  const bool cached = piece.size() <= PieceCache::kLongestCached;
  if (cached) {
    const std::span<const uint32_t> found = cache_.find_long(piece, hash);
    if (!found.empty()) {
      return found;
    }
  }
  merged_.clear();
  encoder_.encode(piece, scratch_, merged_);
  if (cached) {
    cache_.add_long(piece, hash, merged_);
  }
  return merged_;
}

PieceEncoderPool::Lease::Lease(PieceEncoderPool& pool, const BpeEncoder& encoder,
                               size_t cache_bytes)
    : pool_(pool) {
  {
    const std::lock_guard<std::mutex> lock(pool_.mutex_);
    if (!pool_.idle_.empty()) {
      encoder_ = std::move(pool_.idle_.back());
      pool_.idle_.pop_back();
    }
  }
  if (encoder_ == nullptr || encoder_->cache_bytes() != cache_bytes) {
    encoder_ = std::make_unique<PieceEncoder>(encoder, cache_bytes);
  }
}

PieceEncoderPool::Lease::~Lease() {
  const std::lock_guard<std::mutex> lock(pool_.mutex_);
  pool_.idle_.push_back(std::move(encoder_));
}

}  // namespace netcl::text
