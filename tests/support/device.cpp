// SPDX-License-Identifier: Apache-2.0
#include "support/device.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/skip.h"

// What a CPU driver's compiler keeps until the process ends is not a leak of the tests.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\n";
}

namespace netcl::tests {

std::optional<core::Queue> require_device_queue(const core::QueueOptions& options) {
  const char* spec = std::getenv("NETCL_TEST_DEVICE");
  const core::Device device = core::DeviceManager::open(spec != nullptr ? spec : "auto", options);
  if (!device.queue.is_host()) {
    return device.queue;
  }
  const char* required = std::getenv("NETCL_REQUIRE_DEVICE");
  if (required != nullptr && std::string(required) == "1") {
    throw std::runtime_error("no OpenCL device, and NETCL_REQUIRE_DEVICE=1 demands one");
  }
  skip("no OpenCL device; install pocl-opencl-icd");
  return std::nullopt;
}

std::optional<core::Queue> require_device_queue() {
  // Never destroyed: an OpenCL driver may be gone before static objects are.
  static core::Queue* shared = nullptr;
  if (shared == nullptr) {
    if (const std::optional<core::Queue> queue = require_device_queue(core::QueueOptions{})) {
      shared = new core::Queue(*queue);
    }
  }
  return shared == nullptr ? std::nullopt : std::optional(*shared);
}

}  // namespace netcl::tests
