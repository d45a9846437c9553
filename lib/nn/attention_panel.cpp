// SPDX-License-Identifier: Apache-2.0
#include "nn/attention_panel.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace netcl::nn {

namespace {

// Fewer query rows than this leave most of a register tile empty.
constexpr int64_t kLeastRows = 4;

// Row blocks per compute unit below which smaller blocks share the work better.
constexpr int64_t kBlocksPerUnit = 16;

int64_t tiles_of(int64_t size, int64_t tile) {
  return size / tile + (size % tile != 0 ? 1 : 0);
}

// Registers that a row of the tile takes: with 32 of them (AVX-512, and NEON's of 4 floats) 6 x 4
// accumulators fit beside the operands, with 16 (AVX2) 6 x 2.
PanelParameters register_tile(uint32_t float_vector_width) {
  PanelParameters panels;
  panels.vec = float_vector_width >= 16 ? 16 : float_vector_width >= 8 ? 8 : 4;
  panels.vectors = panels.vec == 8 ? 2 : 4;
  return panels;
}

// Multiply-adds of one accumulator that must be under way at once to hide their latency.
constexpr int64_t kLeastAccumulators = 8;

// Cycles and loads of the products of panels.rows weights with one key's value row, where one
// multiply-add and one load start a cycle.
std::pair<int64_t, int64_t> value_cost(const PanelParameters& panels, const ValueTile& tile,
                                       int64_t v_head_dim) {
  const int64_t tiles = tiles_of(v_head_dim, panels.vec * tile.vectors) * (panels.rows / tile.rows);
  const int64_t loads = tile.rows + tile.vectors;
  return {tiles * std::max({tile.rows * tile.vectors, loads, kLeastAccumulators}), tiles * loads};
}

// Columns of the output, padding included.
int64_t padded_columns(const PanelParameters& panels, int64_t v_head_dim) {
  const int64_t columns = panels.vec * value_tile(panels, v_head_dim).vectors;
  return tiles_of(v_head_dim, columns) * columns;
}

}  // namespace

std::string PanelParameters::text() const {
  return "tile_q " + std::to_string(tile_q) + ", tile_k " + std::to_string(tile_k) + ", rows " +
         std::to_string(rows) + ", vec " + std::to_string(vec) + ", vectors " +
         std::to_string(vectors);
}

void check_panels(const PanelParameters& panels) {
  const bool positive = panels.tile_q >= 1 && panels.tile_k >= 1 && panels.rows >= 1 &&
                        panels.vec >= 1 && panels.vectors >= 1;
  const bool known = panels.vec == 4 || panels.vec == 8 || panels.vec == 16;
  if (!positive || !known || panels.tile_q % panels.rows != 0 ||
      panels.tile_k % panels.panel() != 0) {
    throw base::UsageError("attention_panel: parameters " + panels.text() +
                           "; all must be at least 1, vec 4, 8 or 16, tile_q a multiple of rows "
                           "and tile_k of vec * vectors");
  }
}

core::KernelMacros panel_macros(const PanelParameters& panels, int64_t head_dim,
                                int64_t v_head_dim) {
  const ValueTile values = value_tile(panels, v_head_dim);
  return {{"TILE_Q", std::to_string(panels.tile_q)},
          {"TILE_K", std::to_string(panels.tile_k)},
          {"ROWS", std::to_string(panels.rows)},
          {"VEC", std::to_string(panels.vec)},
          {"VECTORS", std::to_string(panels.vectors)},
          {"HEAD_DIM", std::to_string(head_dim)},
          {"V_HEAD_DIM", std::to_string(v_head_dim)},
          {"VALUE_ROWS", std::to_string(values.rows)},
          {"VALUE_VECTORS", std::to_string(values.vectors)}};
}

ValueTile value_tile(const PanelParameters& panels, int64_t v_head_dim) {
  // The registers of a row of operands and of all accumulators.
  const int64_t registers = (panels.rows + 1) * panels.vectors;
  ValueTile best{panels.rows, 1};
  for (int64_t rows = panels.rows; rows >= 1; --rows) {
    if (panels.rows % rows != 0) {
      continue;
    }
    for (int64_t vectors = registers / (rows + 1); vectors >= 1; --vectors) {
      const ValueTile tile{rows, vectors};
      if (value_cost(panels, tile, v_head_dim) < value_cost(panels, best, v_head_dim)) {
        best = tile;
      }
    }
  }
  return best;
}

uint64_t panel_local_bytes(const PanelParameters& panels, int64_t head_dim, int64_t v_head_dim) {
  const int64_t dv = padded_columns(panels, v_head_dim);
  return 4 * static_cast<uint64_t>(panels.tile_q) *
             static_cast<uint64_t>(head_dim + panels.tile_k + 2 * panels.vec + dv + 4) +
         20 * static_cast<uint64_t>(panels.tile_q / panels.rows);
}

PanelScratch panel_scratch(const PanelParameters& panels, const AttentionProblem& problem) {
  const int64_t count = tiles_of(problem.kv_len, panels.panel());
  const int64_t dv = padded_columns(panels, problem.v_head_dim);
  const int64_t b = problem.batch;
  const int64_t g = problem.kv_heads;
  return {{b, g, count, problem.head_dim, panels.panel()},
          {b, g, count * panels.panel(), dv},
          {b, g, count}};
}

std::optional<PanelParameters> choose_panels(const core::DeviceInfo& device,
                                             const AttentionProblem& problem) {
  PanelParameters panels = register_tile(device.float_vector_width);
  // Head sizes past any local memory would overflow the formula.
  const int64_t most = static_cast<int64_t>(device.local_mem_bytes / 4);
  if (problem.head_dim > most || problem.v_head_dim > most) {
    return std::nullopt;
  }
  // Large blocks read keys and values less often.
  panels.tile_q = panels.rows * 16;
  const int64_t units = std::max<int64_t>(device.compute_units, 1);
  const auto blocks = [&] {
    return static_cast<int64_t>(problem.sequences.size()) * problem.heads *
           tiles_of(problem.most_rows(), panels.tile_q);
  };
  while (panels.tile_q > panels.rows * 8 && blocks() < kBlocksPerUnit * units) {
    panels.tile_q /= 2;
  }
  while (panels.tile_q > panels.rows && panels.tile_q / 2 >= problem.most_rows()) {
    panels.tile_q /= 2;
  }
  const auto bytes = [&] {
    return panel_local_bytes(panels, problem.head_dim, problem.v_head_dim);
  };
  while (bytes() > device.local_mem_bytes && panels.tile_q > panels.rows) {
    panels.tile_q = std::max(panels.rows, panels.tile_q / 2 / panels.rows * panels.rows);
  }
  while (bytes() > device.local_mem_bytes && panels.tile_k > panels.panel()) {
    panels.tile_k = std::max(panels.panel(), panels.tile_k / 2);
  }
  if (bytes() > device.local_mem_bytes) {
    return std::nullopt;
  }
  return panels;
}

bool prefers_panels(const core::DeviceInfo& device, const PanelParameters& panels,
                    const AttentionProblem& problem) {
  if (device.kind != core::DeviceKind::kCpu || problem.most_rows() < kLeastRows) {
    return false;
  }
  const PanelScratch scratch = panel_scratch(panels, problem);
  for (const core::Shape* shape : {&scratch.keys, &scratch.values}) {
    if (static_cast<uint64_t>(shape->count()) > device.max_alloc_bytes / 4) {
      return false;
    }
  }
  return true;
}

}  // namespace netcl::nn
