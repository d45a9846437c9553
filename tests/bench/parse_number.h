// SPDX-License-Identifier: Apache-2.0
// Numbers on the command lines of the benchmarks.
#ifndef NETCL_TESTS_BENCH_PARSE_NUMBER_H_
#define NETCL_TESTS_BENCH_PARSE_NUMBER_H_

#include <cstddef>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace netcl::bench {

// Throws UsageError for what is no number from `least` to `most`.
inline size_t parse_number(const std::string& text, size_t least, size_t most) {
  size_t used = 0;
  size_t value = 0;
  try {
    value = std::stoul(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || value < least || value > most) {
    throw base::UsageError("'" + text + "' is no number from " + std::to_string(least) + " to " +
                           std::to_string(most));
  }
  return value;
}

}  // namespace netcl::bench

#endif  // NETCL_TESTS_BENCH_PARSE_NUMBER_H_
