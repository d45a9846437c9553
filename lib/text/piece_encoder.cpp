// SPDX-License-Identifier: Apache-2.0
#include "text/piece_encoder.h"

#include <utility>

namespace netcl::text {

namespace {

constexpr size_t kNoBucket = SIZE_MAX;  // a piece too long for the short table

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

void PieceEncoder::encode_step(std::string_view text, size_t begin, std::span<const size_t> ends,
                               std::vector<uint32_t>& ids) {
  size_t at = begin;
  bool any_long = false;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t size = ends[i] - at;
    if (size <= ShortKey::kLongest) {
      keys_[i] = ShortKey::of(text.substr(at, size), text.size() - at);
      buckets_[i] = cache_.bucket_of(keys_[i]);
      cache_.prefetch(buckets_[i]);
    } else {
      keys_[i].low = hash_long(text.substr(at, size));
      buckets_[i] = kNoBucket;
      cache_.prefetch_long(keys_[i].low);
      any_long = true;
    }
    at = ends[i];
  }
  for (size_t i = 0; any_long && i < ends.size(); ++i) {
    if (buckets_[i] == kNoBucket) {
      cache_.prefetch_long_record(keys_[i].low);
    }
  }
  at = begin;
  uint32_t* out = out_.data();
  for (size_t i = 0; i < ends.size(); ++i) {
    const std::string_view piece = text.substr(at, ends[i] - at);
    at = ends[i];
    std::span<const uint32_t> found;
    if (buckets_[i] != kNoBucket) {
      if (const size_t count = cache_.find_short(keys_[i], buckets_[i], out); count > 0) {
        out += count;
        continue;
      }
      found = merge_short(piece, keys_[i]);
      if (cache_.bucket_of(keys_[i]) != buckets_[i]) {  // the table has grown
        for (size_t j = i + 1; j < ends.size(); ++j) {
          buckets_[j] = buckets_[j] == kNoBucket ? kNoBucket : cache_.bucket_of(keys_[j]);
        }
      }
    } else {
      found = find_or_merge_long(piece, keys_[i].low);
    }
    if (found.size() > PieceCache::kInlineIds) {
      ids.insert(ids.end(), out_.data(), out);
      ids.insert(ids.end(), found.begin(), found.end());
      out = out_.data();
    } else {
      out = std::copy(found.begin(), found.end(), out);
    }
  }
  ids.insert(ids.end(), out_.data(), out);
}

void PieceEncoder::encode_piece(std::string_view piece, std::vector<uint32_t>& ids) {
  std::span<const uint32_t> found;
  if (piece.size() <= ShortKey::kLongest) {
    const ShortKey key = ShortKey::of(piece, piece.size());
    std::array<uint32_t, PieceCache::kInlineIds> cached;
    if (const size_t count = cache_.find_short(key, cache_.bucket_of(key), cached.data());
        count > 0) {
      ids.insert(ids.end(), cached.begin(), cached.begin() + count);
      return;
    }
    found = merge_short(piece, key);
  } else {
    found = find_or_merge_long(piece, hash_long(piece));
  }
  ids.insert(ids.end(), found.begin(), found.end());
}

// The short table has not got the piece; one of more than four ids may be in the long one.
std::span<const uint32_t> PieceEncoder::merge_short(std::string_view piece, const ShortKey& key) {
  uint64_t hash = 0;
  if (piece.size() > PieceCache::kInlineIds) {
    hash = hash_long(piece);
    const std::span<const uint32_t> found = cache_.find_long(piece, hash);
    if (!found.empty()) {
      return found;
    }
  }
  merged_.clear();
  encoder_.encode(piece, scratch_, merged_);
  if (merged_.size() <= PieceCache::kInlineIds) {
    cache_.add_short(key, merged_);
  } else {
    cache_.add_long(piece, hash, merged_);
  }
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
