// SPDX-License-Identifier: Apache-2.0
// One attention call through any engine, the double-precision one included, and what attn-run
// derives from it: score matrices, the heat map, the explanation.
#ifndef NETCL_TOOLS_ATTN_ATTENTION_PASS_H_
#define NETCL_TOOLS_ATTN_ATTENTION_PASS_H_

#include <optional>
#include <string>
#include <vector>

#include "attn/explain.h"
#include "attn/heatmap.h"
#include "attn/timed_run.h"
#include "base/progress.h"
#include "core/host_tensor.h"
#include "nn/attention.h"
#include "nn/attention_problem.h"

namespace netcl::attn {

// A call whose inputs are on a device: q and k projected and rotated.
struct AttentionPass {
  nn::AttentionInputs inputs;
  nn::AttentionOptions options;
  bool reference = false;  // double precision on the host
  nn::AttentionProblem problem;
};

struct PassOutputs {
  core::HostTensor y;  // dtype of q; f64 from the reference
  std::optional<core::HostTensor> lse;
  std::optional<core::HostTensor> scores;  // f32; f64 from the reference
};

// Runs the call with `options` in place of the pass's own and copies the results out. `times`,
// where not null, gets those of the computation alone.
PassOutputs run_pass(const AttentionPass& pass, const nn::AttentionOptions& options,
                     RunTimes* times = nullptr, const base::ProgressFn& progress = {});

// Scores of one stage, [batch, heads, q_len, kv_len].
core::HostTensor scores_at(const AttentionPass& pass, nn::ScoreStage stage);

// "causal (bottom-right), window 127,0"; empty when nothing hides keys.
std::string mask_text(const nn::AttentionOptions& options, const nn::AttentionInputs& inputs);

// Steps of a call that check_explain_size() allows.
Explanation explain_pass(const AttentionPass& pass);

// Weights of the first batch item; title, notes and labels are left to the caller.
Heatmap heatmap_of(const AttentionPass& pass);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_ATTENTION_PASS_H_
