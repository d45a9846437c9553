// SPDX-License-Identifier: Apache-2.0
// The command line of attn-bench.
#ifndef NETCL_TOOLS_ATTN_BENCH_OPTIONS_H_
#define NETCL_TOOLS_ATTN_BENCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "attn/statistics.h"
#include "attn/storage_types.h"

namespace netcl::cli {
class ToolApp;
}

namespace netcl::attn {

enum class BenchFormat { kTable, kJson, kCsv };

struct BenchOptions {
  uint64_t batch = 1, heads = 8;
  uint64_t kv_heads = 0;  // 0 = as heads
  uint64_t seq = 0;       // 0 = not given
  uint64_t q_len = 0, kv_len = 0;
  uint64_t head_dim = 64;
  bool causal = false;
  std::string dtype;
  std::string device = "auto", kernel = "auto";
  uint64_t repeats = 10;
  double min_time = 0;  // seconds
  uint64_t seed = 1;
  std::optional<BenchFormat> format;  // none = as the name of `output` says
  std::string output;
};

void declare_bench_options(cli::ToolApp& app, BenchOptions& options);

// Throws UsageError for options that contradict each other.
void check_bench_options(const BenchOptions& options);

// --format; without it JSON for NAME.json, CSV for NAME.csv, else the table.
BenchFormat bench_format(const BenchOptions& options);

// The shape that the options stand for, and q's and k's storage types (f32 where not given).
AttentionShape bench_shape(const BenchOptions& options);
StorageTypes bench_types(const BenchOptions& options);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_BENCH_OPTIONS_H_
