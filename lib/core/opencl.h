// SPDX-License-Identifier: Apache-2.0
// The OpenCL side of queues, tensors and kernels. Only lib/core/*.cpp include this header: it is
// the one place that sees CL types, and every CL call goes through cl_checked().
#ifndef NETCL_CORE_OPENCL_H_
#define NETCL_CORE_OPENCL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CL/opencl.hpp>

#include "base/thread_pool.h"
#include "core/device.h"
#include "core/host_tensor.h"
#include "core/kernel.h"
#include "core/program_cache.h"

namespace netcl::core {

// "CL_OUT_OF_RESOURCES (-5)".
std::string cl_error_text(cl_int code);

// "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5): <context>".
[[noreturn]] void throw_device_error(const cl::Error& error, const std::string& context);

// Calls `call` and turns cl::Error into DeviceError; `context` names kernel, sizes or device.
template <typename Call>
auto cl_checked(const std::string& context, Call&& call) {
  try {
    return call();
  } catch (const cl::Error& error) {
    throw_device_error(error, context);
  }
}

// One device found on a platform.
struct ClDevice {
  cl::Platform platform;
  cl::Device device;
  DeviceInfo info;
  bool usable = false;  // available, with a compiler
};

// All devices of all platforms in platform order; empty without loader, platform or device.
std::vector<ClDevice> find_cl_devices();

// What a Queue shares: the host engine's threads, or context, queue and programs of a device.
class QueueState {
 public:
  // The host engine.
  QueueState(DeviceInfo info, QueueOptions options);
  // An OpenCL device. Throws DeviceError.
  QueueState(const ClDevice& device, QueueOptions options);
  QueueState(const QueueState&) = delete;
  QueueState& operator=(const QueueState&) = delete;
  // Waits for the work in flight.
  ~QueueState();

  const DeviceInfo& info() const { return info_; }
  bool is_host() const { return pool_ != nullptr; }
  base::ThreadPool& pool() const;
  const cl::Context& context() const { return context_; }
  const cl::Device& device() const { return device_; }
  const cl::CommandQueue& queue() const { return queue_; }
  const ProgramCacheStats& program_stats() const { return program_stats_; }

  void finish();
  void record_kernel(const std::string& kernel, const cl::Event& event);
  std::vector<KernelTime> take_kernel_times();
  bool profiling() const { return options_.profiling && !is_host(); }

  // The built program of kernels/<file>.cl: from memory, disk or source. Throws DeviceError.
  const cl::Program& program(std::string_view file, const KernelMacros& macros);

  // Counts a tensor of `bytes` against the device's limits; throws DeviceError when it does not
  // fit.
  void reserve(uint64_t bytes, const std::string& what);
  void release(uint64_t bytes) { live_bytes_ -= bytes; }

 private:
  struct PendingKernel {
    std::string kernel;
    cl::Event event;
  };
  cl::Program build_from_source(const std::string& file, const std::string& source,
                                const std::string& options) const;
  std::optional<cl::Program> load_from_disk(const std::string& key,
                                            const std::string& options) const;
  void save_to_disk(const std::string& key, const cl::Program& program) const;
  bool uses_disk() const;
  void collect_times();

  DeviceInfo info_;
  QueueOptions options_;
  std::unique_ptr<base::ThreadPool> pool_;
  std::string platform_version_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::string, cl::Program> programs_;  // key: file and build options
  ProgramCacheStats program_stats_;
  std::vector<PendingKernel> pending_;
  std::deque<KernelTime> times_;
  std::atomic<uint64_t> live_bytes_{0};
};

// Elements of a tensor: `host` on the host engine, else `buffer`. Counted against the queue's
// limits while it lives.
class TensorStorage {
 public:
  // Throws DeviceError when `bytes` do not fit; `what` names the tensor.
  TensorStorage(const Queue& queue, uint64_t bytes, const std::string& what)
      : queue_(queue), bytes_(bytes) {
    queue_.state().reserve(bytes, what);
  }
  TensorStorage(const TensorStorage&) = delete;
  TensorStorage& operator=(const TensorStorage&) = delete;
  ~TensorStorage() { queue_.state().release(bytes_); }

  HostTensor host;
  cl::Buffer buffer;

 private:
  Queue queue_;  // keeps the context alive
  uint64_t bytes_;
};

}  // namespace netcl::core

#endif  // NETCL_CORE_OPENCL_H_
