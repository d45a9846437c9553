// SPDX-License-Identifier: Apache-2.0
#include "text/short_merge.h"

namespace netcl::text {

ShortMerge short_merge(base::CpuLevel level) {
#if defined(__x86_64__)
  switch (level) {
    case base::CpuLevel::kScalar:
    case base::CpuLevel::kSse2:
    case base::CpuLevel::kNeon:
      break;
    case base::CpuLevel::kAvx2:
      return short_merge_avx2;
    case base::CpuLevel::kAvx512:
      return short_merge_avx512;
  }
#else
  static_cast<void>(level);
#endif
  return nullptr;
}

}  // namespace netcl::text
