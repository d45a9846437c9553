// SPDX-License-Identifier: Apache-2.0
#include "nn/kernel_engines.h"

namespace netcl::tests {

const KernelEngine kNaive{"naive"};
const KernelEngine kChosenTiles{"tiled"};
const KernelEngine kWideTiles{"tiled", nn::TileParameters{1, 64, 64, 8, 16}};
const KernelEngine kGroupTiles{"tiled", nn::TileParameters{64, 32, 32, 4, 4}};
const KernelEngine kSmallTiles{"tiled", nn::TileParameters{4, 8, 8, 2, 1}};

const KernelEngine kChosenPanels{"panel"};
const KernelEngine kWidePanels{"panel", {}, nn::PanelParameters{12, 64, 6, 16, 4}};
const KernelEngine kSmallPanels{"panel", {}, nn::PanelParameters{8, 16, 4, 4, 2}};

std::string KernelEngine::text() const {
  return kernel + (tiles.has_value() ? ", " + tiles->text() : std::string()) +
         (panels.has_value() ? ", " + panels->text() : std::string());
}

HostOutputs run_kernel(const core::Queue& queue, const KernelEngine& engine,
                       const HostInputs& inputs, nn::AttentionOptions options) {
  options.kernel = engine.kernel;
  const nn::AttentionInputs up = upload(queue, inputs);
  return download(nn::attention_opencl(up, options, nn::make_attention_problem(up, options),
                                       {engine.tiles, engine.panels}));
}

std::string fault_of(const core::Queue& queue, const std::vector<KernelEngine>& engines,
                     const AttentionCase& attention_case) {
  const HostInputs inputs = make_inputs(attention_case);
  const nn::ReferenceOutputs want = run_reference(inputs, attention_case.options);
  const HostOutputs plain = plain_float_attention(inputs, attention_case.options);
  for (const KernelEngine& engine : engines) {
    const std::string fault =
        judge(run_kernel(queue, engine, inputs, attention_case.options), want, plain);
    if (!fault.empty()) {
      return engine.text() + ": " + fault + " in " + attention_case.text();
    }
  }
  return "";
}

}  // namespace netcl::tests
