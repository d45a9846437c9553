// SPDX-License-Identifier: Apache-2.0
// The attention kernels under test: the naive one, and the tiled one with several sets of tiles, so
// that one device runs the shapes meant for CPUs, for GPUs and for small work-groups.
#ifndef NETCL_TESTS_NN_KERNEL_ENGINES_H_
#define NETCL_TESTS_NN_KERNEL_ENGINES_H_

#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "nn/attention_opencl.h"
#include "support/attention_cases.h"

namespace netcl::tests {

struct KernelEngine {
  std::string kernel;                              // of AttentionOptions
  std::optional<nn::TileParameters> tiles = {};    // none: chosen for the device
  std::optional<nn::PanelParameters> panels = {};  // the same

  std::string text() const;
};

// One wide-vector work-item a group; 64 work-items; a few work-items with tiles of 8.
extern const KernelEngine kNaive, kChosenTiles, kWideTiles, kGroupTiles, kSmallTiles;
// Parameters chosen for the device; wide registers and small blocks; the narrowest registers.
extern const KernelEngine kChosenPanels, kWidePanels, kSmallPanels;

HostOutputs run_kernel(const core::Queue& queue, const KernelEngine& engine,
                       const HostInputs& inputs, nn::AttentionOptions options);

// What is wrong with `engines` on this call, judged by the reference with twice the plain float
// computation's error; empty when nothing is.
std::string fault_of(const core::Queue& queue, const std::vector<KernelEngine>& engines,
                     const AttentionCase& attention_case);

}  // namespace netcl::tests

#endif  // NETCL_TESTS_NN_KERNEL_ENGINES_H_
