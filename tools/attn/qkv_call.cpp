// SPDX-License-Identifier: Apache-2.0
#include "attn/qkv_call.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "attn/rope_choice.h"
#include "base/error.h"
#include "core/tensor_file.h"
#include "nn/alibi.h"

namespace netcl::attn {

namespace {

using base::FormatError;
using core::HostTensor;

constexpr int64_t kMaxPosition = int64_t{1} << 24;  // a table of angles has a row for each

// Query i of batch b is aligned with key i + its offset. Without --positions keys stand at 0, 1, 2,
// ... and queries where they are aligned, before the first key or after the last one too; all are
// shifted alike so that no position is negative, which changes no score.
void place_by_alignment(const nn::AttentionProblem& problem, Rotation& rotation) {
  const auto [least, most] = std::minmax_element(
      problem.sequences.begin(), problem.sequences.end(),
      [](const nn::Sequence& a, const nn::Sequence& b) { return a.offset < b.offset; });
  const int64_t low = problem.sequences.empty() ? 0 : least->offset;
  const int64_t high = problem.sequences.empty() ? 0 : most->offset;
  if (low <= -kMaxPosition || high >= kMaxPosition) {
    throw FormatError("--rope: the causal offset " + std::to_string(low < 0 ? low : high) +
                      " places queries outside the positions allowed, 0 to " +
                      std::to_string(kMaxPosition - 1));
  }
  const int64_t shift = std::max<int64_t>(0, -low);
  rotation.k.offset = shift;
  rotation.q.offset = low + shift;
  if (low != high) {
    for (const nn::Sequence& sequence : problem.sequences) {
      for (int64_t i = 0; i < problem.q_len; ++i) {
        rotation.q.positions.push_back(i + sequence.offset + shift);
      }
    }
  }
  rotation.table.max_positions =
      std::max<int64_t>({shift + problem.kv_len, high + shift + problem.q_len, 1});
  rotation.table.sequence_length = rotation.table.max_positions - shift;
}

// With --positions the queries stand where the keys that they are aligned with stand.
void place_by_positions(const nn::AttentionProblem& problem, const std::string& argument,
                        Rotation& rotation) {
  const std::vector<int64_t> keys = load_positions(argument, problem.batch, problem.kv_len);
  const bool shared = keys.size() == static_cast<size_t>(problem.kv_len);
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int64_t offset = problem.sequences[static_cast<size_t>(b)].offset;
    if (offset < 0 || offset > problem.kv_len - problem.q_len) {
      throw FormatError("--positions: " + std::to_string(problem.q_len) + " queries from key " +
                        std::to_string(offset) + " on, of " + std::to_string(problem.kv_len) +
                        " keys; the positions of the keys do not place them all");
    }
    const auto first = keys.begin() + (shared ? 0 : b * problem.kv_len) + offset;
    rotation.q.positions.insert(rotation.q.positions.end(), first, first + problem.q_len);
  }
  rotation.k.positions = keys;
  for (const int64_t position : keys) {
    rotation.table.max_positions = std::max(rotation.table.max_positions, position + 1);
  }
  rotation.table.sequence_length = rotation.table.max_positions;
}

Rotation make_rotation(const RunOptions& options, const QkvCall& call) {
  Rotation rotation;
  const nn::AttentionProblem& problem = call.problem;
  const RopeChoice choice = choose_rope(options, problem.head_dim);
  rotation.table.head_dim = problem.head_dim;
  rotation.table.rope_dim = choice.rope_dim;
  rotation.table.theta = choice.theta;
  rotation.table.scaling = choice.scaling;
  rotation.q.pairing = choice.pairing;
  rotation.q.layout = call.options.layout;
  rotation.k = rotation.q;
  if (call.options.layout == nn::Layout::kPacked) {
    rotation.q.heads = problem.heads;
    rotation.k.heads = problem.kv_heads;
  }
  rotation.table.max_positions = 1;
  if (options.positions.empty()) {
    place_by_alignment(problem, rotation);
  } else {
    place_by_positions(problem, options.positions, rotation);
  }
  return rotation;
}

std::vector<int64_t> integers_of(const HostTensor& tensor, const std::string& option,
                                 const std::string& argument) {
  try {
    return tensor.to_int64s();
  } catch (const FormatError& error) {
    throw FormatError(option + ": " + argument + ": " + error.what());
  }
}

// The library calls its tensors q, k and so on; the tool says which arguments these are.
nn::AttentionProblem make_problem(const RunOptions& options, const QkvCall& call,
                                  const nn::AttentionShapes& shapes) {
  try {
    return nn::make_attention_problem(shapes, call.options, call.kv_lens);
  } catch (const FormatError& error) {
    std::string names = "--q " + options.q + " --k " + options.k + " --v " + options.v;
    names += options.mask.empty() ? "" : " --mask " + options.mask;
    names += options.kv_lens.empty() ? "" : " --kv-lens " + options.kv_lens;
    names += options.alibi.empty() ? "" : " --alibi " + options.alibi;
    names += options.sinks.empty() ? "" : " --sinks " + options.sinks;
    names += options.cu_seqlens_q.empty() ? "" : " --cu-seqlens-q " + options.cu_seqlens_q;
    names += options.cu_seqlens_k.empty() ? "" : " --cu-seqlens-k " + options.cu_seqlens_k;
    names += options.causal_offset.empty() ? "" : " --causal-offset " + options.causal_offset;
    std::string_view what = error.what();
    constexpr std::string_view kPlace = "attention: ";
    what.remove_prefix(what.starts_with(kPlace) ? kPlace.size() : 0);
    throw FormatError(names + ": " + std::string(what));
  }
}

// Floating numbers of a tensor argument, [heads] or with `by_batch` [batch, heads] too.
std::vector<float> load_head_terms(const std::string& argument, const std::string& option,
                                   bool by_batch) {
  const HostTensor tensor = core::load_tensor(argument);
  const size_t rank = tensor.shape().rank();
  if ((rank != 1 && !(by_batch && rank == 2)) || !core::is_floating(tensor.dtype())) {
    throw FormatError(option + ": " + argument + " is " +
                      std::string(core::dtype_name(tensor.dtype())) + ' ' + tensor.shape().text() +
                      "; wanted floating [heads]" + (by_batch ? " or [batch, heads]" : ""));
  }
  return tensor.to_floats();
}

// The bounds of packed sequences. An empty list would mean that there are none.
std::vector<int64_t> load_bounds(const std::string& argument, const std::string& option) {
  if (argument.empty()) {
    return {};
  }
  std::vector<int64_t> bounds = load_integers(argument, option);
  if (bounds.empty()) {
    throw FormatError(option + ": " + argument + " is empty; it starts with 0");
  }
  return bounds;
}

std::vector<int64_t> load_offsets(const std::string& argument) {
  std::vector<int64_t> offsets = load_integers(argument, "--causal-offset");
  for (const int64_t offset : offsets) {
    if (offset < -nn::kMaxLength || offset > nn::kMaxLength) {
      throw FormatError("--causal-offset: " + argument + " holds " + std::to_string(offset) +
                        "; allowed is " + std::to_string(-nn::kMaxLength) + " to " +
                        std::to_string(nn::kMaxLength));
    }
  }
  return offsets;
}

}  // namespace

std::vector<int64_t> load_integers(const std::string& argument, const std::string& option) {
  const HostTensor tensor = core::load_tensor(argument);
  if (tensor.shape().rank() > 1) {
    throw FormatError(option + ": " + argument + " has shape " + tensor.shape().text() +
                      "; wanted [batch]");
  }
  return integers_of(tensor, option, argument);
}

std::vector<int64_t> load_positions(const std::string& argument, int64_t batch, int64_t length) {
  const HostTensor tensor = core::load_tensor(argument);
  const core::Shape& shape = tensor.shape();
  if (!(shape == core::Shape{length}) && !(shape == core::Shape{batch, length})) {
    throw FormatError("--positions: " + argument + " has shape " + shape.text() + "; wanted " +
                      core::Shape{length}.text() + " or " + core::Shape{batch, length}.text());
  }
  std::vector<int64_t> positions = integers_of(tensor, "--positions", argument);
  for (const int64_t position : positions) {
    if (position < 0 || position >= kMaxPosition) {
      throw FormatError("--positions: " + argument + " holds " + std::to_string(position) +
                        "; allowed is 0 to " + std::to_string(kMaxPosition - 1));
    }
  }
  return positions;
}

nn::AttentionOptions make_attention_options(const RunOptions& options) {
  nn::AttentionOptions made;
  made.causal = options.causal || !options.causal_offset.empty();
  made.alignment = options.alignment;
  if (!options.causal_offset.empty()) {
    made.alignment = nn::Alignment::kExplicit;
    const std::optional<int64_t> offset = parse_causal_offset(options.causal_offset);
    made.offsets =
        offset.has_value() ? std::vector<int64_t>{*offset} : load_offsets(options.causal_offset);
  }
  if (!options.window.empty()) {
    const Window window = parse_window(options.window);
    made.window_left = window.left;
    made.window_right = window.right;
  }
  made.softcap = options.softcap;
  if (options.has_scale) {
    made.scale = options.scale;
  }
  return made;
}

QkvCall load_qkv_call(const RunOptions& options) {
  QkvCall call;
  const StorageTypes types = parse_storage_types(options.dtype);
  call.q = to_storage(core::load_tensor(options.q), types.q, "--q " + options.q);
  call.k = to_storage(core::load_tensor(options.k), types.kv, "--k " + options.k);
  call.v = to_storage(core::load_tensor(options.v), types.kv, "--v " + options.v);
  if (!options.mask.empty()) {
    HostTensor mask = core::load_tensor(options.mask);
    call.mask = mask.dtype() == core::DType::kF64 ? mask.to(core::DType::kF32) : std::move(mask);
  }
  if (!options.kv_lens.empty()) {
    call.kv_lens = load_integers(options.kv_lens, "--kv-lens");
  }
  call.options = make_attention_options(options);
  call.options.layout = options.layout;
  if (options.layout == nn::Layout::kPacked) {
    call.options.heads = static_cast<int64_t>(options.heads);
    call.options.kv_heads =
        static_cast<int64_t>(options.kv_heads == 0 ? options.heads : options.kv_heads);
  }
  nn::AttentionShapes shapes{call.q.shape(), call.k.shape(), call.v.shape(), {}, {}, {}, {}};
  if (call.mask.has_value()) {
    shapes.mask = call.mask->shape();
    shapes.mask_dtype = call.mask->dtype();
  }
  shapes.cu_seqlens_q = call.cu_seqlens_q = load_bounds(options.cu_seqlens_q, "--cu-seqlens-q");
  shapes.cu_seqlens_k = call.cu_seqlens_k = load_bounds(options.cu_seqlens_k, "--cu-seqlens-k");
  if (!options.sinks.empty()) {
    shapes.sinks = call.sinks = load_head_terms(options.sinks, "--sinks", false);
  }
  if (!options.alibi.empty()) {
    shapes.alibi_slopes = call.alibi_slopes = load_head_terms(options.alibi, "--alibi", true);
  }
  call.problem = make_problem(options, call, shapes);
  if (options.has_alibi && options.alibi.empty()) {
    shapes.alibi_slopes = call.alibi_slopes = nn::default_alibi_slopes(call.problem.heads);
    call.problem = make_problem(options, call, shapes);
  }
  if (options.rotates()) {
    call.rotation = make_rotation(options, call);
  }
  return call;
}

nn::AttentionInputs upload(const QkvCall& call, const core::Queue& queue, bool exact) {
  HostTensor q = call.q;
  HostTensor k = call.k;
  if (call.rotation.has_value() && exact) {
    const nn::RopeAngles angles = nn::rope_angles(call.rotation->table);
    q = nn::rope_reference(q, angles.cos, angles.sin, call.rotation->q);
    k = nn::rope_reference(k, angles.cos, angles.sin, call.rotation->k);
  }
  nn::AttentionInputs inputs{core::Tensor::from_host(queue, q),
                             core::Tensor::from_host(queue, k),
                             core::Tensor::from_host(queue, call.v),
                             {},
                             {},
                             {},
                             call.kv_lens,
                             call.alibi_slopes,
                             call.sinks,
                             call.cu_seqlens_q,
                             call.cu_seqlens_k};
  if (call.mask.has_value()) {
    inputs.mask = core::Tensor::from_host(queue, *call.mask);
  }
  if (call.rotation.has_value() && !exact) {
    const nn::RopeTable table(queue, call.rotation->table);
    inputs.q = nn::apply_rope(inputs.q, table, call.rotation->q);
    inputs.k = nn::apply_rope(inputs.k, table, call.rotation->k);
  }
  return inputs;
}

}  // namespace netcl::attn
