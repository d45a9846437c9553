// SPDX-License-Identifier: Apache-2.0
#include "base/peak_memory.h"

#include <vector>

#include "support/catch.h"

using netcl::base::peak_memory_bytes;

TEST_CASE("peak memory: it grows with memory that is touched and does not fall") {
  constexpr size_t kBytes = size_t{96} << 20;
  constexpr size_t kOthers = size_t{32} << 20;  // that come or go meanwhile
  const uint64_t before = peak_memory_bytes();
  REQUIRE(before > 0);
  REQUIRE(before < uint64_t{1} << 40);
  uint64_t with = 0;
  {
    const std::vector<char> touched(before + kBytes, 'x');
    with = peak_memory_bytes();
    CHECK(touched.back() == 'x');
  }
  CHECK(with >= before + kBytes - kOthers);
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // which keep notes of all memory
  CHECK(with <= 2 * before + kBytes + kOthers);
#endif
  CHECK(peak_memory_bytes() + (size_t{1} << 20) >= with);  // the system counts in batches
}
