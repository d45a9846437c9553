// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <string>

#include <sys/wait.h>

#include "base/error.h"
#include "base/thread_pool.h"
#include "core/device.h"
#include "support/catch.h"
#include "support/device.h"

namespace {

using namespace netcl;
using Catch::Matchers::Contains;

struct ProbeResult {
  std::string output;
  int exit_code = -1;
};

// Runs the probe with `environment` ("A=1 B=2") and `arguments`.
ProbeResult run_probe(const std::string& environment, const std::string& arguments) {
  const std::string command =
      "env " + environment + " '" + NETCL_DEVICE_PROBE + "' " + arguments + " 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  ProbeResult result;
  std::array<char, 256> buffer{};
  for (size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

constexpr const char* kNoPlatform = "OCL_ICD_VENDORS=/nonexistent";

}  // namespace

TEST_CASE("device list: the host engine is the last entry") {
  const std::vector<core::DeviceInfo> infos = core::DeviceManager::list();
  REQUIRE_FALSE(infos.empty());
  CHECK(infos.back().kind == core::DeviceKind::kHost);
  CHECK(infos.back().platform_index == -1);
  for (size_t i = 0; i + 1 < infos.size(); ++i) {
    CHECK(infos[i].kind != core::DeviceKind::kHost);
    CHECK(infos[i].max_alloc_bytes > 0);
    CHECK(infos[i].max_work_group_size > 0);
    CHECK(infos[i].max_work_item_sizes.size() >= 3);
  }
  for (const core::DeviceInfo& info : infos) {
    CHECK(info.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK(info.key.find("--") == std::string::npos);
    CHECK(info.key.find(device_kind_name(info.kind)) != std::string::npos);
  }
}

TEST_CASE("device spec: host and its index open the host engine") {
  core::QueueOptions options;
  options.host_threads = 3;
  const size_t last = core::DeviceManager::list().size() - 1;
  for (const std::string& spec : {std::string("host"), std::to_string(last)}) {
    const core::Device device = core::DeviceManager::open(spec, options);
    CHECK(device.queue.is_host());
    CHECK(device.queue.thread_pool().thread_count() == 3);
    CHECK(device.info.compute_units == 3);
    device.queue.finish();
    CHECK(device.queue.take_kernel_times().empty());
  }
}

TEST_CASE("device spec: place and index and part of the name open the same device") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  const std::vector<core::DeviceInfo> infos = core::DeviceManager::list();
  for (size_t i = 0; i + 1 < infos.size(); ++i) {
    const core::DeviceInfo& info = infos[i];
    const std::string place =
        std::to_string(info.platform_index) + ":" + std::to_string(info.device_index);
    std::string upper = info.name;
    for (char& c : upper) {
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    for (const std::string& spec : {place, std::to_string(i)}) {
      const core::Device device = core::DeviceManager::open(spec);
      CHECK(device.info.platform_index == info.platform_index);
      CHECK(device.info.device_index == info.device_index);
      CHECK_FALSE(device.queue.is_host());
    }
    for (const std::string& spec : {info.name, upper, info.name.substr(1)}) {
      CHECK(core::DeviceManager::open(spec).info.name == info.name);
    }
  }
  CHECK_FALSE(core::DeviceManager::open("auto").queue.is_host());
}

TEST_CASE("device spec: a part of the platform's name opens its first device") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  const core::DeviceInfo first = core::DeviceManager::list().front();
  std::string upper = first.platform_name.substr(1);
  for (char& c : upper) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  for (const std::string& spec : {first.platform_name, upper}) {
    CHECK(core::DeviceManager::open(spec).info.platform_name == first.platform_name);
  }
}

TEST_CASE("device spec: one that matches nothing lists what there is") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  for (const std::string spec : {"99", "-1", "no such device", "", "0:99", "99:0", "0:", ":0",
                                 "0:-1", " 0", "99999999999999999999999", "HOST"}) {
    CAPTURE(spec);
    try {
      core::DeviceManager::open(spec);
      FAIL("opened a device");
    } catch (const base::DeviceError& error) {
      CHECK(error.exit_code() == 5);
      CHECK_THAT(error.what(), Contains(queue->device().name) && Contains("= host"));
    }
  }
}

TEST_CASE("no platform: auto takes the host and a demanded device is an error with advice") {
  const ProbeResult automatic = run_probe(kNoPlatform, "auto");
  CHECK(automatic.exit_code == 0);
  CHECK(automatic.output == "host engine: 9\n");
  CHECK(run_probe(kNoPlatform, "host").output == "host engine: 9\n");
  CHECK(run_probe(kNoPlatform, "0").output == "host engine: 9\n");
  for (const std::string spec : {"0:0", "1", "gpu"}) {
    const ProbeResult demanded = run_probe(kNoPlatform, spec);
    CHECK(demanded.exit_code == 5);
    CHECK_THAT(demanded.output, Contains("no OpenCL device") && Contains("pocl-opencl-icd"));
  }
}

TEST_CASE("driver cache: an unwritable folder gives the same numbers") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  const ProbeResult plain = run_probe("A=1", "auto");
  const ProbeResult unwritable = run_probe("POCL_CACHE_DIR=/proc/x", "auto");
  CHECK(plain.exit_code == 0);
  CHECK_THAT(plain.output, Contains(": 9\n"));
  // A driver without its cache may have no device, so that "auto" takes the host; the numbers stay.
  CHECK(unwritable.exit_code == 0);
  CHECK_THAT(unwritable.output, Contains(": 9\n"));
}
