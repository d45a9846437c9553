// SPDX-License-Identifier: Apache-2.0
// --device and --list-devices.
#ifndef NETCL_TOOLS_ATTN_DEVICE_OPTION_H_
#define NETCL_TOOLS_ATTN_DEVICE_OPTION_H_

#include <string>

#include "cli/run_tool.h"
#include "core/device.h"

namespace netcl::attn {

// Must run before the first OpenCL call of the process: asks PoCL to pin its threads to cores
// unless the user's environment says otherwise.
void prepare_opencl_environment();

// Opens a device with the tool's threads and its cache of compiled programs
// ($XDG_CACHE_HOME/netcl, else ~/.cache/netcl, else none). Throws DeviceError listing the devices.
// Where no device but the host is left and `kernel` is an OpenCL one, that too is a DeviceError.
core::Device open_device(const std::string& spec, const std::string& kernel,
                         const cli::CommonOptions& common);

// One line a device: index, P:D, kind, name, platform, memory.
std::string device_list();

// "0:0 cpu NAME" or "host".
std::string device_label(const core::DeviceInfo& info);

// "P:D" or "host".
std::string device_place(const core::DeviceInfo& info);

// With -v: which device it is, and its driver.
void log_device(const core::DeviceInfo& info);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_DEVICE_OPTION_H_
