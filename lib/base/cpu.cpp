// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <algorithm>
#include <atomic>

namespace netcl::base {

namespace {

std::atomic<CpuLevel> level_limit{CpuLevel::kAvx512};

CpuLevel detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
  return avx2 && avx512 ? CpuLevel::kAvx512 : avx2 ? CpuLevel::kAvx2 : CpuLevel::kSse2;
#else
  return CpuLevel::kScalar;
#endif
}

}  // namespace

std::string_view cpu_level_name(CpuLevel level) {
  switch (level) {
    case CpuLevel::kScalar:
      return "scalar";
    case CpuLevel::kSse2:
      return "sse2";
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512:
      break;
  }
  return "avx512";
}

CpuLevel machine_cpu_level() {
  static const CpuLevel level = detect();
  return level;
}

void limit_cpu_level(CpuLevel limit) {
  level_limit.store(limit, std::memory_order_relaxed);
}

CpuLevel cpu_level_limit() {
  return level_limit.load(std::memory_order_relaxed);
}

CpuLevel cpu_level() {
  return std::min(machine_cpu_level(), cpu_level_limit());
}

}  // namespace netcl::base
