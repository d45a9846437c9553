// SPDX-License-Identifier: Apache-2.0
// Wall and device time of work on a queue.
#ifndef NETCL_TOOLS_ATTN_TIMED_RUN_H_
#define NETCL_TOOLS_ATTN_TIMED_RUN_H_

#include <functional>
#include <string>

#include "core/device.h"

namespace netcl::attn {

// Milliseconds. `wall` runs from the first enqueued work to the end of the last and includes
// building kernels that are in no cache; `device` is the sum of the kernels' own times, and the
// wall time on the host engine, which has no such clock.
struct RunTimes {
  double wall_ms = 0;
  double device_ms = 0;
  std::string kernel;  // "tiled" for the kernel "attention_tiled"; "host" on the host engine
};

// Runs `work` on an idle queue and waits for its end.
RunTimes timed_run(const core::Queue& queue, const std::function<void()>& work);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_TIMED_RUN_H_
