// SPDX-License-Identifier: Apache-2.0
// Writing to a file descriptor to the end.
#ifndef NETCL_BASE_WRITE_ALL_H_
#define NETCL_BASE_WRITE_ALL_H_

#include <cerrno>
#include <string_view>

#include <unistd.h>

namespace netcl::base {

// Writes all bytes, whatever interrupts it. Returns 0, or the error number (errno) that ended it
// with some of them written.
inline int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
    } else if (put < 0 && errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace netcl::base

#endif  // NETCL_BASE_WRITE_ALL_H_
