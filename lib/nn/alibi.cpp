// SPDX-License-Identifier: Apache-2.0
#include "nn/alibi.h"

#include <bit>
#include <cmath>

#include "base/error.h"

namespace netcl::nn {

std::vector<float> default_alibi_slopes(int64_t heads) {
  NETCL_CHECK(heads >= 1);
  const int64_t power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<float> slopes;
  for (int64_t h = 0; h < heads; ++h) {
    const double exponent =
        h < power ? 8 * static_cast<double>(h + 1) / static_cast<double>(power)
                  : 4 * static_cast<double>(2 * (h - power) + 1) / static_cast<double>(power);
    slopes.push_back(static_cast<float>(std::exp2(-exponent)));
  }
  return slopes;
}

}  // namespace netcl::nn
