// SPDX-License-Identifier: Apache-2.0
// attn-bench: check, then measure one shape on one device.
#ifndef NETCL_TOOLS_ATTN_BENCH_RUN_H_
#define NETCL_TOOLS_ATTN_BENCH_RUN_H_

#include <string>

#include "attn/bench_options.h"
#include "attn/error_bound.h"
#include "attn/statistics.h"
#include "cli/run_tool.h"
#include "core/device.h"

namespace netcl::attn {

struct BenchResult {
  core::DeviceInfo device;
  std::string kernel;  // "tiled", "host", ...
  AttentionShape shape;
  core::DType q_dtype = core::DType::kF32, kv_dtype = core::DType::kF32;
  bool has_device_times = false;  // not on the host engine
  double first_call_ms = 0;       // wall, with building the kernels
  TimeSummary wall, device_time;  // milliseconds
  Comparison check;
  int64_t checked_rows = 0;
};

// Throws DeviceError when the tensors do not fit the device, with wanted and allowed bytes, before
// anything is allocated. The result's check may have failed, and then nothing was measured.
// `progress` is told checked rows, then measured calls.
BenchResult run_bench(const BenchOptions& options, const cli::CommonOptions& common,
                      const base::ProgressFn& progress);

// Throws DeviceError unless every tensor fits one buffer of the device and all of them its memory.
void check_bench_memory(const AttentionShape& shape, const core::DeviceInfo& device);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_BENCH_RUN_H_
