// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_opencl.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/kernel.h"
#include "kernels/attn_shape.h"

namespace netcl::nn {

namespace {

using core::DType;
using core::Kernel;
using core::Tensor;

// Largest work-groups of the kernels that give every work-item a row or an element of its own.
constexpr size_t kRowItems = 16;
constexpr size_t kElementItems = 64;

constexpr TileParameters kCpuTiles{1, 64, 64, 8, 16};
constexpr TileParameters kGpuTiles{64, 32, 32, 4, 4};

size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

// Largest power of two that is at most `wanted` and that the device allows along axis 0.
size_t allowed_items(const core::DeviceInfo& device, size_t wanted) {
  size_t limit = device.max_work_group_size;
  if (!device.max_work_item_sizes.empty()) {
    limit = std::min(limit, device.max_work_item_sizes[0]);
  }
  size_t items = 1;
  while (items * 2 <= std::min(wanted, limit)) {
    items *= 2;
  }
  return items;
}

int32_t storage_code(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return STORAGE_F32;
    case DType::kF16:
      return STORAGE_F16;
    case DType::kBF16:
      return STORAGE_BF16;
    default:
      NETCL_CHECK(dtype == DType::kBool);
      return STORAGE_BOOL;
  }
}

int32_t stage_code(ScoreStage stage) {
  switch (stage) {
    case ScoreStage::kRaw:
      return STAGE_RAW;
    case ScoreStage::kSoftcap:
      return STAGE_SOFTCAP;
    case ScoreStage::kMasked:
      return STAGE_MASKED;
    default:
      return STAGE_WEIGHTS;
  }
}

// The keys and values that the kernels read: the caller's, or present.
struct KeysAndValues {
  Tensor k, v;
  HeadStrides k_strides, v_strides;
};

AttnShape make_shape(const AttentionInputs& inputs, const AttentionProblem& problem,
                     const KeysAndValues& kv) {
  AttnShape shape{};
  shape.batch = problem.batch;
  shape.heads = problem.heads;
  shape.kv_heads = problem.kv_heads;
  shape.q_len = problem.q_len;
  shape.kv_len = problem.kv_len;
  shape.head_dim = problem.head_dim;
  shape.v_head_dim = problem.v_head_dim;
  shape.q_batch = problem.q.batch;
  shape.q_head = problem.q.head;
  shape.q_row = problem.q.row;
  shape.k_batch = kv.k_strides.batch;
  shape.k_head = kv.k_strides.head;
  shape.k_row = kv.k_strides.row;
  shape.v_batch = kv.v_strides.batch;
  shape.v_head = kv.v_strides.head;
  shape.v_row = kv.v_strides.row;
  shape.y_batch = problem.y.batch;
  shape.y_head = problem.y.head;
  shape.y_row = problem.y.row;
  shape.mask_batch = problem.mask.batch;
  shape.mask_head = problem.mask.head;
  shape.mask_row = problem.mask.row;
  shape.mask_column = problem.mask.column;
  shape.mask_columns = problem.mask_columns;
  shape.window_left = problem.window_left;
  shape.window_right = problem.window_right;
  shape.scale = static_cast<float>(problem.scale);
  shape.softcap = static_cast<float>(problem.softcap);
  shape.causal = problem.causal ? 1 : 0;
  shape.mask_type = problem.has_mask ? storage_code(inputs.mask->dtype()) : STORAGE_NONE;
  shape.stage = stage_code(problem.scores);
  shape.is_packed = problem.is_packed ? 1 : 0;
  return shape;
}

int64_t sequence_count(const AttentionProblem& problem) {
  return static_cast<int64_t>(problem.sequences.size());
}

// An AttnSequence for each sequence, as i64 [S, 6].
Tensor make_sequences(const core::Queue& queue, const AttentionProblem& problem) {
  std::vector<int64_t> fields;
  for (const Sequence& s : problem.sequences) {
    const AttnSequence one{s.batch, s.q_begin, s.q_end, s.k_begin, s.k_end, s.offset};
    for (const int64_t field :
         {one.batch, one.first_row, one.end_row, one.first_key, one.end_key, one.offset}) {
      fields.push_back(field);
    }
  }
  return Tensor::from_host(queue,
                           core::HostTensor::from_int64s({sequence_count(problem), 6}, fields));
}

// An AttnHeadTerms for each head of each sequence, as f32 [S, H, 2].
Tensor make_head_terms(const core::Queue& queue, const AttentionProblem& problem) {
  std::vector<float> fields;
  for (int64_t s = 0; s < sequence_count(problem); ++s) {
    for (int64_t h = 0; h < problem.heads; ++h) {
      fields.push_back(problem.slope(s, h));
      fields.push_back(problem.sink(h));
    }
  }
  return Tensor::from_host(
      queue, core::HostTensor::from_floats({sequence_count(problem), problem.heads, 2}, fields));
}

void optional_arg(Kernel& kernel, const std::optional<Tensor>& tensor) {
  if (tensor.has_value()) {
    kernel.arg(*tensor);
  } else {
    kernel.null_arg();
  }
}

void run_concat(const Tensor& past, const Tensor& fresh, const HeadStrides& fresh_strides,
                const Tensor& present) {
  const core::Shape& shape = present.shape();  // [B, G, Tk, D]
  const HeadStrides past_strides = contiguous_strides(shape[1], past.shape()[2], shape[3]);
  KvConcatShape sizes{};
  sizes.kv_heads = shape[1];
  sizes.past_len = past.shape()[2];
  sizes.kv_len = shape[2];
  sizes.dim = shape[3];
  sizes.past_batch = past_strides.batch;
  sizes.past_head = past_strides.head;
  sizes.past_row = past_strides.row;
  sizes.fresh_batch = fresh_strides.batch;
  sizes.fresh_head = fresh_strides.head;
  sizes.fresh_row = fresh_strides.row;
  sizes.count = shape.count();
  const core::Queue& queue = present.queue();
  Kernel kernel =
      Kernel::get(queue, "kv_concat", "kv_concat",
                  {{"ELEMENT_BYTES", std::to_string(core::dtype_size(present.dtype()))}});
  const size_t items = allowed_items(queue.device(), kElementItems);
  kernel.arg(present).arg(past).arg(fresh).arg(sizes);
  kernel.run({round_up(static_cast<size_t>(sizes.count), items)}, {items});
}

// One work-item per query row.
void run_rows(Kernel& kernel, const core::DeviceInfo& device, const AttentionProblem& problem) {
  const size_t items = allowed_items(device, std::min(kRowItems, kernel.max_work_group_size()));
  kernel.run({round_up(static_cast<size_t>(problem.most_rows()), items),
              static_cast<size_t>(problem.heads), problem.sequences.size()},
             {items, 1, 1});
}

void check_tiles(const TileParameters& tiles) {
  const bool powers = is_power_of_two(tiles.wg_size) && is_power_of_two(tiles.tile_q) &&
                      is_power_of_two(tiles.tile_k) && is_power_of_two(tiles.rows) &&
                      is_power_of_two(tiles.vec);
  if (!powers || tiles.rows > tiles.tile_q || tiles.vec > tiles.tile_k || tiles.vec == 2 ||
      tiles.vec > 16) {
    throw base::UsageError("attention_tiled: tiles of " + tiles.text() +
                           "; all must be powers of two with rows <= tile_q, vec <= tile_k and "
                           "vec 1, 4, 8 or 16");
  }
}

std::string local_memory_text(const std::string& kernel, const AttentionProblem& problem,
                              const std::string& parameters, uint64_t bytes,
                              const core::DeviceInfo& device) {
  return kernel + ": head sizes " + std::to_string(problem.head_dim) + " and " +
         std::to_string(problem.v_head_dim) + " with " + parameters + " need " +
         std::to_string(bytes) + " bytes of local memory; " + device.name + " has " +
         std::to_string(device.local_mem_bytes) + "; use kernel naive";
}

void check_device(const core::DeviceInfo& device, const TileParameters& tiles,
                  const AttentionProblem& problem) {
  const uint64_t bytes = tiled_local_bytes(tiles, problem.head_dim, problem.v_head_dim);
  if (bytes > device.local_mem_bytes) {
    throw base::DeviceError(
        local_memory_text("attention_tiled", problem, tiles.text(), bytes, device));
  }
  const size_t items = static_cast<size_t>(tiles.wg_size);
  if (allowed_items(device, items) < items) {
    throw base::DeviceError("attention_tiled: work-group of " + std::to_string(items) +
                            " work-items; " + device.name + " allows " +
                            std::to_string(allowed_items(device, items)));
  }
}

// Q_TYPE, K_TYPE and V_TYPE.
core::KernelMacros type_macros(const AttentionInputs& inputs) {
  return {{"Q_TYPE", std::to_string(storage_code(inputs.q.dtype()))},
          {"K_TYPE", std::to_string(storage_code(inputs.k.dtype()))},
          {"V_TYPE", std::to_string(storage_code(inputs.v.dtype()))}};
}

Kernel get_tiled(const core::Queue& queue, const AttentionProblem& problem,
                 core::KernelMacros macros, const TileParameters& tiles) {
  macros["WG_SIZE"] = std::to_string(tiles.wg_size);
  macros["TILE_Q"] = std::to_string(tiles.tile_q);
  macros["TILE_K"] = std::to_string(tiles.tile_k);
  macros["ROWS"] = std::to_string(tiles.rows);
  macros["VEC"] = std::to_string(tiles.vec);
  macros["HEAD_DIM"] = std::to_string(problem.head_dim);
  macros["V_HEAD_DIM"] = std::to_string(problem.v_head_dim);
  return Kernel::get(queue, "attention_tiled", "attention_tiled", macros);
}

Kernel get_scores(const AttentionInputs& inputs) {
  core::KernelMacros macros = type_macros(inputs);
  macros.erase("V_TYPE");
  return Kernel::get(inputs.q.queue(), "attention_scores", "attention_scores", macros);
}

// One call: the tensors that every kernel takes, on the way to the launch.
struct Launch {
  const AttentionInputs& inputs;
  const AttentionProblem& problem;
  const AttentionOutputs& out;
  const KeysAndValues& kv;
  const Tensor& sequences;
  const Tensor& terms;
  const AttnShape& shape;
};

// Sets the arguments of attention_naive and attention_tiled.
void set_arguments(Kernel& kernel, const Launch& launch) {
  kernel.arg(launch.out.y);
  optional_arg(kernel, launch.out.lse);
  kernel.arg(launch.inputs.q).arg(launch.kv.k).arg(launch.kv.v);
  optional_arg(kernel, launch.inputs.mask);
  kernel.arg(launch.sequences).arg(launch.terms).arg(launch.shape);
}

// One group of `items` work-items per `tile_q` query rows of a head.
void run_blocks(Kernel& kernel, const AttentionProblem& problem, int64_t tile_q, int64_t items) {
  const size_t rows = static_cast<size_t>(tile_q);
  const size_t groups = round_up(static_cast<size_t>(problem.most_rows()), rows) / rows;
  const size_t size = static_cast<size_t>(items);
  kernel.run({groups * size, static_cast<size_t>(problem.heads), problem.sequences.size()},
             {size, 1, 1});
}

// What to run: the naive kernel, or one of the others with its parameters.
struct Choice {
  Kernel kernel;
  std::optional<TileParameters> tiles;
  std::optional<PanelParameters> panels;
  std::optional<Kernel> pack;  // with panels
};

void run_choice(Choice& choice, const Launch& launch) {
  const core::Queue& queue = launch.inputs.q.queue();
  const AttentionProblem& problem = launch.problem;
  if (choice.panels.has_value()) {
    const PanelScratch scratch = panel_scratch(*choice.panels, problem);
    const Tensor keys = Tensor::empty(queue, DType::kF32, scratch.keys);
    const Tensor values = Tensor::empty(queue, DType::kF32, scratch.values);
    const Tensor special = Tensor::empty(queue, DType::kI32, scratch.special);
    choice.pack->arg(keys).arg(values).arg(special).arg(launch.kv.k).arg(launch.kv.v);
    choice.pack->arg(launch.sequences).arg(launch.shape);
    choice.pack->run({static_cast<size_t>(scratch.special[2]),
                      static_cast<size_t>(problem.kv_heads), static_cast<size_t>(problem.batch)},
                     {1, 1, 1});
    choice.kernel.arg(launch.out.y);
    optional_arg(choice.kernel, launch.out.lse);
    choice.kernel.arg(launch.inputs.q).arg(keys).arg(values).arg(special);
    optional_arg(choice.kernel, launch.inputs.mask);
    choice.kernel.arg(launch.sequences).arg(launch.terms).arg(launch.shape);
    run_blocks(choice.kernel, problem, choice.panels->tile_q, 1);
    return;
  }
  set_arguments(choice.kernel, launch);
  if (choice.tiles.has_value()) {
    run_blocks(choice.kernel, problem, choice.tiles->tile_q, choice.tiles->wg_size);
  } else {
    run_rows(choice.kernel, queue.device(), problem);
  }
}

// The panel kernel where it was asked for, or `auto` prefers it.
std::optional<Choice> choose_panel_kernel(const AttentionInputs& inputs, const std::string& name,
                                          const AttentionProblem& problem,
                                          std::optional<PanelParameters> panels) {
  const core::Queue& queue = inputs.q.queue();
  const core::DeviceInfo& device = queue.device();
  if (name != "auto" && name != "panel") {
    return std::nullopt;
  }
  if (panels.has_value()) {
    check_panels(*panels);
  } else {
    panels = choose_panels(device, problem);
  }
  if (name == "auto" && (!panels.has_value() || !prefers_panels(device, *panels, problem))) {
    return std::nullopt;
  }
  const PanelParameters used = panels.value_or(PanelParameters{1, 4, 1, 4, 1});
  const uint64_t bytes = panel_local_bytes(used, problem.head_dim, problem.v_head_dim);
  if (bytes > device.local_mem_bytes) {
    throw base::DeviceError(
        local_memory_text("attention_panel", problem, used.text(), bytes, device));
  }
  core::KernelMacros macros = panel_macros(used, problem.head_dim, problem.v_head_dim);
  macros.merge(type_macros(inputs));
  return Choice{Kernel::get(queue, "attention_panel", "attention_panel", macros),
                {},
                used,
                Kernel::get(queue, "attention_panel", "attention_panel_pack", macros)};
}

Choice choose_kernel(const AttentionInputs& inputs, const std::string& name,
                     const AttentionProblem& problem, const KernelParameters& parameters) {
  const core::Queue& queue = inputs.q.queue();
  const core::DeviceInfo& device = queue.device();
  std::optional<Choice> panel = choose_panel_kernel(inputs, name, problem, parameters.panels);
  if (panel.has_value()) {
    return *std::move(panel);
  }
  std::optional<TileParameters> tiles = parameters.tiles;
  const core::KernelMacros macros = type_macros(inputs);
  const bool is_given = tiles.has_value();
  if (is_given) {
    check_tiles(*tiles);
  } else {
    tiles = choose_tiles(device, problem.head_dim, problem.v_head_dim, problem.most_rows());
  }
  if (name == "naive" || (name == "auto" && !tiles.has_value())) {
    return {Kernel::get(queue, "attention_naive", "attention_naive", macros), {}, {}, {}};
  }
  TileParameters used = tiles.value_or(TileParameters{1, 1, 1, 1, 1});
  check_device(device, used, problem);
  Kernel kernel = get_tiled(queue, problem, macros, used);
  // A kernel may be allowed fewer work-items than its device.
  while (!is_given && kernel.max_work_group_size() < static_cast<size_t>(used.wg_size) &&
         used.wg_size > 1) {
    used.wg_size /= 2;
    kernel = get_tiled(queue, problem, macros, used);
  }
  return {kernel, used, {}, {}};
}

}  // namespace

std::string TileParameters::text() const {
  return "wg_size " + std::to_string(wg_size) + ", tile_q " + std::to_string(tile_q) + ", tile_k " +
         std::to_string(tile_k) + ", rows " + std::to_string(rows) + ", vec " + std::to_string(vec);
}

uint64_t tiled_local_bytes(const TileParameters& tiles, int64_t head_dim, int64_t v_head_dim) {
  const int64_t dv = (v_head_dim + tiles.vec - 1) / tiles.vec * tiles.vec;
  const int64_t row = tiles.tile_k + tiles.vec;
  const int64_t words = tiles.tile_q * (head_dim + 1) +
                        std::max(head_dim * row, tiles.tile_k * dv) + tiles.tile_q * row +
                        tiles.tile_q * dv + 3 * tiles.tile_q + 1;
  return 4 * static_cast<uint64_t>(words);
}

std::optional<TileParameters> choose_tiles(const core::DeviceInfo& device, int64_t head_dim,
                                           int64_t v_head_dim, int64_t q_len) {
  TileParameters tiles = device.kind == core::DeviceKind::kCpu ? kCpuTiles : kGpuTiles;
  tiles.wg_size = static_cast<int64_t>(allowed_items(device, static_cast<size_t>(tiles.wg_size)));
  // Few queries, as in decoding: no rows that compute nothing, and few distinct programs.
  if (q_len <= 1) {
    tiles.tile_q = tiles.rows = 1;
  } else if (q_len <= tiles.rows) {
    tiles.tile_q = tiles.rows;
  }
  // Head sizes past any local memory would overflow the formula.
  const int64_t most = static_cast<int64_t>(device.local_mem_bytes / 4);
  if (head_dim > most || v_head_dim > most) {
    return std::nullopt;
  }
  while (tiled_local_bytes(tiles, head_dim, v_head_dim) > device.local_mem_bytes) {
    if (tiles.tile_q == 1 && tiles.tile_k == 1) {
      return std::nullopt;
    }
    if (tiles.tile_q > tiles.tile_k) {
      tiles.tile_q /= 2;
      tiles.rows = std::min(tiles.rows, tiles.tile_q);
    } else {
      tiles.tile_k /= 2;
      tiles.vec = tiles.tile_k == 2 ? 1 : std::min(tiles.vec, tiles.tile_k);
    }
  }
  return tiles;
}

AttentionOutputs attention_opencl(const AttentionInputs& inputs, const AttentionOptions& options,
                                  const AttentionProblem& problem,
                                  const KernelParameters& parameters) {
  const std::string& name = options.kernel;
  if (name != "auto" && name != "panel" && name != "tiled" && name != "naive") {
    throw base::UsageError("attention: kernel " + base::quote(name) +
                           " is not for OpenCL devices; allowed auto, panel, tiled and naive");
  }
  const core::Queue& queue = inputs.q.queue();
  AttentionOutputs out{Tensor::empty(queue, inputs.q.dtype(), problem.y_shape), {}, {}, {}, {}};
  if (problem.want_lse) {
    out.lse = Tensor::empty(queue, DType::kF32, problem.lse_shape());
  }
  if (problem.scores != ScoreStage::kNone) {
    out.scores = Tensor::empty(queue, DType::kF32, problem.scores_shape());
  }
  KeysAndValues kv{inputs.k, inputs.v, problem.k, problem.v};
  if (problem.has_past) {
    kv = {Tensor::empty(queue, inputs.k.dtype(), problem.present_k_shape()),
          Tensor::empty(queue, inputs.v.dtype(), problem.present_v_shape()),
          contiguous_strides(problem.kv_heads, problem.kv_len, problem.head_dim),
          contiguous_strides(problem.kv_heads, problem.kv_len, problem.v_head_dim)};
    out.present_k = kv.k;
    out.present_v = kv.v;
  }
  const AttnShape shape = make_shape(inputs, problem, kv);
  const Tensor sequences = make_sequences(queue, problem);
  const Tensor terms = make_head_terms(queue, problem);
  Choice choice = choose_kernel(inputs, name, problem, parameters);

  if (problem.has_past) {
    run_concat(*inputs.past_k, inputs.k, problem.k, kv.k);
    run_concat(*inputs.past_v, inputs.v, problem.v, kv.v);
  }
  run_choice(choice, {inputs, problem, out, kv, sequences, terms, shape});
  if (out.scores.has_value()) {
    Kernel scores = get_scores(inputs);
    scores.arg(*out.scores).arg(inputs.q).arg(kv.k);
    optional_arg(scores, inputs.mask);
    scores.arg(sequences).arg(terms).arg(shape);
    run_rows(scores, queue.device(), problem);
  }
  return out;
}

}  // namespace netcl::nn
