// SPDX-License-Identifier: Apache-2.0
#include "attn/device_option.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <spdlog/spdlog.h>

#include "attn/driver_advice.h"
#include "base/error.h"
#include "cli/child_process.h"

namespace netcl::attn {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The base directory specification ignores relative paths.
std::string cache_directory() {
  const std::string xdg = environment("XDG_CACHE_HOME");
  if (xdg.starts_with('/')) {
    return xdg + "/netcl";
  }
  const std::string home = environment("HOME");
  return home.starts_with('/') ? home + "/.cache/netcl" : "";
}

std::string gibibytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1u << 30));
  return text;
}

}  // namespace

int run_beside_driver(const std::string& tool_name, const std::string& device,
                      const std::function<int()>& work) {
  if (device == "host") {
    return work();
  }
  ::setenv("POCL_AFFINITY", "1", 0);
  return cli::run_in_child([&] { return cli::run_action(tool_name, work); }, "the device's driver",
                           damaged_cache_advice());
}

bool is_device_kernel(const std::string& kernel) {
  return kernel != "auto" && kernel != "reference";
}

core::Device open_device(const std::string& spec, const std::string& kernel,
                         const cli::CommonOptions& common) {
  core::QueueOptions options;
  options.host_threads = common.thread_count;
  options.cache_dir = cache_directory();
  try {
    core::Device device = core::DeviceManager::open(spec, options);
    if (device.queue.is_host() && is_device_kernel(kernel)) {
      throw base::DeviceError("--kernel " + kernel +
                              ": no OpenCL device was found; install pocl-opencl-icd or the GPU "
                              "vendor's driver, or leave --kernel out");
    }
    return device;
  } catch (const base::DeviceError& error) {
    const bool only_host = core::DeviceManager::list().size() == 1;
    const std::string advice = only_host ? unwritable_cache_advice() : "";
    if (advice.empty()) {
      throw;
    }
    throw base::DeviceError(error.what() + ("; " + advice));
  }
}

std::string device_list() {
  std::string out;
  const std::vector<core::DeviceInfo> devices = core::DeviceManager::list();
  for (size_t i = 0; i < devices.size(); ++i) {
    const core::DeviceInfo& info = devices[i];
    out += std::to_string(i) + "\t" + device_place(info) + "\t" +
           std::string(core::device_kind_name(info.kind)) + "\t" + info.name;
    if (info.platform_index >= 0) {
      out += "\t" + info.platform_name + ", " + info.device_version + ", " +
             gibibytes(info.global_mem_bytes) + ", largest buffer " +
             gibibytes(info.max_alloc_bytes);
    }
    out += "\n";
  }
  return out;
}

void log_device(const core::DeviceInfo& info) {
  if (info.platform_index < 0) {
    spdlog::info("device host, {} threads", info.compute_units);
  } else {
    spdlog::info("device {}, driver {}", device_label(info), info.driver_version);
  }
}

std::string device_place(const core::DeviceInfo& info) {
  if (info.platform_index < 0) {
    return "host";
  }
  return std::to_string(info.platform_index) + ":" + std::to_string(info.device_index);
}

std::string device_label(const core::DeviceInfo& info) {
  if (info.platform_index < 0) {
    return "host";
  }
  return device_place(info) + " " + std::string(core::device_kind_name(info.kind)) + " " +
         info.name;
}

}  // namespace netcl::attn
