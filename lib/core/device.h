// SPDX-License-Identifier: Apache-2.0
// Devices and queues. A Queue runs work on one device: an OpenCL device, or the host engine, which
// needs no OpenCL. This header and its users see no OpenCL types; they live behind core/opencl.h.
#ifndef NETCL_CORE_DEVICE_H_
#define NETCL_CORE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::base {
class ThreadPool;
}

namespace netcl::core {

enum class DeviceKind { kHost, kCpu, kGpu, kAccelerator, kOther };

// What a device is and what it allows. Sizes in bytes.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::kHost;
  int platform_index = -1;  // as in "P:D"; -1 for the host engine
  int device_index = -1;
  std::string platform_name;
  std::string name;
  std::string vendor;
  std::string device_version;  // "OpenCL 3.0 PoCL HSTR: ..."
  std::string driver_version;
  std::string key;  // "<vendor>-<type>-<name>" in [a-z0-9-]: names tuning and cache files
  uint64_t global_mem_bytes = 0;
  uint64_t max_alloc_bytes = 0;
  uint64_t local_mem_bytes = 0;
  uint32_t compute_units = 0;
  uint32_t float_vector_width = 1;  // floats of the widest register, 1 where work-items are scalar
  size_t max_work_group_size = 1;
  std::vector<size_t> max_work_item_sizes;
  bool platform_caches_kernels = false;  // PoCL: our disk cache stays off there
};

// "cpu", "gpu", "host", ...
std::string_view device_kind_name(DeviceKind kind);

struct QueueOptions {
  bool profiling = true;          // record device times of every launch
  size_t host_threads = 0;        // host engine only; 0 = all cores
  std::string cache_dir;          // compiled programs on disk; empty = memory only
  bool force_disk_cache = false;  // also on platforms that cache themselves (tests)
  std::string kernel_dir;         // read .cl files from here instead of the embedded ones
  std::string extra_build_options;
};

// Time stamps of one finished kernel, nanoseconds of the device's clock.
struct KernelTime {
  std::string kernel;
  uint64_t queued_ns = 0;
  uint64_t submitted_ns = 0;
  uint64_t started_ns = 0;
  uint64_t ended_ns = 0;
};

class QueueState;  // core/opencl.h for OpenCL devices

// A cheap handle; copies share one in-order command queue. Not safe for use from several threads.
class Queue {
 public:
  explicit Queue(std::shared_ptr<QueueState> state);
  const DeviceInfo& device() const;
  bool is_host() const;
  // Waits until everything enqueued has ended. Throws DeviceError.
  void finish() const;
  // Kernel times recorded since the last call (waits for them), oldest first; at most the latest
  // 65536. Empty without profiling or on the host.
  std::vector<KernelTime> take_kernel_times() const;
  // Host engine only (NETCL_CHECK): its worker threads.
  base::ThreadPool& thread_pool() const;
  QueueState& state() const { return *state_; }
  friend bool operator==(const Queue& a, const Queue& b) { return a.state_ == b.state_; }

 private:
  std::shared_ptr<QueueState> state_;
};

// A device with a queue on it, as the chapter's manager.default("auto").queue.
struct Device {
  DeviceInfo info;
  Queue queue;
};

// Finds devices. Looking costs a platform query; a missing OpenCL loader, platform or device is an
// empty list, not an error. The host engine is always the last entry.
class DeviceManager {
 public:
  // All devices of all platforms in platform order, then the host engine.
  static std::vector<DeviceInfo> list();

  // The device for a spec: "auto" (first GPU, else accelerator, else OpenCL CPU, else host),
  // "host", "P:D" (platform and device index), a bare integer (index into list()), or a part of the
  // device's name, letter case ignored; of its platform's name where no device's has it. Of several
  // that match the first is taken. Throws DeviceError listing what there is when nothing matches;
  // with no OpenCL platform the message says so and what to install.
  static Device open(const std::string& spec, const QueueOptions& options = {});
};

}  // namespace netcl::core

#endif  // NETCL_CORE_DEVICE_H_
