// SPDX-License-Identifier: Apache-2.0
// The command line of attn-run.
#ifndef NETCL_TOOLS_ATTN_RUN_OPTIONS_H_
#define NETCL_TOOLS_ATTN_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "attn/storage_types.h"
#include "nn/attention.h"

namespace netcl::cli {
class ToolApp;
}

namespace netcl::attn {

// What was typed. Texts are empty and numbers 0 where an option was not given, unless said
// otherwise.
struct RunOptions {
  // Tensor arguments (core/tensor_file.h).
  std::string q, k, v;
  std::string x, ids, embedding;
  std::string mask, kv_lens, positions;
  uint64_t vocab_size = 0;
  uint64_t seed = 0;
  bool has_seed = false;

  std::string module, config, save_weights;
  uint64_t init = 0;
  bool has_init = false;
  uint64_t dim = 0, heads = 0, kv_heads = 0, max_seq_len = 0;

  bool causal = false;
  nn::Alignment alignment = nn::Alignment::kBottomRight;
  std::string causal_offset;  // a number or a tensor argument
  std::string window;         // "L,R"
  double softcap = 0;
  double scale = 0;
  bool has_scale = false;
  bool has_alibi = false;
  std::string alibi, sinks, cu_seqlens_q, cu_seqlens_k;  // tensor arguments
  nn::Layout layout = nn::Layout::kBhsd;
  bool has_layout = false;
  double rope = 0;  // theta
  bool interleaved = false;
  bool has_pairing = false;
  uint64_t rope_dim = 0;
  std::string rope_config;  // a file

  std::string dtype, device = "auto", kernel = "auto";
  bool check = false, explain = false, list_devices = false;
  std::string output, lse, weights, heatmap, labels, report;

  bool is_module_run() const { return !x.empty() || !ids.empty(); }
  bool rotates() const { return rope != 0 || !rope_config.empty() || is_module_run(); }
  bool uses_reference() const { return kernel == "reference"; }
  // The main result goes to standard output.
  bool result_on_stdout() const { return output == "-" || (output.empty() && !explain); }
};

void declare_run_options(cli::ToolApp& app, RunOptions& options);

// Throws UsageError for options that contradict or lack each other, and for values of the wrong
// form. Touches no tensor file and no device.
void check_run_options(const RunOptions& options);

struct Window {
  int64_t left = -1, right = -1;
};
// "L,R", each -1 or more. Throws UsageError.
Window parse_window(const std::string& text);
// The number of a --causal-offset that is one; nothing for a tensor argument. Throws UsageError
// for anything else.
std::optional<int64_t> parse_causal_offset(const std::string& text);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_RUN_OPTIONS_H_
