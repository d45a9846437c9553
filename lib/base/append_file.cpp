// SPDX-License-Identifier: Apache-2.0
#include "base/append_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/write_all.h"

namespace netcl::base {

namespace {

[[noreturn]] void throw_io(const std::string& path, const std::string& action, int error) {
  throw IoError(path + ": " + action + ": " + std::strerror(error));
}

}  // namespace

AppendFile::AppendFile(const std::string& path, uint64_t size, std::chrono::milliseconds sync_every)
    : path_(path), sync_every_(sync_every) {
  fd_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) {
    throw_io(path_, "cannot open for writing", errno);
  }
  struct stat status {};
  const bool fits = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) &&
                    static_cast<uint64_t>(status.st_size) >= size;
  if (!fits || ::ftruncate(fd_, static_cast<off_t>(size)) != 0) {
    const int error = fits ? errno : EINVAL;
    ::close(fd_);
    throw_io(path_, "cannot go on writing", error);
  }
}

AppendFile::~AppendFile() {
  ::close(fd_);
}

void AppendFile::write(std::string_view bytes) {
  if (const int error = write_all(fd_, bytes); error != 0) {
    throw_io(path_, "cannot write", error);
  }
  unsynced_bytes_ += bytes.size();
  if (!synced_ || Clock::now() - *synced_ >= sync_every_) {
    sync();
  }
}

void AppendFile::sync() {
  if (::fdatasync(fd_) != 0) {
    throw_io(path_, "cannot write", errno);
  }
  unsynced_bytes_ = 0;
  synced_ = Clock::now();
}

}  // namespace netcl::base
