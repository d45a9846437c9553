// SPDX-License-Identifier: Apache-2.0
#include "attn/run_report.h"

#include "base/json_file.h"
#include "base/version.h"

namespace netcl::attn {

namespace {

template <typename T>
base::Json value_or_null(const std::optional<T>& value) {
  return value.has_value() ? base::Json(*value) : base::Json(nullptr);
}

// All keys are there without RoPE too.
void add_rope(base::Json& json, const std::optional<RopeReport>& rope) {
  const base::Json null(nullptr);
  json["rope_pairing"] = rope ? rope->pairing : "none";
  json["rope_theta"] = rope ? base::Json(rope->theta) : null;
  json["rope_dim"] = rope ? base::Json(rope->rope_dim) : null;
  json["rope_type"] = rope ? rope->type : "none";
  json["rope_factor"] = rope ? base::Json(rope->factor) : null;
  json["rope_attention_factor"] = rope ? base::Json(rope->attention_factor) : null;
  json["rope_sequence_length"] = rope && rope->by_length ? base::Json(rope->sequence_length) : null;
}

}  // namespace

std::string report_json(const RunReport& report, const AttentionPass& pass) {
  const nn::AttentionProblem& problem = pass.problem;
  base::Json json;
  json["tool"] = "attn-run";
  json["version"] = base::kVersion;
  json["device"] = report.device.name;
  json["device_kind"] = core::device_kind_name(report.device.kind);
  json["driver"] = report.device.driver_version;
  json["kernel"] = report.times.kernel;
  json["batch"] = problem.batch;
  json["heads"] = problem.heads;
  json["kv_heads"] = problem.kv_heads;
  json["q_len"] = problem.q_len;
  json["kv_len"] = problem.kv_len;
  json["head_dim"] = problem.head_dim;
  json["v_head_dim"] = problem.v_head_dim;
  json["dim"] = value_or_null(report.dim);
  json["vocab_size"] = value_or_null(report.vocab_size);
  json["max_seq_len"] = value_or_null(report.max_seq_len);
  json["q_dtype"] = core::dtype_name(report.q_dtype);
  json["kv_dtype"] = core::dtype_name(report.kv_dtype);
  json["scale"] = problem.scale;
  json["softcap"] = problem.softcap;
  json["causal"] = problem.causal;
  json["mask"] = mask_text(pass.options, pass.inputs);
  json["alibi"] = !problem.slopes.empty();
  json["sinks"] = !problem.sinks.empty();
  json["sequences"] =
      value_or_null(problem.is_packed ? std::optional(problem.sequences.size()) : std::nullopt);
  add_rope(json, report.rope);
  json["wall_ms"] = report.times.wall_ms;
  json["device_ms"] = report.times.device_ms;
  json["checked"] = report.check.has_value();
  json["max_abs_error"] =
      report.check.has_value() ? base::Json(report.check->max_abs_error) : base::Json(nullptr);
  return base::to_text(json, 2) + "\n";
}

}  // namespace netcl::attn
