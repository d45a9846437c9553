// SPDX-License-Identifier: Apache-2.0
// Which instruction sets the inner loops may use. Every loop that exists for several of them is
// chosen at run time by cpu_level(); all of them give the same results, so the limit below is for
// tests and for finding a fault. Safe to call from several threads. Other architectures than x86-64
// and aarch64 have kScalar alone.
#ifndef NETCL_BASE_CPU_H_
#define NETCL_BASE_CPU_H_

#include <optional>
#include <span>
#include <string_view>

namespace netcl::base {

// Each level of an architecture contains its levels before it.
enum class CpuLevel {
  kScalar,  // plain C++
  kSse2,    // every x86-64
  kAvx2,    // AVX2, FMA, AES, BMI1, BMI2, POPCNT: Haswell, Zen
  kAvx512,  // AVX-512 F, BW, DQ, VL, VBMI, VBMI2: Ice Lake, Zen 4
  kNeon,    // every aarch64
};

// "scalar", "sse2", "avx2", "avx512", "neon".
std::string_view cpu_level_name(CpuLevel level);
// The level with this name, nothing for any other text.
std::optional<CpuLevel> find_cpu_level(std::string_view name);

// The levels of all architectures, kScalar first.
std::span<const CpuLevel> all_cpu_levels();

// The levels of this machine in ascending order, kScalar first.
std::span<const CpuLevel> machine_cpu_levels();
// The last of them.
CpuLevel machine_cpu_level();

// Caps the level for the whole process; the initial limit is kNeon, above every other. A limit
// that this machine has not stands for the next lower one that it has.
void limit_cpu_level(CpuLevel limit);
CpuLevel cpu_level_limit();

// The level to use: the highest of this machine's that the limit allows.
CpuLevel cpu_level();

}  // namespace netcl::base

#endif  // NETCL_BASE_CPU_H_
