// SPDX-License-Identifier: Apache-2.0
// The vectorised scanners of the known patterns, one set for each level of base::CpuLevel. They
// give exactly the pieces of the scalar scanners for any bytes.
#ifndef NETCL_TEXT_BLOCK_SCANNERS_H_
#define NETCL_TEXT_BLOCK_SCANNERS_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace netcl::text {

// PreSplitter::next_ends() of one pattern.
using ScanFunction = size_t (*)(std::string_view text, size_t begin, std::span<size_t> ends);

struct ScanFunctions {
  ScanFunction gpt2;
  ScanFunction cl100k;
  ScanFunction qwen2;
  ScanFunction o200k;
};

// A set may be called only on a machine of its level.
#if defined(__x86_64__)
extern const ScanFunctions kSse2Scanners;
extern const ScanFunctions kAvx2Scanners;
extern const ScanFunctions kAvx512Scanners;
#elif defined(__aarch64__)
extern const ScanFunctions kNeonScanners;
#endif

}  // namespace netcl::text

#endif  // NETCL_TEXT_BLOCK_SCANNERS_H_
