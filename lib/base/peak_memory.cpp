// SPDX-License-Identifier: Apache-2.0
#include "base/peak_memory.h"

#include <fstream>
#include <string>

#include <sys/resource.h>

namespace netcl::base {

uint64_t peak_memory_bytes() {
  constexpr uint64_t kUnit = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    uint64_t peak = 0;
    if (key == "VmHWM:" && status >> peak) {
      return peak * kUnit;
    }
  }
  struct rusage usage {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * kUnit : 0;
}

}  // namespace netcl::base
