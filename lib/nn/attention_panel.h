// SPDX-License-Identifier: Apache-2.0
// Parameters of kernels/attention_panel.cl, the attention kernel of CPU devices: which sets are
// legal, what they cost, and which one suits a device and a call.
#ifndef NETCL_NN_ATTENTION_PANEL_H_
#define NETCL_NN_ATTENTION_PANEL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/device.h"
#include "core/kernel.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

// Sizes in rows, keys, floats and registers. A register tile has rows x vectors accumulators of vec
// floats; a panel holds vec * vectors keys. Legal: all >= 1, vec 4, 8 or 16, tile_q a multiple of
// rows, tile_k a multiple of the panel.
struct PanelParameters {
  int64_t tile_q = 48;   // query rows of a work-item
  int64_t tile_k = 512;  // keys of a block
  int64_t rows = 6;      // rows of a register tile
  int64_t vec = 16;      // floats of a register
  int64_t vectors = 4;   // registers of a row of the tile

  int64_t panel() const { return vec * vectors; }
  // "tile_q 48, tile_k 512, rows 6, vec 16, vectors 4"
  std::string text() const;
  friend bool operator==(const PanelParameters&, const PanelParameters&) = default;
};

// Throws UsageError that names the rule when the parameters are not legal.
void check_panels(const PanelParameters& panels);

// The macros of both kernels but the storage types.
core::KernelMacros panel_macros(const PanelParameters& panels, int64_t head_dim,
                                int64_t v_head_dim);

// The register tile of the output: rows x vectors accumulators, with no more registers than the
// score tile. rows divides panels.rows; the columns of the output are rounded up to whole tiles.
struct ValueTile {
  int64_t rows = 6;
  int64_t vectors = 4;
  friend bool operator==(const ValueTile&, const ValueTile&) = default;
};

// The tile that multiplies v_head_dim columns in the fewest cycles, padding counted; of equal ones
// that with the fewest loads.
ValueTile value_tile(const PanelParameters& panels, int64_t v_head_dim);

// Local memory of one work-item, the formula of the kernel's header comment.
uint64_t panel_local_bytes(const PanelParameters& panels, int64_t head_dim, int64_t v_head_dim);

// Elements of the packed keys, values and flags of a call.
struct PanelScratch {
  core::Shape keys;     // [B, G, P, D, panel] f32
  core::Shape values;   // [B, G, P * panel, Dv rounded up to whole value tiles] f32
  core::Shape special;  // [B, G, P] i32
};
PanelScratch panel_scratch(const PanelParameters& panels, const AttentionProblem& problem);

// Parameters for a device and a call: vectors as wide as the device's registers, row blocks that
// leave every compute unit several of them, smaller where local memory asks for it. No value when
// the smallest block is too large for the local memory.
std::optional<PanelParameters> choose_panels(const core::DeviceInfo& device,
                                             const AttentionProblem& problem);

// Whether `auto` takes this kernel with these parameters: on a CPU device, with enough query rows
// to fill register tiles, and when the packed keys and values fit one buffer each.
bool prefers_panels(const core::DeviceInfo& device, const PanelParameters& panels,
                    const AttentionProblem& problem);

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_PANEL_H_
