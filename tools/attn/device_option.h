// SPDX-License-Identifier: Apache-2.0
// --device and --list-devices.
#ifndef NETCL_TOOLS_ATTN_DEVICE_OPTION_H_
#define NETCL_TOOLS_ATTN_DEVICE_OPTION_H_

#include <functional>
#include <string>

#include "cli/run_tool.h"
#include "core/device.h"

namespace netcl::attn {

// Runs the part of a tool that may call OpenCL, and maps its exceptions as run_action() does.
// Unless `device` is host that is in a child process, so that a driver that aborts (PoCL does on a
// damaged kernel cache) ends the tool with a DeviceError and advice. Asks PoCL to pin its threads
// to cores unless the user's environment says otherwise. Must be called before the first OpenCL
// call.
int run_beside_driver(const std::string& tool_name, const std::string& device,
                      const std::function<int()>& work);

// Opens a device with the tool's threads and its cache of compiled programs
// ($XDG_CACHE_HOME/netcl, else ~/.cache/netcl, else none). Throws DeviceError listing the devices.
// Where no device but the host is left and `kernel` is an OpenCL one, that too is a DeviceError.
core::Device open_device(const std::string& spec, const std::string& kernel,
                         const cli::CommonOptions& common);

// Whether --kernel names one of the OpenCL kernels, so neither auto nor reference.
bool is_device_kernel(const std::string& kernel);

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
