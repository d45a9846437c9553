// SPDX-License-Identifier: Apache-2.0
// Progress of long work, reported through a callback so that no library code prints.
#ifndef NETCL_BASE_PROGRESS_H_
#define NETCL_BASE_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string_view>

namespace netcl::base {

// One report: `done` of `total` units in a named phase. total = 0 means unknown (a pipe).
struct Progress {
  std::string_view phase;  // "count", "merge"
  std::string_view unit;   // "bytes", "merges"
  uint64_t done = 0;
  uint64_t total = 0;
  // The same work so far in a second unit, such as "words"; none when empty.
  std::string_view also_unit = {};
  uint64_t also_done = 0;
};

// Called from one thread at a time, at most a few times per millisecond; may be empty.
using ProgressFn = std::function<void(const Progress&)>;

}  // namespace netcl::base

#endif  // NETCL_BASE_PROGRESS_H_
