// SPDX-License-Identifier: Apache-2.0
#include "text/piece_encoder.h"

#include <utility>

namespace netcl::text {

namespace {

constexpr size_t kNoLine = UINT32_MAX;  // a piece too long for the short table

// Of the pieces that the cache never holds no hash is made.
uint64_t hash_long(std::string_view piece) {
  return piece.size() <= PieceCache::kLongestCached ? hash_bytes(piece) : 0;
}

}  // namespace

PieceEncoder::PieceEncoder(const BpeEncoder& encoder, size_t cache_bytes)
    : encoder_(encoder), cache_bytes_(cache_bytes), cache_(cache_bytes) {}

void PieceEncoder::encode_text(std::string_view text, const PreSplitter& splitter,
                               std::vector<uint32_t>& ids) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t count = splitter.next_ends(text, begin, ends_);
    encode_step(text, begin, std::span<const size_t>(ends_).first(count), ids);
    begin = ends_[count - 1];
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
  bool merged = false;  // what the cache has not got
  uint32_t* out = out_.data();
  for (size_t i = 0; i < ends.size(); ++i) {
    if (lines_[i] != kNoLine) {
      const size_t count = cache_.find_short(keys_[i], lines_[i], out);
      if (count - 1 < PieceCache::kInlineIds) [[likely]] {
        out += count;
        continue;
      }
    }
    const size_t at = i == 0 ? begin : ends[i - 1];
    const std::string_view piece(text.data() + at, ends[i] - at);
    std::span<const uint32_t> found;
    if (lines_[i] == kNoLine) {
      found = find_or_merge_long(piece, keys_[i].low);
    } else {
      found = find_short(keys_[i], lines_[i], out);
      if (found.empty() && !merged) {
        merge_misses(text, begin, ends, i);
        merged = true;
        found = find_short(keys_[i], lines_[i], out);
      }
      if (found.empty()) {  // overwritten by another piece of the step
        merged_.clear();
        encoder_.encode(piece, scratch_, merged_);
        found = merged_;
      }
    }
    if (found.size() > PieceCache::kInlineIds) {
      ids.insert(ids.end(), out_.data(), out);
      ids.insert(ids.end(), found.begin(), found.end());
      out = out_.data();
    } else {
      out = found.data() == out ? out + found.size() : std::copy(found.begin(), found.end(), out);
    }
  }
  ids.insert(ids.end(), out_.data(), out);
}

// The ids of a short piece, in the cache or at `out`, which has room for kInlineIds; empty when the
// cache has not got it.
std::span<const uint32_t> PieceEncoder::find_short(const ShortKey& key, size_t line,
                                                   uint32_t* out) const {
  size_t count = cache_.find_short(key, line, out);
  if (count == 0) {
    count = cache_.find_short_beside(key, line, out);
  }
  return count == PieceCache::kMore ? cache_.more_ids(out) : std::span<const uint32_t>(out, count);
}

// Merges the short pieces of the step, from one on, that the cache has not got, all at once, and
// adds them to it.
void PieceEncoder::merge_misses(std::string_view text, size_t begin, std::span<const size_t> ends,
                                size_t from) {
  std::array<uint32_t, PieceCache::kInlineIds> ids;
  size_t count = 0;
  for (size_t i = from; i < ends.size(); ++i) {
    if (lines_[i] != kNoLine && find_short(keys_[i], lines_[i], ids.data()).empty()) {
      const size_t at = i == 0 ? begin : ends[i - 1];
      misses_[count].bytes = text.data() + at;
      misses_[count].size = static_cast<uint32_t>(ends[i] - at);
      miss_places_[count] = static_cast<uint16_t>(i);
      ++count;
    }
  }
  const std::span<ShortPiece> misses(misses_.data(), count);
  encoder_.encode_short(misses);
  for (size_t i = 0; i < count; ++i) {
    const ShortKey& key = keys_[miss_places_[i]];
    if (find_short(key, cache_.line_of(key), ids.data()).empty()) {  // it may be there twice
      cache_.add_short(key, {misses[i].ids.data(), misses[i].count});
    }
  }
  for (size_t i = from; i < ends.size(); ++i) {  // the table may have grown
    lines_[i] = lines_[i] == kNoLine ? kNoLine : static_cast<uint32_t>(cache_.line_of(keys_[i]));
  }
}

void PieceEncoder::encode_piece(std::string_view piece, std::vector<uint32_t>& ids) {
  std::span<const uint32_t> found;
  std::array<uint32_t, PieceCache::kInlineIds> inline_ids;
  if (piece.size() <= ShortKey::kLongest) {
    const ShortKey key = ShortKey::of(piece, piece.size());
    found = find_short(key, cache_.line_of(key), inline_ids.data());
    if (found.empty()) {
      merged_.clear();
      encoder_.encode(piece, scratch_, merged_);
      cache_.add_short(key, merged_);
      found = merged_;
    }
  } else {
    found = find_or_merge_long(piece, hash_long(piece));
  }
  ids.insert(ids.end(), found.begin(), found.end());
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
