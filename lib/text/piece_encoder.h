// SPDX-License-Identifier: Apache-2.0
// BPE of one piece after the other through a cache of pieces seen before: what turns the fast paths
// of splitter, cache and encoder into ids.
#ifndef NETCL_TEXT_PIECE_ENCODER_H_
#define NETCL_TEXT_PIECE_ENCODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "text/bpe_encoder.h"
#include "text/char_bpe_encoder.h"
#include "text/piece_cache.h"
#include "text/piece_lookup.h"
#include "text/pre_splitter.h"
#include "text/pre_tokenizer.h"

namespace netcl::text {

// A piece that is longer than it may be. Internal: BpeTokenizer makes a FormatError of it.
struct PieceTooLong : std::exception {
  explicit PieceTooLong(std::string_view bytes) : piece(bytes) {}
  std::string_view piece;
};

// Makes room for the ids of a text of `size` bytes whose first `done` bytes gave the ids from
// `first` on, if the rest has as many a byte. In huge pages, since filling fresh memory takes a
// good part of the time of encoding.
void reserve_expected_ids(size_t first, size_t done, size_t size, std::vector<uint32_t>& ids);

// Not thread-safe: one per thread. Refers to the encoder, which must outlive it.
class PieceEncoder {
 public:
  PieceEncoder(const BpeEncoder& encoder, size_t cache_bytes);

  size_t cache_bytes() const { return cache_bytes_; }
  // A piece longer than `bytes` (at least ShortPiece::kLongest) makes encode_text throw
  // PieceTooLong; the ids before it have been appended or not. At most 4 GiB - 2 bytes.
  void set_max_piece(uint64_t bytes) { max_piece_ = bytes; }

  // Appends the ids of all of `text`, cut by a splitter that covers it.
  void encode_text(std::string_view text, const PreSplitter& splitter, std::vector<uint32_t>& ids);
  // Appends the ids of one piece, which is not empty.
  void encode_piece(std::string_view piece, std::vector<uint32_t>& ids);

  // For callers that split or encode by other means; reused from call to call.
  PreTokenized& pre_tokenized() { return pre_tokenized_; }
  PieceCache& cache() { return cache_; }
  CharBpeEncoder::Scratch& char_scratch() { return char_scratch_; }

 private:
  void append_step(std::vector<uint32_t>& ids);
  std::span<const uint32_t> ids_of(const PieceStep::Insert& insert);
  void add_tokens();
  std::span<const uint32_t> find_or_merge_short(std::string_view piece, const ShortKey& key);
  std::span<const uint32_t> find_or_merge_long(std::string_view piece, uint64_t hash);

  const BpeEncoder& encoder_;
  size_t cache_bytes_;
  const PieceLookup& lookup_;
  uint64_t max_piece_ = UINT32_MAX - 1;
  PieceCache cache_;
  size_t all_misses_ = 0;
  bool has_tokens_ = false;  // it was time to add them to the cache
  EncodeScratch scratch_;
  PreTokenized pre_tokenized_;
  CharBpeEncoder::Scratch char_scratch_;
  std::vector<uint32_t> merged_;
  std::array<size_t, PieceStep::kPieces> ends_;
  PieceStep step_;
  std::array<uint32_t, PieceCache::kInlineIds> found_ids_;
};

// Piece encoders that are not in use, so that the next call finds a warm cache. Safe from several
// threads; as many encoders are made as calls run at once.
class PieceEncoderPool {
 public:
  // Holds an encoder and gives it back.
  class Lease {
   public:
    Lease(PieceEncoderPool& pool, const BpeEncoder& encoder, size_t cache_bytes);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    PieceEncoder& operator*() const { return *encoder_; }
    PieceEncoder* operator->() const { return encoder_.get(); }

   private:
    PieceEncoderPool& pool_;
    std::unique_ptr<PieceEncoder> encoder_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<PieceEncoder>> idle_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PIECE_ENCODER_H_
