// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include "support/catch.h"

using namespace netcl::base;

TEST_CASE("cpu: the limit caps the level and never raises it") {
  const CpuLevel before = cpu_level_limit();
  for (const CpuLevel limit :
       {CpuLevel::kScalar, CpuLevel::kSse2, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    limit_cpu_level(limit);
    CHECK(cpu_level_limit() == limit);
    CHECK(cpu_level() <= limit);
    CHECK(cpu_level() <= machine_cpu_level());
    CHECK((cpu_level() == limit || cpu_level() == machine_cpu_level()));
  }
  limit_cpu_level(before);
#if defined(__x86_64__)
  CHECK(machine_cpu_level() >= CpuLevel::kSse2);
#else
  CHECK(machine_cpu_level() == CpuLevel::kScalar);
#endif
}

TEST_CASE("cpu: names of levels") {
  CHECK(cpu_level_name(CpuLevel::kScalar) == "scalar");
  CHECK(cpu_level_name(CpuLevel::kSse2) == "sse2");
  CHECK(cpu_level_name(CpuLevel::kAvx2) == "avx2");
  CHECK(cpu_level_name(CpuLevel::kAvx512) == "avx512");
}
