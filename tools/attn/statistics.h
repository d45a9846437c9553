// SPDX-License-Identifier: Apache-2.0
// Summaries of measured times.
#ifndef NETCL_TOOLS_ATTN_STATISTICS_H_
#define NETCL_TOOLS_ATTN_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace netcl::attn {

// Milliseconds. All zero for an empty sample.
struct TimeSummary {
  double median = 0;  // mean of the two middle values when their number is even
  double min = 0;
  double max = 0;
  size_t count = 0;
};

TimeSummary summarize(std::vector<double> times_ms);

// Amount per second in units of 1e9; nothing when the time is not above zero (a clock too coarse).
std::optional<double> giga_per_second(double amount, double time_ms);

// Work of one attention call.
struct AttentionWork {
  // 2 * B * H * pairs * (D + Dv): a multiply and an add per element of each of the two products,
  // over the (query, key) pairs that are computed. Without a causal mask pairs = Tq * Tk and, with
  // Dv = D, the usual 4 B H Tq Tk D. With a causal mask only the visible pairs count, exactly:
  // about half of them when Tq = Tk. Softmax is not counted.
  double flops = 0;
  // q, k, v read once and y written once.
  double bytes = 0;
};

struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, q_len = 1, kv_len = 1, head_dim = 1, v_head_dim = 1;
  bool causal = false;                // aligned to the last key
  int64_t q_bytes = 4, kv_bytes = 4;  // of one element
};

AttentionWork attention_work(const AttentionShape& shape);

// Bytes of the tensors q, k, v and y.
struct AttentionBytes {
  double q = 0, k = 0, v = 0, y = 0;
  double largest() const;
  double total() const { return q + k + v + y; }
};

AttentionBytes attention_bytes(const AttentionShape& shape);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_STATISTICS_H_
