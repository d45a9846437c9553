// SPDX-License-Identifier: Apache-2.0
// onnx_cases [DIR] [--engine reference|host|opencl] [--kernel NAME] [--device SPEC]
// Runs the ONNX node cases of a folder (or the one case that the folder is) and prints a line per
// case, then "N passed, N failed". Exit codes: 0 all passed, 1 a case failed or there was none, 2
// usage, 4 no such folder, 5 no such device. Without DIR the project's shared cases are run, and 77
// says that this checkout has none or that there is no OpenCL device to test.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "nn/onnx_case.h"
#include "support/device.h"
#include "support/skip.h"

namespace {

using netcl::base::UsageError;
using netcl::core::Queue;
using netcl::tests::OnnxCase;
using netcl::tests::OnnxEngine;

constexpr int kSkipped = 77;
constexpr const char* kUsage =
    "usage: onnx_cases [DIR] [--engine reference|host|opencl] [--kernel NAME] [--device SPEC]";

struct Options {
  std::string folder;
  std::string engine = "host";
  std::string kernel = "auto";
  std::string device;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    std::string* const target = name == "--engine"   ? &options.engine
                                : name == "--kernel" ? &options.kernel
                                : name == "--device" ? &options.device
                                                     : nullptr;
    if (target != nullptr && i + 1 < argc) {
      *target = argv[++i];
    } else if (target == nullptr && name.rfind("-", 0) != 0 && options.folder.empty()) {
      options.folder = name;
    } else {
      throw UsageError("cannot use argument '" + name + "'; " + kUsage);
    }
  }
  if (options.engine != "reference" && options.engine != "host" && options.engine != "opencl") {
    throw UsageError("engine '" + options.engine + "'; allowed reference, host and opencl");
  }
  if (!options.device.empty() && options.engine != "opencl") {
    throw UsageError("--device is for --engine opencl");
  }
  return options;
}

// The queue to run on; nothing when the shared cases are asked for and there is no OpenCL device.
std::optional<Queue> open_queue(const Options& options) {
  if (options.engine != "opencl") {
    return netcl::core::DeviceManager::open("host").queue;
  }
  if (options.folder.empty() && options.device.empty()) {
    return netcl::tests::require_device_queue();
  }
  const Queue queue =
      netcl::core::DeviceManager::open(options.device.empty() ? "auto" : options.device).queue;
  if (queue.is_host()) {
    throw netcl::base::DeviceError("no OpenCL device; install pocl-opencl-icd");
  }
  return queue;
}

// The case folders below `folder`, sorted, or the folder itself.
std::vector<std::filesystem::path> case_folders(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw netcl::base::IoError(folder.string() + ": not a folder");
  }
  if (std::filesystem::exists(folder / "case.json")) {
    return {folder};
  }
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// Empty when the case passes; else why not.
std::string run_case(const std::filesystem::path& folder, const OnnxEngine& engine,
                     double& max_error) {
  try {
    const OnnxCase onnx_case = netcl::tests::read_onnx_case(folder.string());
    const auto outputs = netcl::tests::run_onnx_case(onnx_case, engine);
    for (const auto& [name, want] : onnx_case.outputs) {
      const std::string fault =
          netcl::tests::compare_onnx_output(outputs.at(name), want, max_error);
      if (!fault.empty()) {
        return name + ": " + fault;
      }
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

int run(const Options& options) {
  std::filesystem::path folder = options.folder;
  if (options.folder.empty()) {
    folder = std::filesystem::path(netcl::tests::shared_dir()) / "conformance" / "onnx";
    if (netcl::tests::shared_dir().empty() || !std::filesystem::is_directory(folder)) {
      std::cerr << "skipped: this checkout has no shared ONNX cases\n";
      return kSkipped;
    }
  }
  const std::optional<Queue> queue = open_queue(options);
  if (!queue.has_value()) {
    return kSkipped;
  }
  const OnnxEngine engine{options.engine == "reference", *queue, options.kernel};
  size_t passed = 0;
  size_t failed = 0;
  for (const std::filesystem::path& path : case_folders(folder)) {
    const std::string name = std::filesystem::weakly_canonical(path).filename().string();
    double max_error = 0;
    const std::string fault = run_case(path, engine, max_error);
    if (fault.empty()) {
      ++passed;
      std::cout << "pass " << name << " max error " << max_error << '\n';
    } else {
      ++failed;
      std::cout << "FAIL " << name << ' ' << fault << '\n';
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return passed > 0 && failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const netcl::base::Error& error) {
    std::cerr << "onnx_cases: error: " << error.what() << '\n';
    return error.exit_code();
  } catch (const std::exception& error) {
    std::cerr << "onnx_cases: error: " << error.what() << '\n';
    return 1;
  }
}
