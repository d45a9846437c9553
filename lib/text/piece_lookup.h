// SPDX-License-Identifier: Apache-2.0
// Looking the pieces of a text up in the cache of pieces, many at a time: the inner loop of
// encoding text that was seen before. First the keys of all pieces of a step are made and their
// lines of the cache prefetched, so that the cache misses overlap; then they are compared. One
// function for each level of base::CpuLevel that gains by registers of its own. After the study of
// exact encoders by which this project began: keys in vector registers, hashed by rounds of AES.
#ifndef NETCL_TEXT_PIECE_LOOKUP_H_
#define NETCL_TEXT_PIECE_LOOKUP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/cpu.h"
#include "text/piece_cache.h"
#include "text/short_merge.h"

namespace netcl::text {

// Some pieces of a text that follow each other, and what the cache says of them.
struct PieceStep {
  static constexpr size_t kPieces = 256;
  // Ids of a piece that are copied from the cache at once, at most.
  static constexpr size_t kMostFound = 32;
  static constexpr uint16_t kNoMiss = UINT16_MAX;
  static constexpr uint32_t kNoLine = UINT32_MAX;  // a piece too long for the short table

  // A piece whose ids are not among the ids found.
  struct Insert {
    uint16_t id_count;  // ids found that come before it
    uint16_t piece;     // its number in the step
    uint16_t miss;      // its number in misses, or kNoMiss: it is long or has many ids
  };

  // Given: the pieces end at `ends` (1 to kPieces) of `text`, and the first begins at `begin`.
  std::string_view text;
  size_t begin = 0;
  std::span<const size_t> ends;

  std::array<ShortKey, kPieces> keys;  // .low is the hash of a long piece
  std::array<uint32_t, kPieces> lines;
  std::array<uint16_t, kPieces> long_pieces;
  size_t long_count = 0;

  std::array<uint32_t, kMostFound * kPieces + PieceCache::kInlineIds> ids;
  size_t id_count = 0;
  std::array<Insert, kPieces> inserts;
  size_t insert_count = 0;
  // Short pieces that the cache has not got, to be merged all at once.
  std::array<ShortPiece, kPieces> misses;
  size_t miss_count = 0;

  std::string_view piece(size_t number) const {
    const size_t at = number == 0 ? begin : ends[number - 1];
    return {text.data() + at, ends[number] - at};
  }
};

// Of the pieces that the cache never holds no hash is made.
inline uint64_t hash_long_piece(std::string_view piece) {
  return piece.size() <= PieceCache::kLongestCached ? hash_bytes(piece) : 0;
}

struct PieceLookup {
  PieceCache::KeyHash hash;  // the cache must have been made with it
  // Fills all of `step` but what is given.
  void (*look_up)(PieceStep& step, const PieceCache& cache);
};

// The one to use at a level of this machine.
const PieceLookup& piece_lookup(base::CpuLevel level);

#if defined(__x86_64__)
// May be used only on a machine of that level.
extern const PieceLookup kPieceLookupAvx2;
#endif

}  // namespace netcl::text

#endif  // NETCL_TEXT_PIECE_LOOKUP_H_
