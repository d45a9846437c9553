// SPDX-License-Identifier: Apache-2.0
#include "text/piece_cache.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/rng.h"
#include "support/catch.h"
#include "text/pair_table.h"
#include "text/piece_lookup.h"

using netcl::base::Rng;
using netcl::text::hash_bytes;
using netcl::text::PairTable;
using netcl::text::PieceCache;
using netcl::text::PieceLookup;
using netcl::text::PieceStep;
using netcl::text::ShortKey;

namespace {

// Ids that can be told from the piece, so that a wrong answer is seen whatever was evicted.
std::vector<uint32_t> ids_of(const std::string& piece) {
  const size_t hash = std::hash<std::string>()(piece);
  std::vector<uint32_t> ids(1 + hash % 6);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<uint32_t>((hash >> (4 * i)) & 0xFFFFFF);
  }
  return ids;
}

std::string random_piece(Rng& rng, size_t longest) {
  std::string piece(1 + rng.below(longest), '\0');
  for (char& c : piece) {
    c = static_cast<char>(rng.below(4) == 0 ? 0 : rng.below(256));
  }
  return piece;
}

}  // namespace

TEST_CASE("pair table: equals a map of random pairs while it grows") {
  Rng rng(1);
  PairTable table;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> wanted;
  for (int i = 0; i < 200000; ++i) {
    // Runs of neighbouring ids, small and large ones.
    const auto left = static_cast<uint32_t>(rng.below(i % 2 == 0 ? 300 : 0xFFFFFF));
    const auto right = static_cast<uint32_t>(rng.below(i % 3 == 0 ? 300 : 0xFFFFFF));
    const auto rank = static_cast<uint32_t>(rng.below(0xFFFFFF));
    table.set(left, right, rank);
    wanted[{left, right}] = rank;
  }
  REQUIRE(table.size() == wanted.size());
  size_t different = 0;
  for (const auto& [pair, rank] : wanted) {
    different += table.find(pair.first, pair.second) == rank ? 0 : 1;
  }
  CHECK(different == 0);
  for (int i = 0; i < 200000; ++i) {
    const auto left = static_cast<uint32_t>(rng.below(0xFFFFFF));
    const auto right = static_cast<uint32_t>(rng.below(0xFFFFFF));
    if (!wanted.contains({left, right})) {
      different += table.find(left, right) == PairTable::kNone ? 0 : 1;
    }
  }
  CHECK(different == 0);
}

TEST_CASE("short key: tells every two pieces apart and reads no further than it may") {
  Rng rng(2);
  std::map<std::pair<uint64_t, uint64_t>, std::string> seen;
  for (int i = 0; i < 100000; ++i) {
    const std::string piece = random_piece(rng, ShortKey::kLongest);
    const ShortKey tight = ShortKey::of(piece, piece.size());
    const std::string longer = piece + random_piece(rng, 40) + std::string(16, 'x');
    const ShortKey roomy = ShortKey::of({longer.data(), piece.size()}, longer.size());
    REQUIRE((tight.low == roomy.low && tight.high == roomy.high));
    const auto [at, is_new] = seen.emplace(std::pair(tight.low, tight.high), piece);
    REQUIRE((is_new || at->second == piece));
  }
}

TEST_CASE("piece cache: never gives ids of another piece, at any size") {
  for (const size_t max_bytes : {size_t{0}, size_t{4} << 20, size_t{64} << 20}) {
    Rng rng(3);
    PieceCache cache(max_bytes);
    size_t wrong = 0, found_short = 0, found_long = 0;
    for (int i = 0; i < 400000; ++i) {
      Rng few(rng.below(20000));  // so that long ones come back too
      const std::string piece = i % 8 == 0 ? random_piece(few, 40) : random_piece(rng, 3);
      const std::vector<uint32_t> ids = ids_of(piece);
      if (piece.size() <= ShortKey::kLongest) {
        const ShortKey key = ShortKey::of(piece, piece.size());
        std::array<uint32_t, PieceCache::kInlineIds> room{};
        const auto found = cache.find(key, cache.line_of(key), room.data());
        if (found.empty()) {
          cache.add_short(key, ids);
          continue;
        }
        ++found_short;
        wrong += std::ranges::equal(found, ids) ? 0 : 1;
      } else {
        const auto found = cache.find_long(piece, hash_bytes(piece));
        if (found.empty()) {
          cache.add_long(piece, hash_bytes(piece), ids);
          continue;
        }
        ++found_long;
        wrong += std::vector<uint32_t>(found.begin(), found.end()) == ids ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    CHECK(found_short > 1000);
    CHECK(found_long > 100);
  }
}

// Every piece of a text is either found with its ids or named as one to insert, at every level.
TEST_CASE("piece lookup: finds what the cache has, at every level") {
  for (const netcl::base::CpuLevel level : netcl::base::machine_cpu_levels()) {
    CAPTURE(netcl::base::cpu_level_name(level));
    const PieceLookup& lookup = netcl::text::piece_lookup(level);
    Rng rng(4);
    PieceCache cache(1 << 22, lookup.hash);
    const auto step = std::make_unique<PieceStep>();
    std::map<std::string, bool> is_known;
    std::vector<size_t> ends;
    size_t found = 0, inserted = 0, wrong = 0, forgotten = 0;
    for (int round = 0; round < 400; ++round) {
      std::string text;
      std::vector<std::string> pieces;
      ends.clear();
      for (size_t count = 1 + rng.below(PieceStep::kPieces); count > 0; --count) {
        pieces.push_back(random_piece(rng, rng.below(10) == 0 ? 1100 : rng.below(8) == 0 ? 40 : 2));
        text += pieces.back();
        ends.push_back(text.size());
      }
      text.shrink_to_fit();  // so that the address sanitizer sees reading beyond the end
      step->text = text;
      step->begin = 0;
      step->ends = ends;
      lookup.look_up(*step, cache);
      size_t place = 0, insert = 0, misses = 0;
      for (size_t i = 0; i < pieces.size(); ++i) {
        const std::vector<uint32_t> ids = ids_of(pieces[i]);
        if (insert < step->insert_count && step->inserts[insert].piece == i) {
          const PieceStep::Insert& missing = step->inserts[insert++];
          wrong += missing.id_count == place ? 0 : 1;
          const bool is_miss = missing.miss != PieceStep::kNoMiss;
          wrong += is_miss == (pieces[i].size() <= 32) ? 0 : 1;
          wrong += !is_miss || step->misses[missing.miss].bytes == step->piece(i).data() ? 0 : 1;
          wrong += !is_miss || step->misses[missing.miss].size == pieces[i].size() ? 0 : 1;
          misses += is_miss ? 1 : 0;
          forgotten += is_known[pieces[i]] ? 1 : 0;
          ++inserted;
        } else {
          const auto at = step->ids.begin() + static_cast<std::ptrdiff_t>(place);
          wrong += is_known[pieces[i]] && std::equal(ids.begin(), ids.end(), at) ? 0 : 1;
          place += ids.size();
          ++found;
        }
      }
      wrong += place == step->id_count && misses == step->miss_count ? 0 : 1;
      for (size_t i = 0; i < step->insert_count; ++i) {
        const std::string& piece = pieces[step->inserts[i].piece];
        if (is_known[piece]) {
          continue;
        }
        if (piece.size() <= ShortKey::kLongest) {
          cache.add_short(ShortKey::of(piece, piece.size()), ids_of(piece));
        } else if (piece.size() <= PieceCache::kLongestCached) {
          cache.add_long(piece, hash_bytes(piece), ids_of(piece));
        } else {
          continue;
        }
        is_known[piece] = true;
      }
    }
    CHECK(wrong == 0);
    CHECK(found > 10000);
    CHECK(inserted > 1000);
    CHECK(forgotten * 20 < inserted);  // two of one step, and what is overwritten
  }
}
