// SPDX-License-Identifier: Apache-2.0
// The computing part of attn-run, for tensors and for modules.
#ifndef NETCL_TOOLS_ATTN_COMPUTED_RUN_H_
#define NETCL_TOOLS_ATTN_COMPUTED_RUN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "attn/attention_pass.h"
#include "attn/run_options.h"
#include "attn/run_report.h"
#include "cli/run_tool.h"
#include "core/host_tensor.h"
#include "nn/rotary_attention.h"

namespace netcl::attn {

// What a run leaves behind.
struct ComputedRun {
  AttentionPass pass;  // attention proper: a module's q, k, v are projected and rotated
  RunReport report;
  core::HostTensor y;  // in its storage type
  std::optional<core::HostTensor> lse;
  std::optional<nn::RotaryAttention> module;
};

// --q --k --v. Refuses what can be refused before it opens a device. `progress` is told rows of the
// double-precision engine, which takes longest.
ComputedRun compute_qkv(const RunOptions& options, const cli::CommonOptions& common,
                        const base::ProgressFn& progress);

// --x and --ids through a rotary attention module.
ComputedRun compute_module(const RunOptions& options, const cli::CommonOptions& common,
                           const base::ProgressFn& progress);

// Throws UsageError when the result cannot be written in the form that was asked for.
void check_result_type(const RunOptions& options, core::DType y_type);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_COMPUTED_RUN_H_
