// SPDX-License-Identifier: Apache-2.0
// attn-bench's results as a table, JSON or CSV.
#ifndef NETCL_TOOLS_ATTN_BENCH_REPORT_H_
#define NETCL_TOOLS_ATTN_BENCH_REPORT_H_

#include <string>

#include "attn/bench_run.h"

namespace netcl::attn {

// For people; units in the head of the table.
std::string bench_table(const BenchResult& result);

// Google Benchmark's JSON schema: real_time = median wall time, cpu_time = median device time (the
// wall time on the host engine), both in ms; our numbers as further fields (tools/README.md).
// Always valid JSON: what is not known is null.
std::string bench_json(const BenchResult& result);

// One header line and one line of values; what is not known is empty.
std::string bench_csv(const BenchResult& result);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_BENCH_REPORT_H_
