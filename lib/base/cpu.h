// SPDX-License-Identifier: Apache-2.0
// Which instruction sets the inner loops may use. Every loop that exists for several of them is
// chosen at run time by cpu_level(); all of them give the same results, so the limit below is for
// tests and for finding a fault. Safe to call from several threads.
#ifndef NETCL_BASE_CPU_H_
#define NETCL_BASE_CPU_H_

#include <string_view>

namespace netcl::base {

// Each level contains the ones before it.
enum class CpuLevel {
  kScalar,  // plain C++
  kSse2,    // every x86-64
  kAvx2,    // AVX2, FMA, BMI1, BMI2, POPCNT: Haswell, Zen
  kAvx512,  // AVX-512 F, BW, DQ, VL, VBMI, VBMI2: Ice Lake, Zen 4
};

// "scalar", "sse2", "avx2", "avx512".
std::string_view cpu_level_name(CpuLevel level);

// The highest level of this machine; kScalar on anything but x86-64.
CpuLevel machine_cpu_level();

// Caps the level for the whole process; the initial limit is kAvx512. A limit above the machine's
// level changes nothing.
void limit_cpu_level(CpuLevel limit);
CpuLevel cpu_level_limit();

// The level to use: the lower of the machine's and the limit.
CpuLevel cpu_level();

}  // namespace netcl::base

#endif  // NETCL_BASE_CPU_H_
