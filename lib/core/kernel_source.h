// SPDX-License-Identifier: Apache-2.0
// The text of the kernels: embedded at build time from kernels/*.cl, or read from a folder.
#ifndef NETCL_CORE_KERNEL_SOURCE_H_
#define NETCL_CORE_KERNEL_SOURCE_H_

#include <span>
#include <string>
#include <string_view>

namespace netcl::core {

struct EmbeddedKernel {
  std::string_view name;  // "gemm" for kernels/gemm.cl
  std::string_view text;  // includes resolved
};

// All embedded kernels in the order of kernels/CMakeLists.txt.
std::span<const EmbeddedKernel> embedded_kernels();

// Text of kernels/<name>.cl with its `#include "x.h"` lines replaced by the files they name (one
// level: an included file includes nothing); #line directives keep the places of build logs right.
// An empty `kernel_dir` means the embedded text, else <kernel_dir>/<name>.cl is read now.
// Throws DeviceError for an unknown embedded name, IoError when a file cannot be read.
std::string kernel_source(std::string_view name, const std::string& kernel_dir = {});

}  // namespace netcl::core

#endif  // NETCL_CORE_KERNEL_SOURCE_H_
