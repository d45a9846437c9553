// SPDX-License-Identifier: Apache-2.0
#include "text/piece_lookup.h"

#include <cstring>

namespace netcl::text {

namespace {

#define NETCL_LOOKUP_TARGET

struct Key {
  ShortKey words;

  static Key of_readable(const char* bytes, size_t size) {
    return {ShortKey::of_readable(bytes, size)};
  }
  static Key of(const ShortKey& key) { return {key}; }
  static Key load(const ShortKey& key) { return {key}; }
  void store(ShortKey& key) const { key = words; }
  uint64_t hash() const { return PieceCache::mixed_hash(words); }
  size_t find_in(const PieceCache::Line& line, uint32_t* out) const {
    return line.find(words, out);
  }
};

#include "text/piece_lookup.inc"

constexpr PieceLookup kPlain = {PieceCache::mixed_hash, look_up};

}  // namespace

const PieceLookup& piece_lookup(base::CpuLevel level) {
#if defined(__x86_64__)
  switch (level) {
    case base::CpuLevel::kScalar:
    case base::CpuLevel::kSse2:
    case base::CpuLevel::kNeon:
      break;
    case base::CpuLevel::kAvx2:
    case base::CpuLevel::kAvx512:
      return kPieceLookupAvx2;
  }
#else
  static_cast<void>(level);
#endif
  return kPlain;
}

}  // namespace netcl::text
