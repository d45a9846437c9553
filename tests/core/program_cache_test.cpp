// SPDX-License-Identifier: Apache-2.0
#include "core/program_cache.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "core/kernel.h"
#include "support/catch.h"
#include "support/device.h"
#include "support/temp_dir.h"

namespace {

using namespace netcl;

std::string read_file(const std::string& path) {
  return std::string(base::FileBytes::open(path).view());
}

std::vector<std::string> entries(const std::string& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    names.push_back(entry.path().string());
  }
  return names;
}

core::QueueOptions disk_options(const std::string& dir) {
  core::QueueOptions options;
  options.cache_dir = dir;
  options.force_disk_cache = true;
  return options;
}

// Builds one program on a fresh queue and says where it came from.
core::ProgramCacheStats build_once(const core::QueueOptions& options) {
  const auto queue = tests::require_device_queue(options);
  REQUIRE(queue);
  core::Kernel::get(*queue, "embedding", "embedding", {{"ELEMENT", "ushort"}});
  return core::program_cache_stats(*queue);
}

const std::string kKey(32, 'a');

}  // namespace

TEST_CASE("program key: every field and every border between fields counts") {
  const core::ProgramIdentity base{"source", "options", "platform", "device", "version", "driver"};
  std::set<std::string> keys{core::program_key(base)};
  CHECK(core::program_key(base).size() == 32);
  CHECK(core::program_key(base) == core::program_key(base));
  for (std::string core::ProgramIdentity::*field :
       {&core::ProgramIdentity::source, &core::ProgramIdentity::options,
        &core::ProgramIdentity::platform_version, &core::ProgramIdentity::device_name,
        &core::ProgramIdentity::device_version, &core::ProgramIdentity::driver_version}) {
    core::ProgramIdentity changed = base;
    changed.*field += "2";
    CHECK(keys.insert(core::program_key(changed)).second);
  }
  CHECK(keys.insert(
                core::program_key({"sourceo", "ptions", "platform", "device", "version", "driver"}))
            .second);
}

TEST_CASE("program file: what was stored is found under its key alone") {
  const tests::TempDir dir;
  const std::string folder = dir.file("a/b");
  const std::string payload("\0\x01program\n\xff", 11);
  CHECK_FALSE(core::find_cached_program(folder, kKey));
  REQUIRE(core::store_cached_program(folder, kKey, payload));
  CHECK(core::find_cached_program(folder, kKey) == payload);
  CHECK_FALSE(core::find_cached_program(folder, std::string(32, 'b')));
  REQUIRE(core::store_cached_program(folder, kKey, "newer"));
  CHECK(core::find_cached_program(folder, kKey) == "newer");
  REQUIRE(core::store_cached_program(folder, kKey, ""));
  CHECK(core::find_cached_program(folder, kKey) == "");
  CHECK(entries(folder).size() == 1);
}

TEST_CASE("program file: damage anywhere counts as absent") {
  const tests::TempDir dir;
  REQUIRE(core::store_cached_program(dir.file(""), kKey, "payload"));
  const std::string path = entries(dir.file("")).at(0);
  const std::string good = read_file(path);
  for (size_t length = 0; length < good.size(); ++length) {
    base::write_file(path, good.substr(0, length));
    CHECK_FALSE(core::find_cached_program(dir.file(""), kKey));
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      base::write_file(path, bad);
      CHECK_FALSE(core::find_cached_program(dir.file(""), kKey));
    }
  }
  base::write_file(path, good + "x");
  CHECK_FALSE(core::find_cached_program(dir.file(""), kKey));
  base::write_file(path, good);
  CHECK(core::find_cached_program(dir.file(""), kKey) == "payload");
  // The entry of one key under the name of another.
  const std::string other(32, 'b');
  std::filesystem::rename(path, std::filesystem::path(path).replace_filename(other + ".clbin"));
  CHECK_FALSE(core::find_cached_program(dir.file(""), other));
}

TEST_CASE("program file: a folder that cannot be written is no error") {
  CHECK_FALSE(core::store_cached_program("/proc/netcl-cache", kKey, "payload"));
  CHECK_FALSE(core::find_cached_program("/proc/netcl-cache", kKey));
  const tests::TempDir dir;
  std::filesystem::create_directory(dir.file(kKey + ".clbin"));
  CHECK_FALSE(core::find_cached_program(dir.file(""), kKey));
  CHECK_FALSE(core::store_cached_program(dir.file(""), kKey, "payload"));
}

TEST_CASE("program cache: the second queue loads from disk what the first one built") {
  if (!tests::require_device_queue()) {
    return;
  }
  const tests::TempDir dir;
  const core::QueueOptions options = disk_options(dir.file("cache"));
  const core::ProgramCacheStats first = build_once(options);
  CHECK(first.built_from_source == 1);
  CHECK(first.loaded_from_disk == 0);
  const core::ProgramCacheStats second = build_once(options);
  CHECK(second.built_from_source == 0);
  CHECK(second.loaded_from_disk == 1);

  core::QueueOptions other = options;
  other.extra_build_options = "-DNETCL_UNUSED=1";
  CHECK(build_once(other).built_from_source == 1);
  CHECK(entries(dir.file("cache")).size() == 2);
}

TEST_CASE("program cache: within a queue a program is built once") {
  const auto queue = tests::require_device_queue(core::QueueOptions{});
  if (!queue) {
    return;
  }
  for (int i = 0; i < 3; ++i) {
    core::Kernel::get(*queue, "embedding", "embedding", {{"ELEMENT", "uchar"}});
  }
  core::Kernel::get(*queue, "embedding", "embedding", {{"ELEMENT", "ulong"}});
  CHECK(core::program_cache_stats(*queue).built_from_source == 2);
  CHECK(core::program_cache_stats(*queue).found_in_memory == 2);
}

TEST_CASE("program cache: damaged entries are rebuilt and replaced") {
  if (!tests::require_device_queue()) {
    return;
  }
  const tests::TempDir dir;
  const core::QueueOptions options = disk_options(dir.file("cache"));
  REQUIRE(build_once(options).built_from_source == 1);
  const std::string path = entries(dir.file("cache")).at(0);
  const std::string good = read_file(path);
  std::string flipped = good;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  for (const std::string& bad : {good.substr(0, 10), good.substr(0, good.size() / 2), flipped}) {
    base::write_file(path, bad);
    CHECK(build_once(options).built_from_source == 1);
    CHECK(build_once(options).loaded_from_disk == 1);
  }
}

TEST_CASE("program cache: a binary that the driver refuses is rebuilt") {
  if (!tests::require_device_queue()) {
    return;
  }
  const tests::TempDir dir;
  const core::QueueOptions options = disk_options(dir.file("cache"));
  REQUIRE(build_once(options).built_from_source == 1);
  const std::string key = std::filesystem::path(entries(dir.file("cache")).at(0)).stem().string();
  REQUIRE(core::store_cached_program(dir.file("cache"), key, "no program of any driver"));
  CHECK(build_once(options).built_from_source == 1);
  CHECK(build_once(options).loaded_from_disk == 1);
}

TEST_CASE("program cache: the disk stays unused where the platform caches itself") {
  const auto queue = tests::require_device_queue();
  if (!queue) {
    return;
  }
  const tests::TempDir dir;
  core::QueueOptions options = disk_options(dir.file("cache"));
  options.force_disk_cache = false;
  build_once(options);
  CHECK(std::filesystem::exists(dir.file("cache")) != queue->device().platform_caches_kernels);
}

TEST_CASE("program cache: an unwritable folder builds from source") {
  if (!tests::require_device_queue()) {
    return;
  }
  const core::QueueOptions options = disk_options("/proc/netcl-cache");
  CHECK(build_once(options).built_from_source == 1);
  CHECK(build_once(options).built_from_source == 1);
}

TEST_CASE("program cache: two processes at once on an empty folder both work") {
  if (!tests::require_device_queue()) {
    return;
  }
  const tests::TempDir dir;
  for (int round = 0; round < 2; ++round) {
    const std::string cache = dir.file("cache" + std::to_string(round));
    const std::string probe = std::string("POCL_CACHE_DIR='") + dir.file("driver") + "' '" +
                              NETCL_DEVICE_PROBE + "' auto '" + cache + "'";
    const std::string command = probe + " > '" + dir.file("1") + "' & " + probe + " > '" +
                                dir.file("2") + "'; status=$?; wait $! && exit $status";
    std::filesystem::create_directories(dir.file("driver"));
    CHECK(std::system(command.c_str()) == 0);
    CHECK_THAT(read_file(dir.file("1")), Catch::Matchers::Contains(": 9\n"));
    CHECK(read_file(dir.file("1")) == read_file(dir.file("2")));
    CHECK(entries(cache).size() == 1);
    std::filesystem::remove_all(dir.file("driver"));
  }
}
