// SPDX-License-Identifier: Apache-2.0
#include "text/piece_encoder.h"

#include <utility>

#include "base/big_buffer.h"

namespace netcl::text {

namespace {

// Bytes of a text after which the number of its ids is estimated.
constexpr size_t kFirstEstimate = size_t{1} << 18;

// Short pieces merged before all tokens are added to the cache: a text that has so many different
// ones is a long one.
constexpr size_t kMissesBeforeTokens = 16384;

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
    : encoder_(encoder),
      cache_bytes_(cache_bytes),
      lookup_(piece_lookup(base::cpu_level())),
      cache_(cache_bytes, lookup_.hash) {}

void PieceEncoder::encode_text(std::string_view text, const PreSplitter& splitter,
                               std::vector<uint32_t>& ids) {
  const size_t first_id = ids.size();
  size_t next_estimate = kFirstEstimate;
  step_.text = text;
  for (size_t begin = 0; begin < text.size();) {
    const size_t count = splitter.next_ends(text, begin, ends_);
    step_.begin = begin;
    step_.ends = std::span<const size_t>(ends_).first(count);
    lookup_.look_up(step_, cache_);
    append_step(ids);
    begin = ends_[count - 1];
    if (begin >= next_estimate) {
      reserve_expected_ids(first_id, begin, text.size(), ids);
      next_estimate = 2 * begin;
    }
  }
}

// Appends the ids found in the step and, between them, those of the other pieces.
void PieceEncoder::append_step(std::vector<uint32_t>& ids) {
  const uint32_t* const found_ids = step_.ids.data();
  if (step_.insert_count > 0) {
    encoder_.encode_short({step_.misses.data(), step_.miss_count});
  }
  size_t appended = 0;
  for (const PieceStep::Insert& insert : std::span(step_.inserts).first(step_.insert_count)) {
    ids.insert(ids.end(), found_ids + appended, found_ids + insert.id_count);
    appended = insert.id_count;
    const std::span<const uint32_t> inserted = ids_of(insert);
    ids.insert(ids.end(), inserted.begin(), inserted.end());
  }
  ids.insert(ids.end(), found_ids + appended, found_ids + step_.id_count);
  all_misses_ += step_.miss_count;
  if (all_misses_ > kMissesBeforeTokens && !has_tokens_) {
    has_tokens_ = true;
    if (encoder_.keeps_tokens() && cache_.has_room_for_short(encoder_.vocabulary().size())) {
      add_tokens();
    }
  }
}

std::span<const uint32_t> PieceEncoder::ids_of(const PieceStep::Insert& insert) {
  const std::string_view piece = step_.piece(insert.piece);
  const ShortKey& key = step_.keys[insert.piece];
  if (insert.miss == PieceStep::kNoMiss) {
    return step_.lines[insert.piece] == PieceStep::kNoLine ? find_or_merge_long(piece, key.low)
                                                           : find_or_merge_short(piece, key);
  }
  const ShortPiece& miss = step_.misses[insert.miss];
  const std::span<const uint32_t> merged(miss.ids.data(), miss.count);
  // It may come twice.
  if (piece.size() > ShortKey::kLongest) {
    if (cache_.find_long(piece, key.low).empty()) {
      cache_.add_long(piece, key.low, merged);
    }
  } else if (cache_.find(key, cache_.line_of(key), found_ids_.data()).empty()) {
    cache_.add_short(key, merged);
  }
  return merged;
}

// Adds every token of the vocabulary that is a short piece, in steps of which the lines are fetched
// beforehand: a long text has most of them, and so they need not be merged one by one.
void PieceEncoder::add_tokens() {
  const Vocabulary& vocabulary = encoder_.vocabulary();
  constexpr size_t kAtOnce = PieceStep::kPieces;
  std::array<ShortKey, kAtOnce> keys;
  std::array<uint32_t, kAtOnce> ids;
  std::array<uint32_t, PieceCache::kInlineIds> found;
  cache_.reserve_short(vocabulary.size());
  for (uint32_t next = 0; next < vocabulary.id_limit();) {
    size_t count = 0;
    for (; next < vocabulary.id_limit() && count < kAtOnce; ++next) {
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
          : find_or_merge_long(piece, hash_long_piece(piece));
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
