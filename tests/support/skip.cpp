// SPDX-License-Identifier: Apache-2.0
#include "support/skip.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace netcl::tests {

namespace {
bool any_skipped = false;
}

void skip(const std::string& reason) {
  any_skipped = true;
  std::cerr << "skipped: " << reason << '\n';
}

bool skipped() {
  return any_skipped;
}

std::string shared_dir() {
  const char* from_environment = std::getenv("NETCL_SHARED_DIR");
  const std::filesystem::path folder =
      from_environment != nullptr ? from_environment : NETCL_DEFAULT_SHARED_DIR;
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? folder.string() : std::string();
}

}  // namespace netcl::tests
