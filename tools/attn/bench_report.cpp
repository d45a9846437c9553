// SPDX-License-Identifier: Apache-2.0
#include "attn/bench_report.h"

#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "attn/device_option.h"
#include "base/json_file.h"
#include "base/thread_pool.h"
#include "base/version.h"

namespace netcl::attn {

namespace {

// Median time that the rates are of.
double rate_time_ms(const BenchResult& result) {
  return result.has_device_times ? result.device_time.median : result.wall.median;
}

std::optional<double> gflops(const BenchResult& result) {
  return giga_per_second(attention_work(result.shape).flops, rate_time_ms(result));
}

std::optional<double> gbytes(const BenchResult& result) {
  return giga_per_second(attention_work(result.shape).bytes, rate_time_ms(result));
}

std::string dtype_text(const BenchResult& result) {
  const std::string q(core::dtype_name(result.q_dtype));
  const std::string kv(core::dtype_name(result.kv_dtype));
  return q == kv ? q : "q=" + q + ",kv=" + kv;
}

std::string benchmark_name(const BenchResult& result) {
  const AttentionShape& shape = result.shape;
  std::string name = "attention";
  for (const auto& [key, value] : {std::pair<const char*, int64_t>{"batch", shape.batch},
                                   {"heads", shape.heads},
                                   {"kv_heads", shape.kv_heads},
                                   {"q_len", shape.q_len},
                                   {"kv_len", shape.kv_len},
                                   {"head_dim", shape.head_dim},
                                   {"causal", shape.causal ? 1 : 0}}) {
    name += std::string("/") + key + ":" + std::to_string(value);
  }
  return name + "/" + dtype_text(result) + "/" + result.kernel;
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string fixed(const std::optional<double>& value, int decimals) {
  return value.has_value() ? fixed(*value, decimals) : "-";
}

base::Json json_number(const std::optional<double>& value) {
  return value.has_value() ? base::Json(*value) : base::Json(nullptr);
}

std::optional<double> device_ms(const BenchResult& result, double value) {
  return result.has_device_times ? std::optional<double>(value) : std::nullopt;
}

}  // namespace

std::string bench_table(const BenchResult& result) {
  const AttentionShape& shape = result.shape;
  std::string out = "device      " + device_label(result.device);
  if (result.has_device_times) {
    out += ", driver " + result.device.driver_version;
  }
  out += "\nshape       batch " + std::to_string(shape.batch) + ", heads " +
         std::to_string(shape.heads) + ", kv_heads " + std::to_string(shape.kv_heads) + ", q_len " +
         std::to_string(shape.q_len) + ", kv_len " + std::to_string(shape.kv_len) + ", head_dim " +
         std::to_string(shape.head_dim) + ", " + (shape.causal ? "causal" : "not causal") + ", " +
         dtype_text(result) + "\n";
  char line[256];
  std::snprintf(line, sizeof line, "check       max error %.3g in %lld rows\n",
                result.check.max_abs_error, static_cast<long long>(result.checked_rows));
  out += line;
  out += "first call  " + fixed(result.first_call_ms, 3) + " ms, with building the kernels\n\n";
  std::snprintf(line, sizeof line, "%-8s %8s %12s %12s %12s %12s %10s %10s\n", "kernel", "calls",
                "device ms", "device min", "wall ms", "wall min", "GFLOP/s", "GB/s");
  out += line;
  std::snprintf(line, sizeof line, "%-8s %8zu %12s %12s %12s %12s %10s %10s\n",
                result.kernel.c_str(), result.wall.count,
                fixed(device_ms(result, result.device_time.median), 4).c_str(),
                fixed(device_ms(result, result.device_time.min), 4).c_str(),
                fixed(result.wall.median, 4).c_str(), fixed(result.wall.min, 4).c_str(),
                fixed(gflops(result), 2).c_str(), fixed(gbytes(result), 2).c_str());
  return out + line;
}

std::string bench_json(const BenchResult& result) {
  base::Json context;
  context["executable"] = "attn-bench";
  context["num_cpus"] = base::default_thread_count();
  context["library_version"] = base::kVersion;
  context["library_commit"] = base::kCommit;
  context["device"] = result.device.name;
  context["device_place"] = device_place(result.device);
  context["device_kind"] = core::device_kind_name(result.device.kind);
  context["device_key"] = result.device.key;
  context["platform"] = result.device.platform_name;
  context["driver"] = result.device.driver_version;

  const AttentionShape& shape = result.shape;
  const AttentionWork work = attention_work(shape);
  base::Json entry;
  entry["name"] = benchmark_name(result);
  entry["family_index"] = 0;
  entry["per_family_instance_index"] = 0;
  entry["run_name"] = benchmark_name(result);
  entry["run_type"] = "iteration";
  entry["repetitions"] = 1;
  entry["repetition_index"] = 0;
  entry["threads"] = 1;
  entry["iterations"] = result.wall.count;
  entry["real_time"] = result.wall.median;
  entry["cpu_time"] = rate_time_ms(result);
  entry["time_unit"] = "ms";
  entry["wall_ms_min"] = result.wall.min;
  entry["wall_ms_max"] = result.wall.max;
  entry["device_ms_median"] = json_number(device_ms(result, result.device_time.median));
  entry["device_ms_min"] = json_number(device_ms(result, result.device_time.min));
  entry["device_ms_max"] = json_number(device_ms(result, result.device_time.max));
  entry["first_call_ms"] = result.first_call_ms;
  entry["kernel"] = result.kernel;
  entry["batch"] = shape.batch;
  entry["heads"] = shape.heads;
  entry["kv_heads"] = shape.kv_heads;
  entry["q_len"] = shape.q_len;
  entry["kv_len"] = shape.kv_len;
  entry["head_dim"] = shape.head_dim;
  entry["causal"] = shape.causal;
  entry["q_dtype"] = core::dtype_name(result.q_dtype);
  entry["kv_dtype"] = core::dtype_name(result.kv_dtype);
  entry["flop"] = work.flops;
  entry["bytes"] = work.bytes;
  entry["gflop_per_second"] = json_number(gflops(result));
  entry["gbyte_per_second"] = json_number(gbytes(result));
  entry["max_abs_error"] = result.check.max_abs_error;
  entry["checked_rows"] = result.checked_rows;

  base::Json json;
  json["context"] = std::move(context);
  json["benchmarks"] = base::Json::array({std::move(entry)});
  return base::to_text(json, 2) + "\n";
}

std::string bench_csv(const BenchResult& result) {
  const AttentionShape& shape = result.shape;
  const auto number = [](const std::optional<double>& value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.9g", value.value_or(0));
    return value.has_value() ? std::string(text) : std::string();
  };
  // dtype_text may hold a comma, so the two types are apart; device names are quoted.
  std::string device = result.device.name;
  for (size_t pos = 0; (pos = device.find('"', pos)) != std::string::npos; pos += 2) {
    device.insert(pos, 1, '"');
  }
  const std::vector<std::pair<const char*, std::string>> fields = {
      {"device", '"' + device + '"'},
      {"kernel", result.kernel},
      {"batch", std::to_string(shape.batch)},
      {"heads", std::to_string(shape.heads)},
      {"kv_heads", std::to_string(shape.kv_heads)},
      {"q_len", std::to_string(shape.q_len)},
      {"kv_len", std::to_string(shape.kv_len)},
      {"head_dim", std::to_string(shape.head_dim)},
      {"causal", shape.causal ? "true" : "false"},
      {"q_dtype", std::string(core::dtype_name(result.q_dtype))},
      {"kv_dtype", std::string(core::dtype_name(result.kv_dtype))},
      {"calls", std::to_string(result.wall.count)},
      {"first_call_ms", number(result.first_call_ms)},
      {"wall_ms_median", number(result.wall.median)},
      {"wall_ms_min", number(result.wall.min)},
      {"device_ms_median", number(device_ms(result, result.device_time.median))},
      {"device_ms_min", number(device_ms(result, result.device_time.min))},
      {"gflop_per_second", number(gflops(result))},
      {"gbyte_per_second", number(gbytes(result))},
      {"max_abs_error", number(result.check.max_abs_error)}};
  std::string names, values;
  for (const auto& [name, value] : fields) {
    names.append(names.empty() ? "" : ",").append(name);
    values.append(values.empty() ? "" : ",").append(value);
  }
  return names + "\n" + values + "\n";
}

}  // namespace netcl::attn
