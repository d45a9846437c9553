// SPDX-License-Identifier: Apache-2.0
#include "core/kernel.h"

#include <string>

#include "base/error.h"
#include "base/file.h"
#include "core/kernel_source.h"
#include "support/catch.h"
#include "support/device.h"
#include "support/temp_dir.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;

// A folder with one kernel file and a queue that reads kernels from there.
struct KernelFolder {
  explicit KernelFolder(const std::string& text, const std::string& extra_options = {}) {
    base::write_file(dir.file("sample.cl"), text);
    options.kernel_dir = dir.path().string();
    options.extra_build_options = extra_options;
  }
  tests::TempDir dir;
  core::QueueOptions options;
};

std::string build_error(const core::Queue& queue, const core::KernelMacros& macros = {}) {
  try {
    core::Kernel::get(queue, "sample", "sample", macros);
  } catch (const base::DeviceError& error) {
    return error.what();
  }
  return {};
}

constexpr const char* kScale = R"(
typedef struct { long count; float factor; int unused; } Shape;
__kernel void sample(__global float* out, __global const float* in, __global const float* offset,
                     __local float* scratch, const Shape shape) {
  const size_t i = get_global_id(0);
  scratch[get_local_id(0)] = i < shape.count ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < shape.count) {
    out[i] = scratch[get_local_id(0)] * shape.factor + (offset ? offset[0] : 0.0f);
  }
}
)";

struct ScaleShape {
  int64_t count;
  float factor;
  int32_t unused;
};

}  // namespace

TEST_CASE("kernel source: the embedded text is the text of the folder") {
  REQUIRE_FALSE(core::embedded_kernels().empty());
  for (const core::EmbeddedKernel& kernel : core::embedded_kernels()) {
    CAPTURE(kernel.name);
    CHECK(core::kernel_source(kernel.name) == core::kernel_source(kernel.name, NETCL_KERNEL_DIR));
    CHECK(core::kernel_source(kernel.name).find("#include \"") == std::string::npos);
  }
}

TEST_CASE("kernel source: an unknown name and a missing file are errors that name them") {
  CHECK_THROWS_AS(core::kernel_source("no_such"), base::DeviceError);
  CHECK_THROWS_WITH(core::kernel_source("no_such"), Contains("no_such") && Contains("gemm"));
  const tests::TempDir dir;
  CHECK_THROWS_AS(core::kernel_source("gemm", dir.path().string()), base::IoError);
  base::write_file(dir.file("a.cl"), "#include \"missing.h\"\n");
  CHECK_THROWS_WITH(core::kernel_source("a", dir.path().string()), Contains("missing.h"));
}

TEST_CASE("kernel source: includes keep the line numbers of both files") {
  const tests::TempDir dir;
  base::write_file(dir.file("a.cl"), "one\n#include \"b.h\"  // why\nthree\n#include \"c.h\"");
  base::write_file(dir.file("b.h"), "b1\nb2");
  base::write_file(dir.file("c.h"), "c1\n");
  CHECK(core::kernel_source("a", dir.path().string()) ==
        "#line 1 \"a.cl\"\none\n#line 1 \"b.h\"\nb1\nb2\n#line 3 \"a.cl\"\nthree\n"
        "#line 1 \"c.h\"\nc1\n\n#line 5 \"a.cl\"\n");
}

TEST_CASE("kernel: arguments of every kind reach it") {
  const KernelFolder folder(kScale);
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  const std::vector<float> values{1, 2, 3, 4, 5};
  const core::Tensor out = core::Tensor::zeros(*queue, core::DType::kF32, {5});
  core::Kernel kernel = core::Kernel::get(*queue, "sample", "sample", {});
  CHECK(kernel.max_work_group_size() > 0);
  // Temporary tensors: the launch keeps them.
  kernel.arg(out)
      .arg(core::Tensor::from_host(*queue, core::HostTensor::from_floats({5}, values)))
      .arg(core::Tensor::from_host(*queue, core::HostTensor::from_floats({1}, std::vector{0.5f})))
      .arg(core::LocalMemory{sizeof(float)})
      .arg(ScaleShape{5, 2.0f, 0})
      .run({8}, {1});
  CHECK(out.to_host().to_floats() == std::vector<float>{2.5f, 4.5f, 6.5f, 8.5f, 10.5f});

  // run() cleared the arguments; a null pointer is one too.
  kernel.arg(out)
      .arg(core::Tensor::from_host(*queue, core::HostTensor::from_floats({5}, values)))
      .null_arg()
      .arg(core::LocalMemory{sizeof(float)})
      .arg(ScaleShape{4, 10.0f, 0})
      .run({4}, {1});
  CHECK(out.to_host().to_floats() == std::vector<float>{10, 20, 30, 40, 10.5f});
}

TEST_CASE("kernel: a global size of zero runs nothing") {
  const KernelFolder folder("__kernel void sample(__global float* out) { out[0] = 1; }\n");
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  const core::Tensor out = core::Tensor::zeros(*queue, core::DType::kF32, {1});
  core::Kernel kernel = core::Kernel::get(*queue, "sample", "sample", {});
  kernel.arg(out).run({0}, {1});
  kernel.arg(out).run({1, 0, 1}, {1, 1, 1});
  CHECK(out.to_host().to_floats() == std::vector<float>{0});
  CHECK(queue->take_kernel_times().empty());
  kernel.arg(out).run({1, 1, 1}, {1, 1, 1});
  CHECK(out.to_host().to_floats() == std::vector<float>{1});
}

TEST_CASE("kernel: wrong arguments and sizes are our bug") {
  const KernelFolder folder("__kernel void sample(__global float* out) { out[0] = 1; }\n");
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  const core::Tensor out = core::Tensor::zeros(*queue, core::DType::kF32, {1});
  core::Kernel kernel = core::Kernel::get(*queue, "sample", "sample", {});
  CHECK_THROWS_AS(kernel.run({1}, {1}), std::logic_error);
  kernel.arg(out);
  CHECK_THROWS_AS(kernel.arg(1), std::logic_error);
  CHECK_THROWS_AS(kernel.run({3}, {2}), std::logic_error);
  CHECK_THROWS_AS(kernel.run({1}, {1, 1}), std::logic_error);
}

TEST_CASE("kernel times: one entry a launch in order and none without profiling") {
  KernelFolder folder("__kernel void sample(__global float* out) { out[0] += 1; }\n");
  for (const bool profiling : {true, false}) {
    folder.options.profiling = profiling;
    const auto queue = tests::require_device_queue(folder.options);
    if (!queue) {
      return;
    }
    const core::Tensor out = core::Tensor::zeros(*queue, core::DType::kF32, {1});
    core::Kernel kernel = core::Kernel::get(*queue, "sample", "sample", {});
    constexpr size_t kLaunches = 5000;  // more than are held unread
    for (size_t i = 0; i < kLaunches; ++i) {
      kernel.arg(out).run({1}, {1});
    }
    const std::vector<core::KernelTime> times = queue->take_kernel_times();
    REQUIRE(times.size() == (profiling ? kLaunches : 0));
    for (size_t i = 0; i < times.size(); ++i) {
      REQUIRE(times[i].kernel == "sample");
      REQUIRE(times[i].started_ns <= times[i].ended_ns);
      REQUIRE((i == 0 || times[i - 1].ended_ns <= times[i].ended_ns));
    }
    CHECK(queue->take_kernel_times().empty());
    queue->finish();
    CHECK(out.to_host().to_floats() == std::vector<float>{kLaunches});
  }
}

TEST_CASE("kernel: a group larger than the device allows is an error with kernel and sizes") {
  const KernelFolder folder("__kernel void sample(__global float* out) { out[0] = 1; }\n");
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  const core::Tensor out = core::Tensor::zeros(*queue, core::DType::kF32, {1});
  const size_t too_large = queue->device().max_work_group_size * 2;
  core::Kernel kernel = core::Kernel::get(*queue, "sample", "sample", {});
  CHECK_THROWS_WITH(kernel.arg(out).run({too_large}, {too_large}),
                    Contains("clEnqueueNDRangeKernel: CL_INVALID_WORK_GROUP_SIZE (-54)") &&
                        Contains("sample") && Contains(std::to_string(too_large)));
}

TEST_CASE("kernel build: an error holds kernel and options and device and the whole log") {
  // More text than any fixed buffer of a driver that cuts its log.
  const std::string long_name(20000, 'n');
  const KernelFolder folder("#include \"part.h\"\n__kernel void sample(__global float* out) {\n" +
                                std::string("  out[0] = ") + long_name + ";\n}\n",
                            "-DEXTRA=7");
  base::write_file(folder.dir.file("part.h"), "// fine\nint wrong = nowhere;\n");
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  const std::string message = build_error(*queue, {{"MACRO", "5"}});
  CHECK_THAT(message, Contains("kernel sample") && Contains(queue->device().name));
  CHECK_THAT(message, Contains("CL_BUILD_PROGRAM_FAILURE (-11)"));
  CHECK_THAT(message, Contains("-DMACRO=5") && Contains("-DEXTRA=7"));
  CHECK_THAT(message, Contains("part.h:2"));
  CHECK_THAT(message, Contains("sample.cl:3"));
  CHECK(message.find(long_name) != std::string::npos);
}

TEST_CASE("kernel build: options and macros reach the compiler and cannot break the queue") {
  const KernelFolder folder(
      "#if MACRO + EXTRA != 12\n#error values differ\n#endif\n"
      "__kernel void sample(__global int* out) { out[0] = MACRO; }\n",
      "-DEXTRA=7");
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  CHECK_THAT(build_error(*queue, {{"MACRO", "6"}}), Contains("values differ"));
  const core::Tensor out = core::Tensor::zeros(*queue, core::DType::kI32, {1});
  core::Kernel::get(*queue, "sample", "sample", {{"MACRO", "5"}}).arg(out).run({1}, {1});
  CHECK(out.to_host().to_int64s() == std::vector<int64_t>{5});
}

TEST_CASE("kernel build: an unknown option and an unknown function are errors") {
  const KernelFolder folder("__kernel void other(__global float* out) { out[0] = 1; }\n");
  const auto queue = tests::require_device_queue(folder.options);
  if (!queue) {
    return;
  }
  CHECK_THAT(build_error(*queue), Contains("CL_INVALID_KERNEL_NAME (-46)") && Contains("sample"));
  const KernelFolder odd("__kernel void sample(__global float* out) { out[0] = 1; }\n",
                         "-cl-no-such-option");
  CHECK_THAT(build_error(*tests::require_device_queue(odd.options)),
             Contains("-cl-no-such-option"));
}
