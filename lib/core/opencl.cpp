// SPDX-License-Identifier: Apache-2.0
#include "core/opencl.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "core/kernel_source.h"

namespace netcl::core {

namespace {

constexpr size_t kMaxKernelTimes = 65536;
constexpr size_t kMaxPendingKernels = 4096;  // events held before their times are read

struct ErrorName {
  cl_int code;
  const char* name;
};

#define NETCL_CL_ERROR(name) \
  ErrorName {                \
    name, #name              \
  }
constexpr ErrorName kErrorNames[] = {
    NETCL_CL_ERROR(CL_DEVICE_NOT_FOUND),
    NETCL_CL_ERROR(CL_DEVICE_NOT_AVAILABLE),
    NETCL_CL_ERROR(CL_COMPILER_NOT_AVAILABLE),
    NETCL_CL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NETCL_CL_ERROR(CL_OUT_OF_RESOURCES),
    NETCL_CL_ERROR(CL_OUT_OF_HOST_MEMORY),
    NETCL_CL_ERROR(CL_PROFILING_INFO_NOT_AVAILABLE),
    NETCL_CL_ERROR(CL_MEM_COPY_OVERLAP),
    NETCL_CL_ERROR(CL_BUILD_PROGRAM_FAILURE),
    NETCL_CL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NETCL_CL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NETCL_CL_ERROR(CL_COMPILE_PROGRAM_FAILURE),
    NETCL_CL_ERROR(CL_LINKER_NOT_AVAILABLE),
    NETCL_CL_ERROR(CL_LINK_PROGRAM_FAILURE),
    NETCL_CL_ERROR(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NETCL_CL_ERROR(CL_INVALID_VALUE),
    NETCL_CL_ERROR(CL_INVALID_DEVICE_TYPE),
    NETCL_CL_ERROR(CL_INVALID_PLATFORM),
    NETCL_CL_ERROR(CL_INVALID_DEVICE),
    NETCL_CL_ERROR(CL_INVALID_CONTEXT),
    NETCL_CL_ERROR(CL_INVALID_QUEUE_PROPERTIES),
    NETCL_CL_ERROR(CL_INVALID_COMMAND_QUEUE),
    NETCL_CL_ERROR(CL_INVALID_HOST_PTR),
    NETCL_CL_ERROR(CL_INVALID_MEM_OBJECT),
    NETCL_CL_ERROR(CL_INVALID_BINARY),
    NETCL_CL_ERROR(CL_INVALID_BUILD_OPTIONS),
    NETCL_CL_ERROR(CL_INVALID_PROGRAM),
    NETCL_CL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE),
    NETCL_CL_ERROR(CL_INVALID_KERNEL_NAME),
    NETCL_CL_ERROR(CL_INVALID_KERNEL_DEFINITION),
    NETCL_CL_ERROR(CL_INVALID_KERNEL),
    NETCL_CL_ERROR(CL_INVALID_ARG_INDEX),
    NETCL_CL_ERROR(CL_INVALID_ARG_VALUE),
    NETCL_CL_ERROR(CL_INVALID_ARG_SIZE),
    NETCL_CL_ERROR(CL_INVALID_KERNEL_ARGS),
    NETCL_CL_ERROR(CL_INVALID_WORK_DIMENSION),
    NETCL_CL_ERROR(CL_INVALID_WORK_GROUP_SIZE),
    NETCL_CL_ERROR(CL_INVALID_WORK_ITEM_SIZE),
    NETCL_CL_ERROR(CL_INVALID_GLOBAL_OFFSET),
    NETCL_CL_ERROR(CL_INVALID_EVENT_WAIT_LIST),
    NETCL_CL_ERROR(CL_INVALID_EVENT),
    NETCL_CL_ERROR(CL_INVALID_OPERATION),
    NETCL_CL_ERROR(CL_INVALID_BUFFER_SIZE),
    NETCL_CL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE),
    NETCL_CL_ERROR(CL_INVALID_PROPERTY),
};
#undef NETCL_CL_ERROR

std::string build_options(const KernelMacros& macros, const std::string& extra) {
  std::string options = "-cl-std=CL1.2";
  for (const auto& [name, value] : macros) {
    NETCL_CHECK(value.find_first_of(" \t\n\"'\\") == std::string::npos);
    options.append(" -D").append(name).append("=").append(value);
  }
  return extra.empty() ? options : options + " " + extra;
}

// Text without trailing NULs and blanks, which some drivers append.
std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

std::string build_log(const cl::Program& program, const cl::Device& device) {
  try {
    const std::string log = trimmed(program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device));
    return log.empty() ? "(the compiler left no build log)" : log;
  } catch (const cl::Error& error) {
    return "(no build log: " + cl_error_text(error.err()) + ")";
  }
}

}  // namespace

std::string cl_error_text(cl_int code) {
  std::string name = "OpenCL error";
  for (const ErrorName& entry : kErrorNames) {
    if (entry.code == code) {
      name = entry.name;
    }
  }
  return name + " (" + std::to_string(code) + ")";
}

void throw_device_error(const cl::Error& error, const std::string& context) {
  throw base::DeviceError(std::string(error.what()) + ": " + cl_error_text(error.err()) + ": " +
                          context);
}

QueueState::QueueState(DeviceInfo info, QueueOptions options)
    : info_(std::move(info)),
      options_(std::move(options)),
      pool_(std::make_unique<base::ThreadPool>(options_.host_threads)) {
  info_.compute_units = static_cast<uint32_t>(pool_->thread_count());
}

QueueState::QueueState(const ClDevice& device, QueueOptions options)
    : info_(device.info), options_(std::move(options)), device_(device.device) {
  const std::string context = "device " + info_.name + "; --device host computes without OpenCL";
  cl_checked(context, [&] {
    platform_version_ = device.platform.getInfo<CL_PLATFORM_VERSION>();
    context_ = cl::Context(device_);
    queue_ =
        cl::CommandQueue(context_, device_, options_.profiling ? CL_QUEUE_PROFILING_ENABLE : 0);
  });
}

QueueState::~QueueState() {
  try {
    if (!is_host()) {
      queue_.finish();
    }
  } catch (const cl::Error&) {  // nothing can be reported from here
  }
}

base::ThreadPool& QueueState::pool() const {
  NETCL_CHECK(is_host());
  return *pool_;
}

void QueueState::finish() {
  if (!is_host()) {
    cl_checked("device " + info_.name, [&] { queue_.finish(); });
  }
}

void QueueState::record_kernel(const std::string& kernel, const cl::Event& event) {
  if (pending_.size() >= kMaxPendingKernels) {
    collect_times();
  }
  pending_.push_back({kernel, event});
}

void QueueState::collect_times() {
  for (const PendingKernel& pending : pending_) {
    cl_checked("kernel " + pending.kernel, [&] {
      pending.event.wait();
      times_.push_back({pending.kernel,
                        pending.event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>(),
                        pending.event.getProfilingInfo<CL_PROFILING_COMMAND_SUBMIT>(),
                        pending.event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                        pending.event.getProfilingInfo<CL_PROFILING_COMMAND_END>()});
    });
  }
  pending_.clear();
  while (times_.size() > kMaxKernelTimes) {
    times_.pop_front();
  }
}

std::vector<KernelTime> QueueState::take_kernel_times() {
  collect_times();
  std::vector<KernelTime> times(times_.begin(), times_.end());
  times_.clear();
  return times;
}

bool QueueState::uses_disk() const {
  return !options_.cache_dir.empty() &&
         (!info_.platform_caches_kernels || options_.force_disk_cache);
}

const cl::Program& QueueState::program(std::string_view file, const KernelMacros& macros) {
  NETCL_CHECK(!is_host());
  const std::string options = build_options(macros, options_.extra_build_options);
  const std::string name = std::string(file) + "\n" + options;
  if (const auto found = programs_.find(name); found != programs_.end()) {
    ++program_stats_.found_in_memory;
    return found->second;
  }
  const std::string source = kernel_source(file, options_.kernel_dir);
  const std::string key = program_key(
      {source, options, platform_version_, info_.name, info_.device_version, info_.driver_version});
  std::optional<cl::Program> program;
  if (uses_disk()) {
    program = load_from_disk(key, options);
  }
  if (program) {
    ++program_stats_.loaded_from_disk;
  } else {
    program = build_from_source(std::string(file), source, options);
    ++program_stats_.built_from_source;
    if (uses_disk()) {
      save_to_disk(key, *program);
    }
  }
  return programs_.emplace(name, std::move(*program)).first->second;
}

cl::Program QueueState::build_from_source(const std::string& file, const std::string& source,
                                          const std::string& options) const {
  const std::string where = "kernel " + file + " on " + info_.name;
  cl::Program program = cl_checked(where, [&] { return cl::Program(context_, source, false); });
  try {
    program.build({device_}, options.c_str());
  } catch (const cl::Error& error) {
    throw base::DeviceError(where + ": does not build: " + cl_error_text(error.err()) +
                            "; options: " + options + "; build log:\n" +
                            build_log(program, device_));
  }
  return program;
}

std::optional<cl::Program> QueueState::load_from_disk(const std::string& key,
                                                      const std::string& options) const {
  const std::optional<std::string> payload = find_cached_program(options_.cache_dir, key);
  if (!payload) {
    return std::nullopt;
  }
  try {
    const std::vector<unsigned char> bytes(payload->begin(), payload->end());
    cl::Program program(context_, {device_}, {bytes});
    program.build({device_}, options.c_str());
    return program;
  } catch (const cl::Error&) {  // the driver no longer takes this binary: build from source
    return std::nullopt;
  }
}

void QueueState::save_to_disk(const std::string& key, const cl::Program& program) const {
  try {
    const std::vector<std::vector<unsigned char>> binaries = program.getInfo<CL_PROGRAM_BINARIES>();
    if (binaries.size() == 1 && !binaries[0].empty()) {
      store_cached_program(options_.cache_dir, key,
                           {reinterpret_cast<const char*>(binaries[0].data()), binaries[0].size()});
    }
  } catch (const cl::Error&) {  // a device without binaries works without a disk cache
  }
}

void QueueState::reserve(uint64_t bytes, const std::string& what) {
  if (bytes > info_.max_alloc_bytes) {
    throw base::DeviceError(what + ": needs a buffer of " + std::to_string(bytes) + " bytes; " +
                            info_.name + " allows at most " +
                            std::to_string(info_.max_alloc_bytes) + " in one buffer");
  }
  const uint64_t live = live_bytes_.load();
  if (bytes > info_.global_mem_bytes || live > info_.global_mem_bytes - bytes) {
    throw base::DeviceError(what + ": needs " + std::to_string(bytes) + " bytes beside " +
                            std::to_string(live) + " in use; " + info_.name + " has a memory of " +
                            std::to_string(info_.global_mem_bytes) + " bytes");
  }
  live_bytes_ += bytes;
}

ProgramCacheStats program_cache_stats(const Queue& queue) {
  return queue.state().program_stats();
}

}  // namespace netcl::core
