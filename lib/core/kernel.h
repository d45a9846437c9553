// SPDX-License-Identifier: Apache-2.0
// Building and launching OpenCL kernels without OpenCL types. Programs are cached per queue in
// memory and, where asked for, on disk; the key holds source text, macros, build options, device
// and driver.
#ifndef NETCL_CORE_KERNEL_H_
#define NETCL_CORE_KERNEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/device.h"
#include "core/tensor.h"

namespace netcl::core {

// Macro name -> value (without blanks and quotes), given to the compiler as -DNAME=VALUE in this
// (sorted) order.
using KernelMacros = std::map<std::string, std::string>;

// Local (work-group) memory argument of `bytes`.
struct LocalMemory {
  size_t bytes = 0;
};

class KernelState;

// One kernel of one built program, bound to a queue. Set all arguments, then run.
class Kernel {
 public:
  // Builds (or takes from the cache) `file` ("attention_tiled" for kernels/attention_tiled.cl) with
  // `macros` and returns its function `function`. Throws DeviceError with kernel, options and the
  // whole build log when it does not compile.
  static Kernel get(const Queue& queue, std::string_view file, std::string_view function,
                    const KernelMacros& macros);

  // Arguments in order; a plain struct or number goes by value.
  Kernel& arg(const Tensor& tensor);
  Kernel& arg(LocalMemory memory);
  Kernel& null_arg();  // a null __global pointer
  template <typename T>
  requires(std::is_trivially_copyable_v<T> &&
           !std::is_same_v<T, LocalMemory>) Kernel& arg(const T& value) {
    return arg_bytes(&value, sizeof value);
  }

  // Enqueues the kernel. Every global size must be a multiple of its local size; both have 1 to 3
  // entries (NETCL_CHECK, as the number of arguments). A global size of 0 runs nothing. Clears the
  // arguments; the tensors given stay alive until the kernel has ended. Throws DeviceError naming
  // the kernel and the sizes.
  void run(const std::vector<size_t>& global, const std::vector<size_t>& local);

  // CL_KERNEL_WORK_GROUP_SIZE: may be below the device's own limit.
  size_t max_work_group_size() const;
  uint64_t local_mem_bytes() const;

 private:
  explicit Kernel(std::shared_ptr<KernelState> state);
  Kernel& arg_bytes(const void* bytes, size_t size);
  std::shared_ptr<KernelState> state_;
};

}  // namespace netcl::core

#endif  // NETCL_CORE_KERNEL_H_
