// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <algorithm>

#include "support/catch.h"

using namespace netcl::base;

TEST_CASE("cpu: the limit caps the level and never raises it") {
  const CpuLevel before = cpu_level_limit();
  const auto levels = machine_cpu_levels();
  for (const CpuLevel limit : all_cpu_levels()) {
    limit_cpu_level(limit);
    CHECK(cpu_level_limit() == limit);
    const auto above = std::upper_bound(levels.begin(), levels.end(), limit);
    CHECK(cpu_level() == *(above - 1));
  }
  limit_cpu_level(before);
}

TEST_CASE("cpu: the levels of a machine ascend from scalar") {
  const auto levels = machine_cpu_levels();
  CHECK(levels.front() == CpuLevel::kScalar);
  CHECK(levels.back() == machine_cpu_level());
  CHECK(std::is_sorted(levels.begin(), levels.end()));
#if defined(__x86_64__)
  REQUIRE(levels.size() >= 2);
  CHECK(levels[1] == CpuLevel::kSse2);
  CHECK(machine_cpu_level() <= CpuLevel::kAvx512);
#elif defined(__aarch64__)
  CHECK(machine_cpu_level() == CpuLevel::kNeon);
#else
  CHECK(machine_cpu_level() == CpuLevel::kScalar);
#endif
}

TEST_CASE("cpu: names of levels") {
  CHECK(cpu_level_name(CpuLevel::kScalar) == "scalar");
  CHECK(cpu_level_name(CpuLevel::kSse2) == "sse2");
  CHECK(cpu_level_name(CpuLevel::kAvx2) == "avx2");
  CHECK(cpu_level_name(CpuLevel::kAvx512) == "avx512");
  CHECK(cpu_level_name(CpuLevel::kNeon) == "neon");
}

TEST_CASE("cpu: a level is found by its name alone") {
  CHECK(all_cpu_levels().size() == 5);
  for (const CpuLevel level : all_cpu_levels()) {
    CHECK(find_cpu_level(cpu_level_name(level)) == level);
  }
  CHECK(!find_cpu_level(""));
  CHECK(!find_cpu_level("AVX2"));
  CHECK(!find_cpu_level("avx"));
}
