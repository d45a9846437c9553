// SPDX-License-Identifier: Apache-2.0
#include "attn/driver_advice.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace netcl::attn {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Makes the folder where it is missing, as PoCL does.
bool can_write(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return ::access(directory.c_str(), W_OK | X_OK) == 0;
}

// The folder that PoCL chooses under the environment of this process.
std::string cache_directory() {
  if (std::string own = environment("POCL_CACHE_DIR"); !own.empty()) {
    return own;
  }
  if (std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) {
    return xdg + "/pocl/kcache";
  }
  const std::string home = environment("HOME");
  return home.empty() ? "/tmp/pocl/kcache" : home + "/.cache/pocl/kcache";
}

}  // namespace

std::string unwritable_cache_advice() {
  const std::string cache = cache_directory();
  return can_write(cache) ? ""
                          : "PoCL, if that is the driver, cannot write its cache folder " + cache +
                                " (POCL_CACHE_DIR names another)";
}

std::string damaged_cache_advice() {
  return "a damaged kernel cache does this: remove " + cache_directory() + " (PoCL) and run again";
}

}  // namespace netcl::attn
