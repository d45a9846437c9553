// SPDX-License-Identifier: Apache-2.0
#include "attn/run_options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>
#include <vector>

#include "attn/device_option.h"
#include "base/ascii.h"
#include "base/error.h"
#include "cli/output_name.h"
#include "cli/run_tool.h"
#include "cli/tool_app.h"
#include "core/tensor_file.h"
#include "nn/rotary_attention.h"

namespace netcl::attn {

namespace {

using base::UsageError;

constexpr uint64_t kMaxSize = uint64_t{1} << 31;
constexpr int64_t kMaxOffset = int64_t{1} << 31;
constexpr double kMaxReal = std::numeric_limits<float>::max();  // the engines compute in float

const char* const kFooter =
    "Tensors T: FILE.npy, FILE.safetensors:NAME, FILE.json = {\"dtype\":\"f32\",\"shape\":[2,3],\n"
    "\"data\":[...]}, or - (.npy on standard input or output). Shapes: q [batch, heads, q_len,\n"
    "head_dim]; k and v [batch, kv_heads, kv_len, head_dim]; rank 3 leaves out batch, rank 2 "
    "heads\n"
    "too; x [batch, len, dim] or [len, dim]; ids [batch, len] or [len]. f64 inputs become f32.\n"
    "\n"
    "Examples:\n"
    "  attn-run --q q.npy --k k.npy --v v.npy --causal --check -o y.npy\n"
    "  attn-run --q q.json --k k.json --v v.json --causal --explain\n"
    "  attn-run --ids ids.npy --vocab-size 8192 --init 7 --dim 256 --heads 4 --kv-heads 4 \\\n"
    "    --max-seq-len 512 --causal -o y.npy --heatmap attention.svg --labels pieces.jsonl\n"
    "\n"
    "Exit codes: 0 done, 1 --check found a difference, 2 usage, 3 bad input, 4 cannot read or\n"
    "write, 5 no such device, the device failed or out of memory, 70 a bug of ours\n";

void mark(CLI::Option* option, bool& given) {
  option->each([&given](const std::string&) { given = true; });
}

void declare_inputs(cli::ToolApp& app, RunOptions& o) {
  const char* const group = "Input: --q --k --v, or --x, or --ids";
  app.add_text("--q", o.q, "T", "Queries")->group(group);
  app.add_text("--k", o.k, "T", "Keys")->group(group);
  app.add_text("--v", o.v, "T", "Values; their head size may differ")->group(group);
  app.add_choice<nn::Layout>("--layout", o.layout,
                             {{"bhsd", nn::Layout::kBhsd},
                              {"bshd", nn::Layout::kBshd},
                              {"packed", nn::Layout::kPacked}},
                             "Axes of q, k, v and the result: [batch, heads, len, dim] (default),\n"
                             "[batch, len, heads, dim], [batch, len, heads * dim] with --heads")
      ->each([&o](const std::string&) { o.has_layout = true; })
      ->group(group);
  app.add_text("--x", o.x, "T", "Token vectors, through a rotary attention module")->group(group);
  app.add_text("--ids", o.ids, "T", "Token ids; their embedding rows are x")->group(group);
  app.add_text("--embedding", o.embedding, "T", "Embedding table [vocabulary, dim] for --ids")
      ->group(group);
  app.add_integer("--vocab-size", o.vocab_size, 1, kMaxSize,
                  "Rows of a seeded random embedding table for --ids")
      ->group(group);
  mark(app.add_integer("--seed", o.seed, 0, UINT64_MAX,
                       "Seed of the table of --vocab-size; default: that of --init, else 0")
           ->group(group),
       o.has_seed);
  app.add_text("--dtype", o.dtype, "TYPE",
               "Store inputs as f32, f16 or bf16, or by part: q=f32,kv=f16;\n"
               "default: as they are. Arithmetic is always f32")
      ->group(group);
}

void declare_module(cli::ToolApp& app, RunOptions& o) {
  const char* const group = "Module for --x and --ids: --module, or --init";
  app.add_text("--module", o.module, "WEIGHTS",
               "Weights: FILE.safetensors, or FILE.safetensors:PREFIX of their names")
      ->group(group);
  app.add_text("--config", o.config, "CONFIG",
               "Their configuration (.json); default: the metadata of the weights")
      ->group(group);
  mark(app.add_integer("--init", o.init, 0, UINT64_MAX,
                       "Random weights from this seed; RoPE interleaved unless\n--rope-pairing "
                       "says otherwise")
           ->group(group),
       o.has_init);
  app.add_integer("--dim", o.dim, 1, kMaxSize, "Size of a token vector")->group(group);
  app.add_integer("--heads", o.heads, 1, kMaxSize, "Query heads; also for --layout packed")
      ->group(group);
  app.add_integer("--kv-heads", o.kv_heads, 1, kMaxSize, "KV heads; default: as --heads")
      ->group(group);
  app.add_integer("--max-seq-len", o.max_seq_len, 1, nn::kMaxPositions,
                  "Longest sequence of the module")
      ->group(group);
  app.add_text("--save-weights", o.save_weights, "FILE",
               "Write the weights of --init (.safetensors)")
      ->group(group);
}

void set_causal(RunOptions& o, const std::vector<std::string>& values) {
  if (values.size() > 1) {
    throw UsageError("--causal: given " + std::to_string(values.size()) + " times; give it once");
  }
  o.causal = true;
  const std::string value = values.empty() ? "" : values.front();
  if (value == "top-left") {
    o.alignment = nn::Alignment::kTopLeft;
  } else if (!value.empty() && value != "bottom-right") {
    throw UsageError("--causal: " + base::quote(value) +
                     " is not known; allowed is bottom-right|top-left");
  }
}

void set_alibi(RunOptions& o, const std::vector<std::string>& values) {
  if (values.size() > 1) {
    throw UsageError("--alibi: given " + std::to_string(values.size()) + " times; give it once");
  }
  o.has_alibi = true;
  o.alibi = values.empty() ? "" : values.front();
}

void declare_alibi(cli::ToolApp& app, RunOptions& o, const char* group) {
  app.add_option(
         "--alibi",
         [&o](const std::vector<std::string>& values) {
           set_alibi(o, values);
           return true;
         },
         "Take slope * distance from the aligned key off the scores, before the\n"
         "mask; T: slopes [heads] or [batch, heads]; default: 2^(-8h/heads)")
      ->type_name("[T]")
      ->expected(0, 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
}

void declare_attention(cli::ToolApp& app, RunOptions& o) {
  const char* const group = "Attention";
  app.add_option(
         "--causal",
         [&o](const std::vector<std::string>& values) {
           set_causal(o, values);
           return true;
         },
         "Hide later keys. bottom-right (default): the last query is aligned\n"
         "with the last key; top-left: the first with the first")
      ->type_name("[bottom-right|top-left]")
      ->expected(0, 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_text("--causal-offset", o.causal_offset, "N|T",
               "Hide key j from query i unless j <= i + N; T: one N a batch")
      ->group(group);
  app.add_text("--mask", o.mask, "T",
               "bool: true = may attend; floating: added to the scores. Rank 2 to 4,\n"
               "right-aligned to [batch, heads, q_len, kv_len]")
      ->group(group);
  app.add_text("--kv-lens", o.kv_lens, "T", "Valid keys of each batch item")->group(group);
  app.add_text("--window", o.window, "L,R",
               "Keep L keys before and R after the aligned one; -1 = all")
      ->group(group);
  app.add_real("--softcap", o.softcap, 0, kMaxReal, "C * tanh(score / C) before the mask; 0 = off")
      ->group(group);
  declare_alibi(app, o, group);
  app.add_text("--sinks", o.sinks, "T",
               "[heads]: one more logit for each row's softmax, without a value")
      ->group(group);
  app.add_text("--cu-seqlens-q", o.cu_seqlens_q, "T",
               "Sequences packed one after the other in a batch of 1: where each\n"
               "starts, and the end; --layout bshd may leave out batch")
      ->group(group);
  app.add_text("--cu-seqlens-k", o.cu_seqlens_k, "T", "The same for k and v")->group(group);
  mark(app.add_real("--scale", o.scale, -kMaxReal, kMaxReal,
                    "Factor of q.k; default 1/sqrt(head_dim)")
           ->group(group),
       o.has_scale);
  app.add_real("--rope", o.rope, 1e-30, kMaxReal,
               "Rotate q and k by position with this theta; module: default 10000")
      ->group(group);
  mark(app.add_choice<bool>("--rope-pairing", o.interleaved,
                            {{"half", false}, {"interleaved", true}},
                            "Rotated pairs: (i, i + d/2) or (2i, 2i + 1); default: half for --q\n"
                            "and --k, interleaved for --init, the file's own for --module")
           ->group(group),
       o.has_pairing);
  app.add_integer("--rope-dim", o.rope_dim, 2, kMaxSize,
                  "Rotate the first R elements of a head, even; default: all")
      ->group(group);
  app.add_text("--rope-config", o.rope_config, "F",
               "RoPE of a model's config.json, or of its rope_scaling alone (.json):\n"
               "default, linear, dynamic, yarn, llama3, longrope; --rope, --rope-pairing\n"
               "and --rope-dim win over it")
      ->group(group);
  app.add_text("--positions", o.positions, "T",
               "Positions of the keys (module: of the rows), [len] or [batch, len];\n"
               "default: 0, 1, 2, ... A query stands where its aligned key does")
      ->group(group);
}

void declare_outputs(cli::ToolApp& app, RunOptions& o) {
  const char* const device = "Device";
  app.add_text("--device", o.device, "SPEC",
               "auto (GPU, else CPU by OpenCL, else host), host, P:D, an index or a\n"
               "part of the device's or the platform's name; see --list-devices")
      ->group(device);
  app.add_choice<std::string>("--kernel", o.kernel,
                              {{"auto", "auto"},
                               {"naive", "naive"},
                               {"tiled", "tiled"},
                               {"panel", "panel"},
                               {"reference", "reference"}},
                              "OpenCL kernel; reference: double precision on the host")
      ->group(device);
  app.add_switch("--list-devices", o.list_devices, "List devices and end")->group(device);
  const char* const group = "Output";
  app.add_text("-o,--output", o.output, "T", "Result; default: .npy on standard output")
      ->group(group);
  app.add_text("--lse", o.lse, "T", "Log-sum-exp of every row [batch, heads, q_len]")->group(group);
  app.add_text("--weights", o.weights, "T", "Attention weights [batch, heads, q_len, kv_len]")
      ->group(group);
  app.add_switch("--check", o.check, "Compare with attention in double precision; exit 1 if off")
      ->group(group);
  app.add_switch("--explain", o.explain,
                 "Print the steps of a small input; then only -o writes the result")
      ->group(group);
  app.add_text("--heatmap", o.heatmap, "F.svg", "Picture of the first batch item's weights")
      ->group(group);
  app.add_text("--labels", o.labels, "F.jsonl", "Token texts for it, from bpe-encode --pieces")
      ->group(group);
  app.add_text("--report", o.report, "F.json", "Shape, device, times and error of the run")
      ->group(group);
}

void refuse(bool condition, const std::string& message) {
  if (condition) {
    throw UsageError(message);
  }
}

void check_sources(const RunOptions& o) {
  const bool any_qkv = !o.q.empty() || !o.k.empty() || !o.v.empty();
  const bool all_qkv = !o.q.empty() && !o.k.empty() && !o.v.empty();
  const int sources = int(any_qkv) + int(!o.x.empty()) + int(!o.ids.empty());
  refuse(sources == 0, "nothing to run; give --q, --k and --v, or --x, or --ids");
  refuse(sources > 1, "--q --k --v, --x and --ids exclude each other; give one of the three");
  refuse(any_qkv && !all_qkv, "--q, --k and --v go together; " +
                                  std::string(o.q.empty()   ? "--q"
                                              : o.k.empty() ? "--k"
                                                            : "--v") +
                                  " is missing");
  refuse(!o.ids.empty() && o.embedding.empty() == (o.vocab_size == 0),
         "--ids needs either --embedding or --vocab-size");
  refuse(o.ids.empty() && (!o.embedding.empty() || o.vocab_size != 0),
         std::string(o.vocab_size != 0 ? "--vocab-size" : "--embedding") + " needs --ids");
  refuse(o.has_seed && o.vocab_size == 0, "--seed needs --vocab-size, which it seeds");
  const std::string* const inputs[] = {
      &o.q,         &o.k,       &o.v,     &o.x,     &o.ids,          &o.mask,        &o.embedding,
      &o.positions, &o.kv_lens, &o.alibi, &o.sinks, &o.cu_seqlens_q, &o.cu_seqlens_k};
  refuse(std::count_if(std::begin(inputs), std::end(inputs),
                       [](const std::string* input) { return *input == "-"; }) > 1,
         "-: standard input named twice");
}

// --init makes heads of dim / heads elements, which rotate in pairs.
void check_init_sizes(const RunOptions& o) {
  const std::string dim = "--dim " + std::to_string(o.dim);
  const std::string heads = "--heads " + std::to_string(o.heads);
  refuse(o.dim % o.heads != 0, dim + " is no multiple of " + heads);
  refuse(o.kv_heads != 0 && o.heads % o.kv_heads != 0,
         heads + " is no multiple of --kv-heads " + std::to_string(o.kv_heads));
  const uint64_t head_dim = o.dim / o.heads;
  refuse(o.rope_dim == 0 && head_dim % 2 != 0,
         dim + " in " + heads + " is " + std::to_string(head_dim) +
             " elements a head; they rotate in pairs, so make it even or give --rope-dim");
  refuse(o.rope_dim > head_dim, "--rope-dim: " + std::to_string(o.rope_dim) + " is more than the " +
                                    std::to_string(head_dim) + " elements of a head");
}

void check_module(const RunOptions& o) {
  const bool module_option = !o.module.empty() || !o.config.empty() || o.has_init || o.dim != 0 ||
                             o.max_seq_len != 0 || !o.save_weights.empty();
  if (!o.is_module_run()) {
    refuse(module_option,
           "--module, --config, --init, --dim, --max-seq-len and --save-weights need --x or --ids");
    const bool packed = o.layout == nn::Layout::kPacked;
    refuse(packed && o.heads == 0, "--layout packed needs --heads");
    refuse(!packed && (o.heads != 0 || o.kv_heads != 0),
           "--heads and --kv-heads need --layout packed, --x or --ids");
    return;
  }
  refuse(o.has_layout, "--layout is for --q --k --v");
  refuse(o.module.empty() && !o.config.empty(), "--config needs --module");
  refuse(o.module.empty() && !o.has_init, "--x and --ids need --module, or --init");
  refuse(!o.module.empty() && o.has_init, "--module and --init exclude each other");
  refuse(o.has_init && (o.dim == 0 || o.heads == 0 || o.max_seq_len == 0),
         "--init needs --dim, --heads and --max-seq-len");
  if (o.has_init) {
    check_init_sizes(o);
  }
  refuse(!o.module.empty() && (o.dim != 0 || o.heads != 0 || o.kv_heads != 0 ||
                               o.max_seq_len != 0 || !o.save_weights.empty()),
         "--dim, --heads, --kv-heads, --max-seq-len and --save-weights are for --init; a module "
         "has its sizes");
  refuse(!o.mask.empty() || !o.kv_lens.empty(), "--mask and --kv-lens are for --q --k --v");
  refuse(o.has_alibi || !o.sinks.empty() || !o.cu_seqlens_q.empty() || !o.cu_seqlens_k.empty(),
         "--alibi, --sinks, --cu-seqlens-q and --cu-seqlens-k are for --q --k --v");
  refuse(o.dtype.find("kv=") != std::string::npos,
         "--dtype kv= is for --q --k --v; a module computes k and v in f32");
  refuse(!o.module.empty() &&
             core::parse_tensor_spec(o.module).format != core::TensorFormat::kSafetensors,
         o.module + ": --module reads a .safetensors file");
  refuse(!o.save_weights.empty() && !base::has_extension(o.save_weights, ".safetensors"),
         o.save_weights + ": --save-weights writes a .safetensors file");
}

void check_attention(const RunOptions& o) {
  refuse(o.causal && !o.causal_offset.empty(), "--causal and --causal-offset exclude each other");
  if (!o.causal_offset.empty()) {
    parse_causal_offset(o.causal_offset);
  }
  if (!o.window.empty()) {
    parse_window(o.window);
  }
  const bool is_packed = !o.cu_seqlens_q.empty();
  refuse(is_packed == o.cu_seqlens_k.empty(), "--cu-seqlens-q and --cu-seqlens-k go together");
  refuse(is_packed && !o.kv_lens.empty(),
         "--kv-lens and --cu-seqlens-k exclude each other; the latter has the lengths");
  refuse(is_packed && o.rotates(),
         "RoPE does not know packed sequences; rotate q and k before, or run each by itself");
  refuse(!o.rotates() && (o.has_pairing || o.rope_dim != 0 || !o.positions.empty()),
         "--rope-pairing, --rope-dim and --positions need --rope or --rope-config");
  refuse(o.rope_dim % 2 != 0,
         "--rope-dim: " + std::to_string(o.rope_dim) + " is odd; elements rotate in pairs");
  parse_storage_types(o.dtype);
}

// A name must say what it holds; standard output, a pipe and the like have none.
bool may_hold_svg(const std::string& path) {
  std::error_code error;
  return path.empty() || path == "-" || base::has_extension(path, ".svg") ||
         (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error));
}

void check_outputs(const RunOptions& o) {
  refuse(!o.labels.empty() && o.heatmap.empty(), "--labels needs --heatmap");
  refuse(o.explain && o.output == "-", "--explain and -o - both write to standard output");
  refuse(o.device == "host" && is_device_kernel(o.kernel),
         "--kernel " + o.kernel + " is an OpenCL kernel; --device host has none");
  refuse(o.uses_reference() && o.device != "host" && o.device != "auto",
         "--kernel reference runs on the host; leave out --device");
  for (const std::string* spec : {&o.output, &o.lse, &o.weights}) {
    if (!spec->empty()) {
      const core::TensorSpec parsed = core::parse_tensor_spec(*spec);
      refuse(parsed.format == core::TensorFormat::kSafetensors && parsed.name.empty(),
             *spec + ": a result needs a name; give " + *spec + ":NAME");
    }
  }
  cli::refuse_same_outputs({o.output.empty() ? "-" : o.output, o.lse, o.weights, o.heatmap,
                            o.report, o.save_weights, o.explain && !o.output.empty() ? "-" : ""});
  refuse(!may_hold_svg(o.heatmap),
         o.heatmap + ": --heatmap writes an SVG picture; end the name in .svg");
  cli::check_output_name(o.report, "--report writes JSON", {".json", ".txt"});
  for (const std::string* spec :
       {&o.q, &o.k, &o.v, &o.x, &o.ids, &o.embedding, &o.mask, &o.kv_lens, &o.positions, &o.alibi,
        &o.sinks, &o.cu_seqlens_q, &o.cu_seqlens_k}) {
    if (!spec->empty()) {
      core::parse_tensor_spec(*spec);
    }
  }
}

}  // namespace

void declare_run_options(cli::ToolApp& app, RunOptions& options) {
  declare_inputs(app, options);
  declare_module(app, options);
  declare_attention(app, options);
  declare_outputs(app, options);
  app.footer(kFooter);
}

Window parse_window(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == std::string::npos) {
    throw UsageError("--window: " + base::quote(text) + " is not L,R, for example 127,0");
  }
  return {cli::parse_signed_integer(text.substr(0, comma), -1, kMaxOffset, "--window"),
          cli::parse_signed_integer(text.substr(comma + 1), -1, kMaxOffset, "--window")};
}

std::optional<int64_t> parse_causal_offset(const std::string& text) {
  if (text.find_first_not_of("-0123456789") == std::string::npos && text != "-") {
    return cli::parse_signed_integer(text, -kMaxOffset, kMaxOffset, "--causal-offset");
  }
  try {
    core::parse_tensor_spec(text);
  } catch (const UsageError&) {
    throw UsageError("--causal-offset: " + base::quote(text) +
                     " is neither a whole number nor a tensor argument");
  }
  return std::nullopt;
}

void check_run_options(const RunOptions& options) {
  if (options.list_devices) {
    refuse(options.is_module_run() || !options.q.empty() || !options.k.empty() ||
               !options.v.empty() || !options.output.empty(),
           "--list-devices runs nothing; leave out inputs and outputs");
    return;
  }
  check_sources(options);
  check_module(options);
  check_attention(options);
  check_outputs(options);
}

}  // namespace netcl::attn
