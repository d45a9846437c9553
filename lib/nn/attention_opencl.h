// SPDX-License-Identifier: Apache-2.0
// The OpenCL engine of attention(): chooses a kernel and its tiles, allocates, launches.
//
//   auto    panel on CPU devices with enough query rows, else tiled when its smallest tiles fit the
//           device's local memory, else naive
//   panel   kernels/attention_panel.cl: online softmax in register tiles, one work-item a group
//   tiled   kernels/attention_tiled.cl: online softmax over tiles of keys
//   naive   kernels/attention_naive.cl: the formula, one work-item per query row; the oracle
//
// Score outputs come from kernels/attention_scores.cl; a past is joined to the new keys on the
// device by kernels/kv_concat.cl. All launches go to the queue's in-order command queue, so the
// call returns before the work ends and device times are in Queue::take_kernel_times().
#ifndef NETCL_NN_ATTENTION_OPENCL_H_
#define NETCL_NN_ATTENTION_OPENCL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/device.h"
#include "nn/attention.h"
#include "nn/attention_panel.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

// Macros of attention_tiled: sizes in rows, keys and elements. wg_size, tile_q, tile_k, rows and
// vec are powers of two; rows <= tile_q, vec <= tile_k, vec is 1, 4, 8 or 16.
struct TileParameters {
  int64_t wg_size = 64;  // work-items of a group
  int64_t tile_q = 32;   // query rows of a group
  int64_t tile_k = 32;   // keys of a tile
  int64_t rows = 4;      // rows of a work-item's patch
  int64_t vec = 4;       // columns of a work-item's patch

  // "wg_size 64, tile_q 32, tile_k 32, rows 4, vec 4"
  std::string text() const;
  friend bool operator==(const TileParameters&, const TileParameters&) = default;
};

// Local memory of one work-group of attention_tiled, the formula of its header comment.
uint64_t tiled_local_bytes(const TileParameters& tiles, int64_t head_dim, int64_t v_head_dim);

// Tiles for a device and a call: one work-item with wide vectors on a CPU device, 64 work-items
// with vectors of 4 elsewhere, then made smaller until work-group size and local memory suffice. No
// value when tiles of one row and one key are too large for the local memory.
std::optional<TileParameters> choose_tiles(const core::DeviceInfo& device, int64_t head_dim,
                                           int64_t v_head_dim, int64_t q_len);

// Parameters that replace choose_tiles() and choose_panels().
struct KernelParameters {
  std::optional<TileParameters> tiles;
  std::optional<PanelParameters> panels;
};

// attention() for an OpenCL queue; `problem` is made from `inputs` and `options`.
// Throws UsageError for an unknown kernel name or parameters that break their rules; DeviceError,
// with wanted and allowed bytes or sizes, when an output or a tile does not fit the device. All of
// that is checked, and all outputs are allocated, before the first launch.
// Memory beyond the outputs: 48 bytes per batch item or packed sequence, 8 per head of it, and with
// kernel panel its panel_scratch(); none of size Tq x Tk.
AttentionOutputs attention_opencl(const AttentionInputs& inputs, const AttentionOptions& options,
                                  const AttentionProblem& problem,
                                  const KernelParameters& parameters = {});

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_OPENCL_H_
