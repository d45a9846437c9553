// SPDX-License-Identifier: Apache-2.0
#include "cli/input_check.h"

#include <array>
#include <cerrno>
#include <cstring>

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

}  // namespace netcl::cli
