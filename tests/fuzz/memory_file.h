// SPDX-License-Identifier: Apache-2.0
// Bytes as a file with a path, for readers that open their input themselves.
#ifndef NETCL_TESTS_FUZZ_MEMORY_FILE_H_
#define NETCL_TESTS_FUZZ_MEMORY_FILE_H_

#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace netcl::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    NETCL_CHECK(fd_ >= 0);
    NETCL_CHECK(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace netcl::fuzz

#endif  // NETCL_TESTS_FUZZ_MEMORY_FILE_H_
