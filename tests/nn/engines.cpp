// SPDX-License-Identifier: Apache-2.0
#include "nn/engines.h"

#ifdef NETCL_TEST_ON_DEVICE
#include "support/device.h"
#endif

namespace netcl::tests {

namespace {

constexpr double kFloatTolerance = 1e-6;

#ifdef NETCL_TEST_ON_DEVICE
Engine kernel_engine(const core::Queue& queue, const std::string& kernel) {
  return {kernel, false, kFloatTolerance,
          [queue, kernel](const HostInputs& inputs, nn::AttentionOptions options) {
            options.kernel = kernel;
            return run_attention(queue, inputs, options);
          }};
}
#else
HostOutputs reference_outputs(const HostInputs& inputs, const nn::AttentionOptions& options) {
  const nn::ReferenceOutputs reference = run_reference(inputs, options);
  HostOutputs outputs;
  outputs.y = reference.y;
  outputs.lse = reference.lse;
  outputs.scores = reference.scores;
  outputs.present_k = reference.present_k;
  outputs.present_v = reference.present_v;
  return outputs;
}
#endif

}  // namespace

std::optional<core::Queue> queue_under_test() {
#ifdef NETCL_TEST_ON_DEVICE
  return require_device_queue();
#else
  static const core::Queue queue = core::DeviceManager::open("host").queue;
  return queue;
#endif
}

std::vector<Engine> engines_under_test() {
  const std::optional<core::Queue> queue = queue_under_test();
  if (!queue.has_value()) {
    return {};
  }
#ifdef NETCL_TEST_ON_DEVICE
  return {kernel_engine(*queue, "naive"), kernel_engine(*queue, "tiled"),
          kernel_engine(*queue, "panel")};
#else
  return {{"reference", true, 1e-12, reference_outputs},
          {"host", false, kFloatTolerance,
           [queue](const HostInputs& inputs, const nn::AttentionOptions& options) {
             return run_attention(*queue, inputs, options);
           }}};
#endif
}

}  // namespace netcl::tests
