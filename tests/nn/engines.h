// SPDX-License-Identifier: Apache-2.0
// The engines that a test program judges: in test_nn the reference and the host engine, in
// test_nn_device (built with NETCL_TEST_ON_DEVICE) the kernels on the OpenCL device. The same test
// sources serve both.
#ifndef NETCL_TESTS_NN_ENGINES_H_
#define NETCL_TESTS_NN_ENGINES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "support/attention_cases.h"

namespace netcl::tests {

struct Engine {
  std::string name;
  bool is_reference = false;  // y, lse and scores are f64
  double tolerance = 0;       // relative error that rounding may cause in a handful of operations
  std::function<HostOutputs(const HostInputs&, const nn::AttentionOptions&)> run;
};

// Empty, after skip(), when there is no device to test.
std::vector<Engine> engines_under_test();

// The queue of the engines; nothing, after skip(), when there is no device to test.
std::optional<core::Queue> queue_under_test();

}  // namespace netcl::tests

#endif  // NETCL_TESTS_NN_ENGINES_H_
