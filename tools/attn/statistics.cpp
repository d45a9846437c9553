// SPDX-License-Identifier: Apache-2.0
#include "attn/statistics.h"

#include <algorithm>

namespace netcl::attn {

namespace {

// (query, key) pairs with j <= i + kv_len - q_len, in double: exact up to 2^53.
double visible_pairs(const AttentionShape& shape) {
  const auto q = static_cast<double>(shape.q_len);
  const auto k = static_cast<double>(shape.kv_len);
  if (!shape.causal) {
    return q * k;
  }
  // The last min(q, k) queries see k - 0, k - 1, ... keys; queries before them see none.
  const double rows = std::min(q, k);
  return rows * k - rows * (rows - 1) / 2;
}

}  // namespace

TimeSummary summarize(std::vector<double> times_ms) {
  TimeSummary summary;
  summary.count = times_ms.size();
  if (times_ms.empty()) {
    return summary;
  }
  std::sort(times_ms.begin(), times_ms.end());
  const size_t middle = times_ms.size() / 2;
  summary.median =
      times_ms.size() % 2 == 1 ? times_ms[middle] : (times_ms[middle - 1] + times_ms[middle]) / 2;
  summary.min = times_ms.front();
  summary.max = times_ms.back();
  return summary;
}

std::optional<double> giga_per_second(double amount, double time_ms) {
  if (!(time_ms > 0)) {
    return std::nullopt;
  }
  return amount / time_ms / 1e6;
}

AttentionWork attention_work(const AttentionShape& shape) {
  AttentionWork work;
  work.flops = 2 * static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
               visible_pairs(shape) * static_cast<double>(shape.head_dim + shape.v_head_dim);
  work.bytes = attention_bytes(shape).total();
  return work;
}

double AttentionBytes::largest() const {
  return std::max({q, k, v, y});
}

AttentionBytes attention_bytes(const AttentionShape& shape) {
  const auto batch = static_cast<double>(shape.batch);
  const double q_rows = batch * static_cast<double>(shape.heads) * static_cast<double>(shape.q_len);
  const double kv_rows =
      batch * static_cast<double>(shape.kv_heads) * static_cast<double>(shape.kv_len);
  const auto head_dim = static_cast<double>(shape.head_dim);
  const auto v_head_dim = static_cast<double>(shape.v_head_dim);
  const auto q_bytes = static_cast<double>(shape.q_bytes);
  const auto kv_bytes = static_cast<double>(shape.kv_bytes);
  AttentionBytes bytes;
  bytes.q = q_rows * head_dim * q_bytes;
  bytes.k = kv_rows * head_dim * kv_bytes;
  bytes.v = kv_rows * v_head_dim * kv_bytes;
  bytes.y = q_rows * v_head_dim * q_bytes;
  return bytes;
}

}  // namespace netcl::attn
