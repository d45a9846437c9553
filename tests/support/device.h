// SPDX-License-Identifier: Apache-2.0
// The OpenCL device of device tests (target netcl_test_device).
#ifndef NETCL_TESTS_SUPPORT_DEVICE_H_
#define NETCL_TESTS_SUPPORT_DEVICE_H_

#include <optional>

#include "core/device.h"

namespace netcl::tests {

// A queue on the device that NETCL_TEST_DEVICE names (a spec of DeviceManager::open), else on the
// one that "auto" picks. Without an OpenCL device: nothing, after skip(), so the test case returns;
// with NETCL_REQUIRE_DEVICE=1 it throws instead, which fails the test. The queue is opened once and
// shared by all test cases of the process.
//
//   const auto queue = require_device_queue();
//   if (!queue) {
//     return;
//   }
std::optional<core::Queue> require_device_queue();

// The same with options and a queue of its own.
std::optional<core::Queue> require_device_queue(const core::QueueOptions& options);

}  // namespace netcl::tests

#endif  // NETCL_TESTS_SUPPORT_DEVICE_H_
