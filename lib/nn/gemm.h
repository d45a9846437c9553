// SPDX-License-Identifier: Apache-2.0
// Launching the matrix-product kernels: which of them, with which tiles, fits a device. Users want
// nn/linear.h.
#ifndef NETCL_NN_GEMM_H_
#define NETCL_NN_GEMM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/tensor.h"

namespace netcl::nn {

// One kernel with its tile sizes. A group makes tile_m rows and tile_n columns of the result with
// group_x * group_y work-items.
struct GemmPlan {
  std::string kernel;         // "gemm" (wide groups) or "gemm_panel" (one item a group)
  core::KernelMacros macros;  // tile sizes only
  int64_t tile_m = 1, tile_n = 1;
  size_t group_x = 1, group_y = 1;
  uint64_t local_bytes = 0;

  std::string text() const;  // "gemm 64x64, group 16x16"
};

// The plans for an [m, n] result that the limits of `device` allow (group size, sizes of its axes,
// local memory), best first. Never empty on a device that keeps OpenCL's minimum limits.
std::vector<GemmPlan> gemm_plans(const core::DeviceInfo& device, int64_t m, int64_t n);

// C [m, n] = A [m, k] times B, which is [n, k] (b_is_nk) or [k, n], plus bias [n]. Each f32, f16 or
// bf16.
struct GemmCall {
  core::Tensor c, a, b;
  std::optional<core::Tensor> bias;
  bool b_is_nk = true;
  int64_t m = 0, n = 0, k = 0;
};

// Enqueues `call` with one plan; false when the compiled kernel allows smaller groups only.
bool run_gemm(const GemmCall& call, const GemmPlan& plan);

// With the best plan. Throws DeviceError when there is none.
void run_gemm(const GemmCall& call);

}  // namespace netcl::nn

#endif  // NETCL_NN_GEMM_H_
