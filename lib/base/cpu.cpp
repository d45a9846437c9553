// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace netcl::base {

namespace {

std::atomic<CpuLevel> level_limit{CpuLevel::kNeon};

constexpr std::array kAllLevels = {CpuLevel::kScalar, CpuLevel::kSse2, CpuLevel::kAvx2,
                                   CpuLevel::kAvx512, CpuLevel::kNeon};

#if defined(__aarch64__)
constexpr std::array kLevels = {CpuLevel::kScalar, CpuLevel::kNeon};

size_t count_levels() {
  return kLevels.size();
}
#elif defined(__x86_64__)
constexpr std::array kLevels = {CpuLevel::kScalar, CpuLevel::kSse2, CpuLevel::kAvx2,
                                CpuLevel::kAvx512};

size_t count_levels() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("aes") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
  return avx2 && avx512 ? 4 : avx2 ? 3 : 2;
}
#else
constexpr std::array kLevels = {CpuLevel::kScalar};

size_t count_levels() {
  return kLevels.size();
}
#endif

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
      return "avx512";
    case CpuLevel::kNeon:
      break;
  }
  return "neon";
}

std::optional<CpuLevel> find_cpu_level(std::string_view name) {
  for (const CpuLevel level : kAllLevels) {
    if (cpu_level_name(level) == name) {
      return level;
    }
  }
  return std::nullopt;
}

std::span<const CpuLevel> all_cpu_levels() {
  return kAllLevels;
}

std::span<const CpuLevel> machine_cpu_levels() {
  static const size_t count = count_levels();
  return std::span(kLevels).first(count);
}

CpuLevel machine_cpu_level() {
  return machine_cpu_levels().back();
}

void limit_cpu_level(CpuLevel limit) {
  level_limit.store(limit, std::memory_order_relaxed);
}

CpuLevel cpu_level_limit() {
  return level_limit.load(std::memory_order_relaxed);
}

CpuLevel cpu_level() {
  const std::span<const CpuLevel> levels = machine_cpu_levels();
  const CpuLevel limit = cpu_level_limit();
  size_t highest = levels.size() - 1;
  while (levels[highest] > limit) {
    --highest;
  }
  return levels[highest];
}

}  // namespace netcl::base
