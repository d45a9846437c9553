// SPDX-License-Identifier: Apache-2.0
// --report: what ran, where, how long and how exact, as one JSON object.
#ifndef NETCL_TOOLS_ATTN_RUN_REPORT_H_
#define NETCL_TOOLS_ATTN_RUN_REPORT_H_

#include <optional>
#include <string>

#include "attn/attention_pass.h"
#include "attn/error_bound.h"
#include "attn/rope_report.h"
#include "attn/timed_run.h"
#include "core/device.h"

namespace netcl::attn {

struct RunReport {
  core::DeviceInfo device;
  RunTimes times;
  core::DType q_dtype = core::DType::kF32;  // storage types
  core::DType kv_dtype = core::DType::kF32;
  std::optional<RopeReport> rope;
  std::optional<int64_t> dim, vocab_size, max_seq_len;  // of a module run
  std::optional<Comparison> check;
};

// Keys and units: tools/README.md.
std::string report_json(const RunReport& report, const AttentionPass& pass);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_RUN_REPORT_H_
