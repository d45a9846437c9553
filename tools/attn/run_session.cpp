// SPDX-License-Identifier: Apache-2.0
#include "attn/run_session.h"

#include <cstdio>
#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "attn/computed_run.h"
#include "attn/device_option.h"
#include "attn/output_set.h"
#include "attn/token_label.h"
#include "base/error.h"
#include "nn/rotary_attention_file.h"

namespace netcl::attn {

namespace {

// Token texts of the keys; numbers without --labels.
std::vector<std::string> key_labels(const RunOptions& options,
                                    const std::vector<std::string>& labels, int64_t kv_len) {
  if (options.labels.empty()) {
    std::vector<std::string> numbers;
    for (int64_t j = 0; j < kv_len; ++j) {
      numbers.push_back(std::to_string(j));
    }
    return numbers;
  }
  if (labels.size() != static_cast<size_t>(kv_len)) {
    throw base::FormatError(options.labels + ": " + std::to_string(labels.size()) +
                            " token texts for " + std::to_string(kv_len) + " keys");
  }
  return labels;
}

std::string count_text(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string draw_heatmap(const RunOptions& options, const ComputedRun& computed,
                         const std::vector<std::string>& token_texts) {
  const nn::AttentionProblem& problem = computed.pass.problem;
  const std::vector<std::string> labels = key_labels(options, token_texts, problem.kv_len);
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
  map.notes.push_back(
      (problem.batch > 1 ? "batch item 0 of " + std::to_string(problem.batch) + ", "
                         : std::string()) +
      count_text(problem.q_len, "query token") + ", " + count_text(problem.kv_len, "key token") +
      ", head_dim " + std::to_string(problem.head_dim) + ", " + (mask.empty() ? "no mask" : mask) +
      (report.rope.has_value()
           ? ", RoPE " + report.rope->pairing +
                 (report.rope->type == "default" ? std::string() : ", " + report.rope->type)
           : std::string()));
  map.notes.push_back("device " + device_label(report.device) + ", kernel " + report.times.kernel);
  return render_heatmap(map);
}

void log_run(const ComputedRun& computed) {
  const RunReport& report = computed.report;
  log_device(report.device);
  spdlog::info("kernel {}, {:.3f} ms on the device, {:.3f} ms wall", report.times.kernel,
               report.times.device_ms, report.times.wall_ms);
  if (report.rope.has_value()) {
    spdlog::info("RoPE: {}", rope_text(*report.rope));
  }
}

OutputSet make_outputs(const RunOptions& options, const ComputedRun& computed,
                       const std::vector<std::string>& token_texts) {
  OutputSet outputs;
  if (options.explain) {
    Explanation steps = explain_pass(computed.pass);
    if (computed.report.rope.has_value()) {
      steps.rotation = rope_text(*computed.report.rope);
    }
    outputs.add_bytes("-", explain(steps));
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
    outputs.add_bytes(options.heatmap, draw_heatmap(options, computed, token_texts));
  }
  if (!options.report.empty()) {
    outputs.add_bytes(options.report, report_json(computed.report, computed.pass));
  }
  if (!options.save_weights.empty()) {
    outputs.add_writer(options.save_weights, [path = options.save_weights,
                                              module = *computed.module](base::OutputFile& out) {
      nn::save_rotary_attention(out, path, module);
    });
  }
  return outputs;
}

}  // namespace

int run_session(const RunOptions& options, const cli::CommonOptions& common) {
  if (options.result_on_stdout()) {
    cli::refuse_binary_on_terminal(options.output, "the result (.npy)");
  }
  const std::vector<std::string> token_texts =
      options.labels.empty() ? std::vector<std::string>() : read_labels(options.labels);
  cli::ProgressReport progress(common.progress);
  const ComputedRun computed = options.is_module_run()
                                   ? compute_module(options, common, progress.callback())
                                   : compute_qkv(options, common, progress.callback());
  progress.clear();
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
  make_outputs(options, computed, token_texts).write();
  return 0;
}

}  // namespace netcl::attn
