// SPDX-License-Identifier: Apache-2.0
#include "attn/timed_run.h"

#include <chrono>
#include <string_view>

namespace netcl::attn {

namespace {

constexpr std::string_view kAttentionKernel = "attention_";

}  // namespace

RunTimes timed_run(const core::Queue& queue, const std::function<void()>& work) {
  queue.finish();
  queue.take_kernel_times();
  const auto start = std::chrono::steady_clock::now();
  work();
  queue.finish();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  RunTimes times;
  times.wall_ms = elapsed.count();
  if (queue.is_host()) {
    times.device_ms = times.wall_ms;
    times.kernel = "host";
    return times;
  }
  for (const core::KernelTime& time : queue.take_kernel_times()) {
    times.device_ms += static_cast<double>(time.ended_ns - time.started_ns) / 1e6;
    if (time.kernel.starts_with(kAttentionKernel)) {
      times.kernel = time.kernel.substr(kAttentionKernel.size());
    }
  }
  return times;
}

}  // namespace netcl::attn
