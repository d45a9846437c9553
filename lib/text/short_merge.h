// SPDX-License-Identifier: Apache-2.0
// BPE of pieces of up to 32 bytes with the ranks of all their pairs in vector registers: the lowest
// is found by a few minima, and no branch depends on where it lies, which is what merging by
// scanning (bpe_encoder.cpp, the same ids) spends half of its time on. One function for each level
// of base::CpuLevel that has such registers.
#ifndef NETCL_TEXT_SHORT_MERGE_H_
#define NETCL_TEXT_SHORT_MERGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cpu.h"
#include "text/pair_table.h"

namespace netcl::text {

struct MergeTables {
  const PairTable* ranks;
  const uint32_t* byte_ids;     // of every byte; PairTable::kNoId for none
  const uint32_t* first_ranks;  // of every two bytes, the first one low; PairTable::kNone for none
  const uint32_t* results;      // id by rank; null where the rank is the id
};

// A piece to merge and what it comes to.
struct ShortPiece {
  static constexpr size_t kLongest = 32;

  const char* bytes = nullptr;
  uint32_t size = 0;   // 1 to kLongest
  uint32_t count = 0;  // of ids
  std::array<uint32_t, kLongest> ids;
};

// Merges every piece. Each look-up of a pair waits for the memory; several pieces at once wait
// together, those of up to 16 bytes and those of more apart.
using ShortMerge = void (*)(const MergeTables& tables, std::span<ShortPiece> pieces);

// Null where the level has none.
ShortMerge short_merge(base::CpuLevel level);

#if defined(__x86_64__)
// May be called only on a machine of that level.
void short_merge_avx2(const MergeTables& tables, std::span<ShortPiece> pieces);
void short_merge_avx512(const MergeTables& tables, std::span<ShortPiece> pieces);
#endif

}  // namespace netcl::text

#endif  // NETCL_TEXT_SHORT_MERGE_H_
