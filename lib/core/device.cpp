// SPDX-License-Identifier: Apache-2.0
#include "core/device.h"

#include <charconv>
#include <optional>

#include <unistd.h>

#include "base/ascii.h"
#include "base/error.h"
#include "core/opencl.h"

namespace netcl::core {

namespace {

// Letters and digits in lower case; every run of anything else is one '-'.
std::string normalized(std::string_view text) {
  std::string result;
  for (const char small : base::ascii_lower(text)) {
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) {
      result += small;
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  if (!result.empty() && result.back() == '-') {
    result.pop_back();
  }
  return result;
}

// Drivers pad names with blanks or a NUL.
std::string trimmed(const std::string& text) {
  const std::string blanks(" \t\n\0", 4);
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string device_key(const DeviceInfo& info) {
  return normalized(info.vendor) + "-" + std::string(device_kind_name(info.kind)) + "-" +
         normalized(info.name);
}

DeviceKind device_kind(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) {
    return DeviceKind::kGpu;
  }
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) {
    return DeviceKind::kAccelerator;
  }
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceKind::kCpu : DeviceKind::kOther;
}

ClDevice describe(const cl::Platform& platform, const cl::Device& device) {
  ClDevice found{platform, device, {}, false};
  DeviceInfo& info = found.info;
  info.kind = device_kind(device.getInfo<CL_DEVICE_TYPE>());
  info.platform_name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.device_version = trimmed(device.getInfo<CL_DEVICE_VERSION>());
  info.driver_version = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.key = device_key(info);
  info.global_mem_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_alloc_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.local_mem_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.float_vector_width = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
  info.max_work_group_size = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  info.max_work_item_sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  info.platform_caches_kernels = info.platform_name == "Portable Computing Language";
  found.usable = device.getInfo<CL_DEVICE_AVAILABLE>() != CL_FALSE &&
                 device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() != CL_FALSE;
  return found;
}

DeviceInfo host_info(size_t threads) {
  DeviceInfo info;
  info.platform_name = "netcl";
  info.name = "host engine";
  info.vendor = "netcl";
  info.key = "netcl-host-engine";
  info.global_mem_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                          static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  info.max_alloc_bytes = info.global_mem_bytes;
  info.compute_units = static_cast<uint32_t>(threads == 0 ? base::default_thread_count() : threads);
  return info;
}

Device open_host(const QueueOptions& options) {
  const auto state = std::make_shared<QueueState>(host_info(options.host_threads), options);
  return {state->info(), Queue(state)};
}

Device open_cl(const ClDevice& device, const QueueOptions& options) {
  const auto state = std::make_shared<QueueState>(device, options);
  return {state->info(), Queue(state)};
}

std::string place_text(const DeviceInfo& info) {
  return std::to_string(info.platform_index) + ":" + std::to_string(info.device_index);
}

[[noreturn]] void throw_no_match(const std::string& spec, const std::vector<ClDevice>& devices) {
  std::string message = "device " + base::quote(spec) + ": ";
  if (devices.empty()) {
    throw base::DeviceError(message +
                            "no OpenCL device was found; install a driver (CPU: apt-get install "
                            "pocl-opencl-icd; GPU: the vendor's OpenCL package), or use host");
  }
  message += "no such device; there are:";
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceInfo& info = devices[i].info;
    message += i == 0 ? " " : ", ";
    message += std::to_string(i) + " = " + place_text(info) + " " + info.name + " of " +
               info.platform_name;
  }
  throw base::DeviceError(message + ", " + std::to_string(devices.size()) +
                          " = host; give such a number, or a part of a name");
}

// A decimal number without sign; nothing for other text or a number too large.
std::optional<size_t> parse_index(std::string_view text) {
  size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool digits = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return digits && stop == end && error == std::errc() ? std::optional(value) : std::nullopt;
}

const ClDevice* best_device(const std::vector<ClDevice>& devices) {
  for (const DeviceKind kind :
       {DeviceKind::kGpu, DeviceKind::kAccelerator, DeviceKind::kCpu, DeviceKind::kOther}) {
    for (const ClDevice& device : devices) {
      if (device.usable && device.info.kind == kind) {
        return &device;
      }
    }
  }
  return nullptr;
}

// The device that a spec other than auto, host and an index names.
const ClDevice* named_device(const std::string& spec, const std::vector<ClDevice>& devices) {
  const size_t colon = spec.find(':');
  if (colon != std::string::npos) {
    const std::optional<size_t> platform = parse_index(std::string_view(spec).substr(0, colon));
    const std::optional<size_t> index = parse_index(std::string_view(spec).substr(colon + 1));
    if (platform && index) {
      for (const ClDevice& device : devices) {
        if (static_cast<size_t>(device.info.platform_index) == *platform &&
            static_cast<size_t>(device.info.device_index) == *index) {
          return &device;
        }
      }
      return nullptr;
    }
  }
  if (spec.empty()) {
    return nullptr;
  }
  const std::string part = base::ascii_lower(spec);
  for (const auto name : {&DeviceInfo::name, &DeviceInfo::platform_name}) {
    for (const ClDevice& device : devices) {
      if (base::ascii_lower(device.info.*name).find(part) != std::string::npos) {
        return &device;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::string_view device_kind_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kHost:
      return "host";
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kAccelerator:
      return "accelerator";
    case DeviceKind::kOther:
      break;
  }
  return "other";
}

std::vector<ClDevice> find_cl_devices() {
  std::vector<ClDevice> found;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {  // no loader configuration or no platform
    return found;
  }
  for (size_t p = 0; p < platforms.size(); ++p) {
    std::vector<cl::Device> devices;
    try {
      platforms[p].getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error&) {  // a platform without devices
      continue;
    }
    for (size_t d = 0; d < devices.size(); ++d) {
      try {
        ClDevice device = describe(platforms[p], devices[d]);
        device.info.platform_index = static_cast<int>(p);
        device.info.device_index = static_cast<int>(d);
        found.push_back(std::move(device));
      } catch (const cl::Error&) {  // a device that does not describe itself cannot be used
      }
    }
  }
  return found;
}

Queue::Queue(std::shared_ptr<QueueState> state) : state_(std::move(state)) {
  NETCL_CHECK(state_ != nullptr);
}

const DeviceInfo& Queue::device() const {
  return state_->info();
}

bool Queue::is_host() const {
  return state_->is_host();
}

void Queue::finish() const {
  state_->finish();
}

std::vector<KernelTime> Queue::take_kernel_times() const {
  return state_->take_kernel_times();
}

base::ThreadPool& Queue::thread_pool() const {
  return state_->pool();
}

std::vector<DeviceInfo> DeviceManager::list() {
  std::vector<DeviceInfo> infos;
  for (const ClDevice& device : find_cl_devices()) {
    infos.push_back(device.info);
  }
  infos.push_back(host_info(0));
  return infos;
}

Device DeviceManager::open(const std::string& spec, const QueueOptions& options) {
  if (spec == "host") {
    return open_host(options);
  }
  const std::vector<ClDevice> devices = find_cl_devices();
  const ClDevice* chosen = nullptr;
  if (spec == "auto") {
    chosen = best_device(devices);
    if (chosen == nullptr) {
      return open_host(options);
    }
  } else if (const std::optional<size_t> index = parse_index(spec)) {
    if (*index == devices.size()) {
      return open_host(options);
    }
    chosen = *index < devices.size() ? &devices[*index] : nullptr;
  } else {
    chosen = named_device(spec, devices);
  }
  if (chosen == nullptr) {
    throw_no_match(spec, devices);
  }
  return open_cl(*chosen, options);
}

}  // namespace netcl::core
