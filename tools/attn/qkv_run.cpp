// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "attn/computed_run.h"
#include "attn/device_option.h"
#include "attn/error_bound.h"
#include "attn/qkv_call.h"
#include "base/error.h"
#include "core/tensor_file.h"
#include "nn/attention_reference.h"

namespace netcl::attn {

namespace {

using core::DType;
using core::HostTensor;

void check_sizes(const RunOptions& options, const nn::AttentionProblem& problem) {
  if (options.explain) {
    check_explain_size(problem.batch, problem.heads, problem.q_len, problem.kv_len,
                       problem.v_head_dim);
  }
  if (!options.heatmap.empty()) {
    check_heatmap_size(problem.batch, problem.q_len, problem.kv_len);
  }
}

// Rotated rows are up to the attention factor longer; the elements that do not rotate stay.
double rotation_scale(const QkvCall& call) {
  if (!call.rotation.has_value()) {
    return 1;
  }
  const nn::RopeOptions& table = call.rotation->table;
  const double factor =
      nn::rope_frequencies(table.scaling, table.theta, table.rope_dim, table.sequence_length)
          .attention_factor;
  return std::max(1.0, factor * factor);
}

double rotation_rounding(const QkvCall& call) {
  if (!call.rotation.has_value()) {
    return 0;
  }
  return half_ulp(call.q.dtype()) + half_ulp(call.k.dtype());
}

// The largest term of ALiBi in any score, hidden ones included, plus the largest sink.
double largest_bias(const nn::AttentionProblem& problem) {
  double slope_term = 0;
  for (size_t s = 0; s < problem.sequences.size(); ++s) {
    const nn::Sequence& x = problem.sequences[s];
    const double distance =
        std::max(std::fabs(static_cast<double>(x.q_begin + x.offset - (x.k_end - 1))),
                 std::fabs(static_cast<double>(x.q_end - 1 + x.offset - x.k_begin)));
    for (int64_t h = 0; h < problem.heads; ++h) {
      const double slope =
          std::fabs(static_cast<double>(problem.slope(static_cast<int64_t>(s), h)));
      slope_term = std::max(slope_term, slope * distance);
    }
  }
  double sink_term = 0;
  for (const float sink : problem.sinks) {
    sink_term =
        std::isfinite(sink) ? std::max(sink_term, std::fabs(static_cast<double>(sink))) : sink_term;
  }
  return slope_term + sink_term;
}

Comparison check_qkv(const QkvCall& call, const HostTensor& y, const core::Queue& host,
                     const base::ProgressFn& progress) {
  nn::AttentionOptions plain = call.options;
  plain.kernel = "auto";
  const nn::AttentionInputs exact = upload(call, host, true);
  const nn::ReferenceOutputs reference = nn::attention_reference(exact, plain, progress);
  BoundInputs bound;
  bound.q = &call.q;
  bound.k = &call.k;
  bound.v = &call.v;
  bound.mask = call.mask.has_value() ? &*call.mask : nullptr;
  bound.head_dim = call.problem.head_dim;
  bound.scale = call.problem.scale * rotation_scale(call);
  bound.bias = largest_bias(call.problem);
  bound.rotation = rotation_rounding(call);
  return compare(y, reference.y, attention_error_bound(bound));
}

}  // namespace

void check_result_type(const RunOptions& options, DType y_type) {
  const bool npy = options.result_on_stdout() ||
                   (!options.output.empty() &&
                    core::parse_tensor_spec(options.output).format == core::TensorFormat::kNpy);
  if (y_type == DType::kBF16 && npy) {
    throw base::UsageError(
        "the result is bf16, which .npy cannot hold; use -o FILE.safetensors:NAME or FILE.json, or "
        "--dtype q=f32");
  }
}

ComputedRun compute_qkv(const RunOptions& options, const cli::CommonOptions& common,
                        const base::ProgressFn& progress) {
  const QkvCall call = load_qkv_call(options);
  check_result_type(options, call.q.dtype());
  check_sizes(options, call.problem);
  const core::Device device =
      open_device(options.uses_reference() ? "host" : options.device, options.kernel, common);
  ComputedRun computed{{upload(call, device.queue, options.uses_reference()), call.options,
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
  const PassOutputs outputs = run_pass(pass, wanted, &report.times, progress);
  computed.y = outputs.y.to(call.q.dtype());
  if (outputs.lse.has_value()) {
    computed.lse = outputs.lse->to(DType::kF32);
  }
  report.device = device.info;
  report.q_dtype = call.q.dtype();
  report.kv_dtype = call.k.dtype();
  if (call.rotation.has_value()) {
    report.rope = report_rope(call.rotation->table, call.rotation->q.pairing);
  }
  if (options.check) {
    report.check = check_qkv(call, computed.y, open_device("host", "auto", common).queue, progress);
  }
  return computed;
}

}  // namespace netcl::attn
