// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>
#include <vector>

#include "attn/computed_run.h"
#include "attn/device_option.h"
#include "attn/error_bound.h"
#include "attn/qkv_call.h"
#include "base/error.h"
#include "core/tensor_file.h"
#include "nn/embedding.h"
#include "nn/rope_config.h"
#include "nn/rotary_attention_file.h"

namespace netcl::attn {

namespace {

using base::FormatError;
using core::HostTensor;
using core::Shape;

// Inputs from files, before a device is opened.
struct ModuleInput {
  HostTensor x;      // without ids
  HostTensor ids;    // [len] or [batch, len]
  HostTensor table;  // with ids
  bool has_ids = false;
  int64_t batch = 1, len = 0;
  std::vector<int64_t> positions;
};

ModuleInput load_module_input(const RunOptions& options) {
  ModuleInput input;
  const StorageTypes types = parse_storage_types(options.dtype);
  input.has_ids = !options.ids.empty();
  const std::string& source = input.has_ids ? options.ids : options.x;
  HostTensor tensor = core::load_tensor(source);
  const Shape& shape = tensor.shape();
  const size_t lengths = input.has_ids ? shape.rank() : shape.rank() - 1;
  if (shape.rank() < (input.has_ids ? 1u : 2u) || lengths > 2) {
    throw FormatError(
        source + " has shape " + shape.text() + "; wanted " +
        (input.has_ids ? "[len] or [batch, len]" : "[len, dim] or [batch, len, dim]"));
  }
  input.batch = lengths == 2 ? shape[0] : 1;
  input.len = shape[lengths - 1];
  if (!options.positions.empty()) {
    input.positions = load_positions(options.positions, input.batch, input.len);
  }
  if (!input.has_ids) {
    input.x = to_storage(std::move(tensor), types.q, "--x " + options.x);
    return input;
  }
  input.ids = std::move(tensor);
  if (!options.embedding.empty()) {
    input.table = to_storage(core::load_tensor(options.embedding), types.q,
                             "--embedding " + options.embedding);
    if (input.table.shape().rank() != 2) {
      throw FormatError(options.embedding + " has shape " + input.table.shape().text() +
                        "; wanted [vocabulary, dim]");
    }
  } else if (options.has_init) {
    input.table =
        to_storage(nn::make_embedding_table(static_cast<int64_t>(options.vocab_size),
                                            static_cast<int64_t>(options.dim),
                                            options.has_seed ? options.seed : options.init),
                   types.q, "embedding table");
  }
  return input;
}

nn::RopePairing chosen_pairing(const RunOptions& options) {
  return options.interleaved ? nn::RopePairing::kInterleaved : nn::RopePairing::kHalf;
}

// --rope-config wins over what --config says of RoPE.
void use_rope_config(const RunOptions& options, nn::RotaryAttentionSettings& settings) {
  const nn::RopeConfig rope = nn::read_rope_config(options.rope_config);
  settings.rope_scaling = rope.scaling;
  if (rope.theta) {
    settings.rope_theta = rope.theta;
  }
  if (rope.pairing) {
    settings.pairing = rope.pairing;
  }
  if (options.rope_dim != 0) {
    return;
  }
  if (!settings.head_dim) {
    settings.head_dim = rope.head_dim;  // the weights must have it too
  }
  if (rope.partial_rotary_factor && !settings.head_dim) {
    throw FormatError("--rope-config: " + rope.where +
                      " rotates part of a head; give --rope-dim, or 'head_dim' in the file");
  }
  if (rope.partial_rotary_factor) {
    settings.rope_dim = nn::rotary_size(rope, *settings.head_dim);
  } else if (settings.head_dim) {
    nn::check_head_dim(rope, *settings.head_dim);
  }
}

// Options win over config.json, and that over what the file says of itself.
nn::RotaryAttention load_module(const RunOptions& options, const core::Queue& queue) {
  nn::RotaryAttentionSettings settings;
  if (!options.config.empty()) {
    settings = nn::read_rotary_attention_config(options.config);
  }
  if (!options.rope_config.empty()) {
    use_rope_config(options, settings);
  }
  if (options.has_pairing) {
    settings.pairing = chosen_pairing(options);
  }
  if (options.rope != 0) {
    settings.rope_theta = options.rope;
  }
  if (options.rope_dim != 0) {
    settings.rope_dim = static_cast<int64_t>(options.rope_dim);
  }
  const core::TensorSpec spec = core::parse_tensor_spec(options.module);
  return nn::load_rotary_attention(queue, spec.path, settings, spec.name);
}

nn::RotaryAttention make_module(const RunOptions& options, const core::Queue& queue) {
  if (!options.has_init) {
    return load_module(options, queue);
  }
  nn::RotaryAttentionConfig config;
  config.causal = options.causal || !options.causal_offset.empty();
  config.seed = options.init;
  const auto heads = static_cast<int64_t>(options.heads);
  if (!options.rope_config.empty()) {
    nn::RotaryAttentionSettings settings;
    settings.head_dim = static_cast<int64_t>(options.dim) / heads;
    use_rope_config(options, settings);
    config.rope_scaling = *settings.rope_scaling;
    config.rope_theta = settings.rope_theta.value_or(config.rope_theta);
    config.pairing = settings.pairing.value_or(config.pairing);
    config.rope_dim = settings.rope_dim.value_or(config.rope_dim);
  }
  if (options.rope_dim != 0) {
    config.rope_dim = static_cast<int64_t>(options.rope_dim);
  }
  if (options.rope != 0) {
    config.rope_theta = options.rope;
  }
  if (options.has_pairing) {
    config.pairing = chosen_pairing(options);
  }
  return nn::RotaryAttention(queue, static_cast<int64_t>(options.dim), heads,
                             options.kv_heads == 0 ? heads : static_cast<int64_t>(options.kv_heads),
                             static_cast<int64_t>(options.max_seq_len), config);
}

core::Tensor embed(const RunOptions& options, const core::Queue& queue, const HostTensor& table,
                   const HostTensor& ids) {
  try {
    return nn::embedding(core::Tensor::from_host(queue, table), ids);
  } catch (const FormatError& error) {
    throw FormatError(options.ids + ": " + error.what());
  }
}

// The module has angles for the positions below max_seq_len.
void check_positions(const RunOptions& options, const ModuleInput& input, int64_t max_seq_len) {
  const std::string limit = "; the module's max_seq_len is " + std::to_string(max_seq_len);
  if (input.positions.empty() && input.len > max_seq_len) {
    throw FormatError((input.has_ids ? options.ids : options.x) + " has " +
                      std::to_string(input.len) + " positions" + limit);
  }
  for (const int64_t position : input.positions) {
    if (position >= max_seq_len) {
      throw FormatError("--positions: " + options.positions + " holds " + std::to_string(position) +
                        limit);
    }
  }
}

core::Tensor make_x(const RunOptions& options, const ModuleInput& input,
                    const nn::RotaryAttention& module) {
  if (!input.has_ids) {
    return core::Tensor::from_host(module.queue(), input.x);
  }
  if (input.table.count() != 0) {
    return embed(options, module.queue(), input.table, input.ids);
  }
  const HostTensor table =
      to_storage(nn::make_embedding_table(static_cast<int64_t>(options.vocab_size),
                                          module.sizes().dim, options.has_seed ? options.seed : 0),
                 parse_storage_types(options.dtype).q, "embedding table");
  return embed(options, module.queue(), table, input.ids);
}

nn::AttentionOptions module_options(const RunOptions& options, const nn::RotaryAttention& module) {
  nn::AttentionOptions made = make_attention_options(options);
  const nn::AttentionOptions own = module.attention_options();
  made.causal = made.causal || own.causal;
  if (options.window.empty()) {
    made.window_left = own.window_left;
    made.window_right = own.window_right;
  }
  if (options.softcap == 0) {
    made.softcap = own.softcap;
  }
  if (!made.scale.has_value()) {
    made.scale = own.scale;
  }
  if (!options.uses_reference()) {
    made.kernel = options.kernel;
  }
  return made;
}

// Attention proper on the module's projections.
AttentionPass inner_pass(const nn::RotaryAttention& module, const core::Tensor& x,
                         const nn::AttentionOptions& options, const ModuleInput& input,
                         bool reference) {
  const core::Tensor batched = x.reshaped({input.batch, input.len, module.sizes().dim});
  const nn::RotaryProjections projected = module.project(batched, input.positions);
  AttentionPass pass{
      {projected.q, projected.k, projected.v, {}, {}, {}, {}}, options, reference, {}};
  pass.options.layout = nn::Layout::kBshd;  // of the projections
  pass.problem = nn::make_attention_problem(pass.inputs, pass.options);
  return pass;
}

Comparison check_module(const ComputedRun& computed, const core::Tensor& x,
                        const ModuleInput& input, const base::ProgressFn& progress) {
  nn::AttentionOptions plain = computed.pass.options;
  plain.kernel = "auto";
  const HostTensor exact = computed.module->reference(x.to_host(), plain, input.positions, progress)
                               .y.reshaped(x.shape());
  const HostTensor q = computed.pass.inputs.q.to_host();
  const HostTensor k = computed.pass.inputs.k.to_host();
  BoundInputs bound;
  bound.q = &q;
  bound.k = &k;
  bound.v = &exact;
  bound.head_dim = computed.pass.problem.head_dim;
  bound.scale = computed.pass.problem.scale;
  return compare(computed.y, exact, kModuleFactor * attention_error_bound(bound));
}

void compute_y(const RunOptions& options, const core::Tensor& x, const ModuleInput& input,
               const base::ProgressFn& progress, ComputedRun& computed) {
  const nn::RotaryAttention& module = *computed.module;
  nn::AttentionOptions wanted = computed.pass.options;
  wanted.want_lse = !options.lse.empty();
  RunTimes& times = computed.report.times;
  if (options.uses_reference()) {
    std::optional<nn::RotaryAttentionReference> exact;
    const HostTensor host_x = x.to_host();
    times = timed_run(module.queue(),
                      [&] { exact = module.reference(host_x, wanted, input.positions, progress); });
    times.kernel = "reference";
    computed.y = exact->y.to(x.dtype()).reshaped(x.shape());
    if (wanted.want_lse) {
      computed.lse = exact->attention.lse.to(core::DType::kF32);
    }
    return;
  }
  std::optional<nn::RotaryAttentionOutputs> outputs;
  times = timed_run(module.queue(), [&] { outputs = module.run(x, wanted, input.positions); });
  computed.y = outputs->y.to_host();
  if (wanted.want_lse) {
    computed.lse = outputs->attention.lse->to_host();
  }
}

}  // namespace

ComputedRun compute_module(const RunOptions& options, const cli::CommonOptions& common,
                           const base::ProgressFn& progress) {
  const ModuleInput input = load_module_input(options);
  if (!options.heatmap.empty()) {
    check_heatmap_size(input.batch, input.len, input.len);
  }
  const core::Device device =
      open_device(options.uses_reference() ? "host" : options.device, options.kernel, common);
  const nn::RotaryAttention module = make_module(options, device.queue);
  check_positions(options, input, module.sizes().max_seq_len);
  const core::Tensor x = make_x(options, input, module);
  if (x.shape()[x.shape().rank() - 1] != module.sizes().dim) {
    throw FormatError((input.has_ids ? options.embedding : options.x) + " has rows of " +
                      std::to_string(x.shape()[x.shape().rank() - 1]) +
                      " elements; the module's dim is " + std::to_string(module.sizes().dim));
  }
  check_result_type(options, x.dtype());
  if (options.explain) {
    check_explain_size(input.batch, module.sizes().n_heads, input.len, input.len,
                       module.config().head_dim);
  }
  ComputedRun computed{
      inner_pass(module, x, module_options(options, module), input, options.uses_reference()),
      {},
      {},
      {},
      module};
  compute_y(options, x, input, progress, computed);
  RunReport& report = computed.report;
  report.device = device.info;
  report.q_dtype = x.dtype();
  report.kv_dtype = module.parameters().front().tensor.dtype();
  report.rope =
      report_rope(module.rope_options(input.len, input.positions), module.config().pairing);
  report.dim = module.sizes().dim;
  report.max_seq_len = module.sizes().max_seq_len;
  if (options.vocab_size != 0) {
    report.vocab_size = static_cast<int64_t>(options.vocab_size);
  }
  if (options.check) {
    report.check = check_module(computed, x, input, progress);
  }
  return computed;
}

}  // namespace netcl::attn
