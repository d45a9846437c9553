// SPDX-License-Identifier: Apache-2.0
#include "core/kernel.h"

#include <utility>

#include "base/error.h"
#include "core/opencl.h"

namespace netcl::core {

class KernelState {
 public:
  KernelState(Queue kernel_queue, std::string kernel_name, cl::Kernel built)
      : queue(std::move(kernel_queue)),
        name(std::move(kernel_name)),
        kernel(std::move(built)),
        arg_count(kernel.getInfo<CL_KERNEL_NUM_ARGS>()) {}

  void set_arg(size_t bytes, const void* value) {
    NETCL_CHECK(next_arg < arg_count);
    cl_checked("kernel " + name + ", argument " + std::to_string(next_arg),
               [&] { kernel.setArg(next_arg, bytes, value); });
    ++next_arg;
  }

  Queue queue;
  std::string name;
  cl::Kernel kernel;
  cl_uint arg_count;
  cl_uint next_arg = 0;
  // clSetKernelArg retains nothing: the tensors live until the launch is enqueued, which does.
  std::vector<Tensor> tensors;
};

namespace {

cl::NDRange nd_range(const std::vector<size_t>& sizes) {
  switch (sizes.size()) {
    case 1:
      return {sizes[0]};
    case 2:
      return {sizes[0], sizes[1]};
    default:
      return {sizes[0], sizes[1], sizes[2]};
  }
}

std::string sizes_text(const std::vector<size_t>& sizes) {
  std::string text;
  for (const size_t size : sizes) {
    text += text.empty() ? "" : "x";
    text += std::to_string(size);
  }
  return text;
}

}  // namespace

Kernel::Kernel(std::shared_ptr<KernelState> state) : state_(std::move(state)) {}

Kernel Kernel::get(const Queue& queue, std::string_view file, std::string_view function,
                   const KernelMacros& macros) {
  const cl::Program& program = queue.state().program(file, macros);
  const std::string name(function);
  const std::string context = "kernel " + name + " of " + std::string(file);
  return cl_checked(context, [&] {
    try {
      return Kernel(std::make_shared<KernelState>(queue, name, cl::Kernel(program, name.c_str())));
    } catch (const cl::Error& error) {
      if (error.err() != CL_INVALID_KERNEL_NAME) {
        throw;
      }
      throw base::DeviceError(context + ": " + cl_error_text(error.err()) +
                              "; a damaged kernel cache does this: remove the driver's (PoCL: "
                              "$POCL_CACHE_DIR, else ~/.cache/pocl) and run again");
    }
  });
}

Kernel& Kernel::arg(const Tensor& tensor) {
  NETCL_CHECK(tensor.queue() == state_->queue);
  const cl_mem buffer = tensor.storage().buffer();
  state_->set_arg(sizeof(cl_mem), &buffer);
  state_->tensors.push_back(tensor);
  return *this;
}

Kernel& Kernel::arg(LocalMemory memory) {
  NETCL_CHECK(memory.bytes > 0);
  state_->set_arg(memory.bytes, nullptr);
  return *this;
}

Kernel& Kernel::null_arg() {
  const cl_mem buffer = nullptr;
  state_->set_arg(sizeof(cl_mem), &buffer);
  return *this;
}

Kernel& Kernel::arg_bytes(const void* bytes, size_t size) {
  state_->set_arg(size, bytes);
  return *this;
}

void Kernel::run(const std::vector<size_t>& global, const std::vector<size_t>& local) {
  NETCL_CHECK(state_->next_arg == state_->arg_count);
  NETCL_CHECK(global.size() == local.size() && !global.empty() && global.size() <= 3);
  bool is_empty = false;
  for (size_t axis = 0; axis < global.size(); ++axis) {
    NETCL_CHECK(local[axis] > 0 && global[axis] % local[axis] == 0);
    is_empty = is_empty || global[axis] == 0;
  }
  QueueState& queue = state_->queue.state();
  if (!is_empty) {
    cl::Event event;
    const std::string context = "kernel " + state_->name + ", global size " + sizes_text(global) +
                                ", local size " + sizes_text(local);
    cl_checked(context, [&] {
      queue.queue().enqueueNDRangeKernel(state_->kernel, cl::NullRange, nd_range(global),
                                         nd_range(local), nullptr,
                                         queue.profiling() ? &event : nullptr);
    });
    if (queue.profiling()) {
      queue.record_kernel(state_->name, event);
    }
  }
  state_->next_arg = 0;
  state_->tensors.clear();
}

size_t Kernel::max_work_group_size() const {
  return cl_checked("kernel " + state_->name, [&] {
    return state_->kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(
        state_->queue.state().device());
  });
}

uint64_t Kernel::local_mem_bytes() const {
  return cl_checked("kernel " + state_->name, [&] {
    return static_cast<uint64_t>(
        state_->kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(state_->queue.state().device()));
  });
}

}  // namespace netcl::core
