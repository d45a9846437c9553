// SPDX-License-Identifier: Apache-2.0
#include "attn/bench_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "attn/device_option.h"
#include "attn/timed_run.h"
#include "base/error.h"
#include "base/rng.h"
#include "core/tensor.h"
#include "nn/attention.h"
#include "nn/attention_reference.h"

namespace netcl::attn {

namespace {

using core::HostTensor;
using core::Shape;
using core::Tensor;

constexpr int kWarmUps = 2;
constexpr int64_t kCheckedRows = 64;
constexpr uint64_t kMaxCalls = 1000000;  // of --min-time with calls too short for the clock

std::string bytes_text(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f bytes (%.2f GiB)", bytes, bytes / (1u << 30));
  return text;
}

HostTensor random_tensor(core::DType dtype, const Shape& shape, base::Rng& rng) {
  HostTensor tensor(core::DType::kF32, shape);
  for (float& value : tensor.as<float>()) {
    value = static_cast<float>(rng.normal());
  }
  return dtype == core::DType::kF32 ? std::move(tensor) : tensor.to(dtype);
}

// `count` elements from `first` on as a tensor of their own.
HostTensor slice(const HostTensor& tensor, int64_t first, const Shape& shape) {
  HostTensor out(tensor.dtype(), shape);
  const size_t size = core::dtype_size(tensor.dtype());
  std::copy_n(tensor.data() + static_cast<size_t>(first) * size, out.byte_count(), out.data());
  return out;
}

struct BenchCall {
  nn::AttentionInputs inputs;
  nn::AttentionOptions options;
};

BenchCall make_call(const BenchOptions& options, const AttentionShape& shape,
                    const core::Queue& queue) {
  const StorageTypes types = bench_types(options);
  base::Rng rng(options.seed);
  const Shape q{shape.batch, shape.heads, shape.q_len, shape.head_dim};
  const Shape kv{shape.batch, shape.kv_heads, shape.kv_len, shape.head_dim};
  // One at a time, so that at most one host copy is alive.
  Tensor q_tensor = Tensor::from_host(queue, random_tensor(*types.q, q, rng));
  Tensor k_tensor = Tensor::from_host(queue, random_tensor(*types.kv, kv, rng));
  Tensor v_tensor = Tensor::from_host(queue, random_tensor(*types.kv, kv, rng));
  BenchCall call{{q_tensor, k_tensor, v_tensor, {}, {}, {}, {}}, {}};
  call.options.causal = options.causal;
  call.options.kernel = options.kernel;
  return call;
}

// Rows to check: all of a small shape, else the first, the last and some between.
std::vector<int64_t> rows_to_check(int64_t rows, uint64_t seed) {
  std::vector<int64_t> picked;
  if (rows <= kCheckedRows) {
    for (int64_t row = 0; row < rows; ++row) {
      picked.push_back(row);
    }
    return picked;
  }
  base::Rng rng(seed + 1);
  picked = {0, rows - 1};
  while (picked.size() < static_cast<size_t>(kCheckedRows)) {
    picked.push_back(static_cast<int64_t>(rng.below(static_cast<uint64_t>(rows))));
  }
  return picked;
}

// One row of the result against the reference of that row alone. `row` counts [B, H, Tq].
Comparison check_row(const AttentionShape& shape, const std::array<HostTensor, 4>& qkvy,
                     int64_t row, double scale, const core::Queue& host) {
  const auto& [q, k, v, y] = qkvy;
  const int64_t i = row % shape.q_len;
  const int64_t head = row / shape.q_len % shape.heads;
  const int64_t batch = row / shape.q_len / shape.heads;
  const int64_t kv_head = batch * shape.kv_heads + head / (shape.heads / shape.kv_heads);
  const Shape one{1, shape.head_dim};
  const Shape keys{shape.kv_len, shape.head_dim};
  const HostTensor q_row = slice(q, row * shape.head_dim, one);
  const HostTensor k_rows = slice(k, kv_head * shape.kv_len * shape.head_dim, keys);
  const HostTensor v_rows = slice(v, kv_head * shape.kv_len * shape.head_dim, keys);
  const HostTensor y_row = slice(y, row * shape.head_dim, one);
  nn::AttentionOptions options;
  options.causal = shape.causal;
  if (shape.causal) {
    options.alignment = nn::Alignment::kExplicit;
    options.offsets = {i + shape.kv_len - shape.q_len};
  }
  const nn::AttentionInputs inputs{Tensor::from_host(host, q_row),
                                   Tensor::from_host(host, k_rows),
                                   Tensor::from_host(host, v_rows),
                                   {},
                                   {},
                                   {},
                                   {}};
  BoundInputs bound;
  bound.q = &q_row;
  bound.k = &k_rows;
  bound.v = &v_rows;
  bound.head_dim = shape.head_dim;
  bound.scale = scale;
  return compare(y_row, nn::attention_reference(inputs, options).y, attention_error_bound(bound));
}

void check_result(const BenchOptions& options, const BenchCall& call, const HostTensor& y,
                  const base::ProgressFn& progress, BenchResult& result) {
  const AttentionShape& shape = result.shape;
  const core::Queue host = core::DeviceManager::open("host", {}).queue;
  const std::array<HostTensor, 4> qkvy = {call.inputs.q.to_host(), call.inputs.k.to_host(),
                                          call.inputs.v.to_host(), y};
  const double scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  const std::vector<int64_t> rows =
      rows_to_check(shape.batch * shape.heads * shape.q_len, options.seed);
  result.checked_rows = static_cast<int64_t>(rows.size());
  uint64_t checked = 0;
  for (const int64_t row : rows) {
    Comparison comparison = check_row(shape, qkvy, row, scale, host);
    if (!comparison.passed) {
      comparison.worst += row * shape.head_dim;
      result.check = comparison;
      return;
    }
    result.check.max_abs_error = std::max(result.check.max_abs_error, comparison.max_abs_error);
    if (progress) {
      progress({"check", "rows", ++checked, rows.size()});
    }
  }
}

void measure(const BenchOptions& options, const BenchCall& call, const core::Queue& queue,
             const base::ProgressFn& progress, BenchResult& result) {
  std::optional<nn::AttentionOutputs> outputs;
  const auto once = [&] {
    outputs.reset();  // the previous result's memory is free for the next
    return timed_run(queue, [&] { outputs = nn::attention(call.inputs, call.options); });
  };
  for (int i = 0; i < kWarmUps; ++i) {
    once();
  }
  std::vector<double> wall, device;
  double total_ms = 0;
  while (wall.size() < options.repeats ||
         (total_ms < options.min_time * 1000 && wall.size() < kMaxCalls)) {
    const RunTimes times = once();
    wall.push_back(times.wall_ms);
    device.push_back(times.device_ms);
    total_ms += times.wall_ms;
    if (progress) {
      progress({"measure", "calls", wall.size(), std::max<uint64_t>(options.repeats, wall.size())});
    }
  }
  result.wall = summarize(std::move(wall));
  result.device_time = summarize(std::move(device));
}

}  // namespace

void check_bench_memory(const AttentionShape& shape, const core::DeviceInfo& device) {
  const AttentionBytes bytes = attention_bytes(shape);
  const auto allowed_buffer = static_cast<double>(device.max_alloc_bytes);
  const auto allowed_total = static_cast<double>(device.global_mem_bytes);
  for (const auto& [name, size] : {std::pair<const char*, double>{"q", bytes.q},
                                   {"k", bytes.k},
                                   {"v", bytes.v},
                                   {"the result", bytes.y}}) {
    if (size > allowed_buffer) {
      throw base::DeviceError(device_label(device) + ": " + name + " wants " + bytes_text(size) +
                              "; one buffer may have " + bytes_text(allowed_buffer));
    }
  }
  // The check copies the tensors to host memory, which is the device's own on a CPU.
  const bool shares_memory =
      device.kind == core::DeviceKind::kHost || device.kind == core::DeviceKind::kCpu;
  const double wanted = bytes.total() * (shares_memory ? 2 : 1);
  if (wanted > allowed_total) {
    throw base::DeviceError(device_label(device) + ": q, k, v and the result" +
                            (shares_memory ? ", with copies for the check," : "") + " want " +
                            bytes_text(wanted) + "; the device has " + bytes_text(allowed_total));
  }
}

BenchResult run_bench(const BenchOptions& options, const cli::CommonOptions& common,
                      const base::ProgressFn& progress) {
  const core::Device device = open_device(options.device, options.kernel, common);
  BenchResult result;
  result.device = device.info;
  result.shape = bench_shape(options);
  result.q_dtype = *bench_types(options).q;
  result.kv_dtype = *bench_types(options).kv;
  result.has_device_times = !device.queue.is_host();
  check_bench_memory(result.shape, device.info);
  const BenchCall call = make_call(options, result.shape, device.queue);
  {
    std::optional<nn::AttentionOutputs> first;
    const RunTimes times =
        timed_run(device.queue, [&] { first = nn::attention(call.inputs, call.options); });
    result.first_call_ms = times.wall_ms;
    result.kernel = times.kernel;
    check_result(options, call, first->y.to_host(), progress, result);
  }
  if (result.check.passed) {
    measure(options, call, device.queue, progress, result);
  }
  return result;
}

}  // namespace netcl::attn
