// SPDX-License-Identifier: Apache-2.0
#include "attn/run_session.h"

#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "attn/attention_pass.h"
#include "attn/device_option.h"
#include "attn/error_bound.h"
#include "attn/output_set.h"
#include "attn/qkv_call.h"
#include "attn/run_report.h"
#include "attn/token_label.h"
#include "base/error.h"
#include "core/tensor_file.h"
#include "nn/attention_reference.h"

namespace netcl::attn {

namespace {

using core::DType;
using core::HostTensor;

// What any kind of run leaves behind.
struct Computed {
  AttentionPass pass;
  RunReport report;
  HostTensor y;
  std::optional<HostTensor> lse;
  std::vector<std::string> labels;  // of the keys; for the heat map
};

bool writes_npy(const RunOptions& options) {
  return options.result_on_stdout() ||
         (!options.output.empty() &&
          core::parse_tensor_spec(options.output).format == core::TensorFormat::kNpy);
}

// What can be refused before a device is opened.
void check_results(const RunOptions& options, const nn::AttentionProblem& problem, DType y_type) {
  if (y_type == DType::kBF16 && writes_npy(options)) {
    throw base::UsageError(
        "the result is bf16, which .npy cannot hold; use -o FILE.safetensors:NAME, or --dtype "
        "q=f32");
  }
  if (options.explain) {
    check_explain_size(problem.batch, problem.heads, problem.q_len, problem.kv_len,
                       problem.v_head_dim);
  }
  if (!options.heatmap.empty()) {
    check_heatmap_size(problem.q_len, problem.kv_len);
    if (problem.batch == 0) {
      throw base::UsageError("--heatmap: the batch is empty");
    }
  }
}

// Token texts of keys and queries; numbers without --labels.
std::vector<std::string> key_labels(const RunOptions& options, int64_t kv_len) {
  std::vector<std::string> labels;
  if (options.labels.empty()) {
    for (int64_t j = 0; j < kv_len; ++j) {
      labels.push_back(std::to_string(j));
    }
    return labels;
  }
  labels = read_labels(options.labels);
  if (labels.size() != static_cast<size_t>(kv_len)) {
    throw base::FormatError(options.labels + ": " + std::to_string(labels.size()) +
                            " token texts for " + std::to_string(kv_len) + " keys");
  }
  return labels;
}

double rotation_rounding(const QkvCall& call) {
  if (!call.rotation.has_value()) {
    return 0;
  }
  return half_ulp(call.q.dtype()) + half_ulp(call.k.dtype());
}

Comparison check_qkv(const QkvCall& call, const HostTensor& y, const core::Queue& host) {
  nn::AttentionOptions plain = call.options;
  plain.kernel = "auto";
  const nn::AttentionInputs exact = upload(call, host, true);
  const nn::ReferenceOutputs reference = nn::attention_reference(exact, plain);
  BoundInputs bound;
  bound.q = &call.q;
  bound.k = &call.k;
  bound.v = &call.v;
  bound.mask = call.mask.has_value() ? &*call.mask : nullptr;
  bound.head_dim = call.problem.head_dim;
  bound.scale = call.problem.scale;
  bound.rotation = rotation_rounding(call);
  return compare(y, reference.y, attention_error_bound(bound));
}

Computed compute_qkv(const RunOptions& options, const cli::CommonOptions& common) {
  const QkvCall call = load_qkv_call(options);
  check_results(options, call.problem, call.q.dtype());
  const core::Device device =
      open_device(options.uses_reference() ? "host" : options.device, common);
  Computed computed{{upload(call, device.queue, options.uses_reference()), call.options,
                     options.uses_reference(), call.problem},
                    {},
                    {},
                    {},
                    {}};
  AttentionPass& pass = computed.pass;
  if (!options.uses_reference()) {
    pass.options.kernel = options.kernel;
  }
  nn::AttentionOptions wanted = pass.options;
  wanted.want_lse = !options.lse.empty();
  RunReport& report = computed.report;
  const PassOutputs outputs = run_pass(pass, wanted, &report.times);
  computed.y = outputs.y.to(call.q.dtype());
  if (outputs.lse.has_value()) {
    computed.lse = outputs.lse->to(DType::kF32);
  }
  report.device = device.info;
  report.q_dtype = call.q.dtype();
  report.kv_dtype = call.k.dtype();
  if (call.rotation.has_value()) {
    report.rope_pairing = nn::rope_pairing_name(call.rotation->q.pairing);
    report.rope_theta = call.rotation->table.theta;
  }
  if (options.check) {
    report.check = check_qkv(call, computed.y, open_device("host", common).queue);
  }
  if (!options.heatmap.empty()) {
    computed.labels = key_labels(options, call.problem.kv_len);
  }
  return computed;
}

std::string count_text(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string draw_heatmap(const RunOptions& options, const Computed& computed,
                         const std::vector<std::string>& labels) {
  const nn::AttentionProblem& problem = computed.pass.problem;
  const RunReport& report = computed.report;
  Heatmap map = heatmap_of(computed.pass);
  map.title = "Attention weights of " + count_text(problem.heads, "head");
  map.k_labels = labels;
  for (int64_t i = 0; i < problem.q_len; ++i) {
    // The queries are the last of the keys' tokens, as with a cache of earlier keys.
    const int64_t key = i + problem.kv_len - problem.q_len;
    map.q_labels.push_back(key < 0 ? "" : labels[static_cast<size_t>(key)]);
  }
  if (options.labels.empty()) {
    for (int64_t i = 0; i < problem.q_len; ++i) {
      map.q_labels[static_cast<size_t>(i)] = std::to_string(i);
    }
  }
  const std::string mask = mask_text(computed.pass.options, computed.pass.inputs);
  map.notes.push_back((problem.batch > 1 ? "batch item 0 of " + std::to_string(problem.batch) + ", "
                                         : std::string()) +
                      count_text(problem.q_len, "query token") + ", " +
                      count_text(problem.kv_len, "key token") + ", head_dim " +
                      std::to_string(problem.head_dim) + ", " + (mask.empty() ? "no mask" : mask) +
                      (report.rope_theta.has_value() ? ", RoPE " + report.rope_pairing : ""));
  map.notes.push_back("device " + device_label(report.device) + ", kernel " + report.times.kernel);
  return render_heatmap(map);
}

void log_run(const Computed& computed) {
  const RunReport& report = computed.report;
  spdlog::info("device {}, driver {}", device_label(report.device), report.device.driver_version);
  spdlog::info("kernel {}, {:.3f} ms on the device, {:.3f} ms wall", report.times.kernel,
               report.times.device_ms, report.times.wall_ms);
  if (report.rope_theta.has_value()) {
    spdlog::info("RoPE pairing {}, theta {}", report.rope_pairing, *report.rope_theta);
  }
}

OutputSet make_outputs(const RunOptions& options, const Computed& computed,
                       const std::vector<std::string>& labels) {
  OutputSet outputs;
  if (options.explain) {
    outputs.add_bytes("-", explain(explain_pass(computed.pass)));
  }
  if (options.result_on_stdout() || !options.output.empty()) {
    outputs.add_tensor(options.output, computed.y);
  }
  if (!options.lse.empty()) {
    outputs.add_tensor(options.lse, *computed.lse);
  }
  if (!options.weights.empty()) {
    outputs.add_tensor(options.weights,
                       scores_at(computed.pass, nn::ScoreStage::kWeights).to(core::DType::kF32));
  }
  if (!options.heatmap.empty()) {
    outputs.add_bytes(options.heatmap, draw_heatmap(options, computed, labels));
  }
  if (!options.report.empty()) {
    outputs.add_bytes(options.report, report_json(computed.report, computed.pass));
  }
  return outputs;
}

}  // namespace

int run_session(const RunOptions& options, const cli::CommonOptions& common) {
  if (options.result_on_stdout()) {
    cli::refuse_binary_on_terminal(options.output, "the result (.npy)");
  }
  const Computed computed = compute_qkv(options, common);
  log_run(computed);
  if (computed.report.check.has_value()) {
    const Comparison& check = *computed.report.check;
    if (!check.passed) {
      spdlog::error("--check: {}", comparison_text(check));
      return 1;
    }
    if (!common.quiet) {
      std::fprintf(stderr, "attn-run: check: passed, %s\n", comparison_text(check).c_str());
    }
  }
  make_outputs(options, computed, computed.labels).write();
  return 0;
}

}  // namespace netcl::attn
