// SPDX-License-Identifier: Apache-2.0
#include "cli/input_check.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/documents.h"

namespace netcl::cli {

void check_inputs(const std::vector<std::string>& files, bool raw) {
  constexpr size_t kMagicBytes = 16;
  for (const std::string& path : files) {
    if (path == "-") {
      continue;
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISDIR(status.st_mode)) {
      if (::access(path.c_str(), R_OK) != 0) {
        throw base::IoError(path + ": cannot open: " + std::strerror(errno));
      }
      continue;
    }
    base::ChunkReader reader(path);
    std::array<char, kMagicBytes> first{};
    const size_t got = reader.read(first);
    if (!raw) {
      refuse_compressed({first.data(), got}, path, " or --raw");
    }
  }
}

std::vector<std::string> all_inputs(const std::vector<std::string>& files,
                                    std::vector<std::string> others) {
  others.insert(others.end(), files.begin(), files.end());
  if (files.empty()) {
    others.emplace_back("-");
  }
  return others;
}

void refuse_inputs_as_outputs(const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs) {
  const auto file_of = [](const std::string& path) {
    struct stat status {};
    const int result = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    const bool is_file = result == 0 && S_ISREG(status.st_mode);
    return is_file ? std::optional(std::pair(status.st_dev, status.st_ino)) : std::nullopt;
  };
  for (const std::string& output : outputs) {
    const auto file = output == "-" ? std::nullopt : file_of(output);
    for (const std::string& input : inputs) {
      if (file && file_of(input) == file) {
        throw base::UsageError(output + ": is an input; a result would replace it");
      }
    }
  }
}

}  // namespace netcl::cli
