// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/write_all.h"

namespace netcl::base {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

[[noreturn]] void throw_io(const std::string& directory, const char* action, int error) {
  throw IoError(directory + ": " + action + ": " + std::strerror(error));
}

}  // namespace

// Between making the file and removing its name a kill may leave an empty file.
TemporaryFile::TemporaryFile(const std::string& directory) : directory_(directory) {
  fd_ = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0) {
    return;
  }
  // Some file systems have no files without names.
  std::string path = directory + "/netcl-XXXXXX";
  fd_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) {
    throw_io(directory, "cannot create a temporary file", errno);
  }
  ::unlink(path.c_str());
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

void TemporaryFile::write(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    write_out(buffer_);
    buffer_.clear();
  }
  if (bytes.size() > kBufferBytes) {
    write_out(bytes);  // long ones are not held twice
  } else {
    buffer_ += bytes;
  }
}

void TemporaryFile::flush() {
  write_out(buffer_);
  buffer_ = std::string();
}

void TemporaryFile::write_out(std::string_view bytes) {
  if (const int error = write_all(fd_, bytes)) {
    throw_io(directory_, "cannot write a temporary file", error);
  }
}

size_t TemporaryFile::read(uint64_t offset, std::span<char> buffer) const {
  for (;;) {
    const ssize_t got = ::pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (got >= 0) {
      return static_cast<size_t>(got);
    }
    if (errno != EINTR) {
      throw_io(directory_, "cannot read a temporary file", errno);
    }
  }
}

uint64_t free_disk_bytes(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) {
    throw_io(directory, "cannot hold temporary files", errno);
  }
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace netcl::base
