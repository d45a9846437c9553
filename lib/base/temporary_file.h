// SPDX-License-Identifier: Apache-2.0
// Files for what does not fit into memory.
#ifndef NETCL_BASE_TEMPORARY_FILE_H_
#define NETCL_BASE_TEMPORARY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace netcl::base {

// A file without a name, so that nothing is left of it when the process ends, however it ends.
// Written from begin to end, then read at any place. Movable, not copyable. Not thread-safe.
class TemporaryFile {
 public:
  // In a directory, which must exist. Throws IoError naming it.
  explicit TemporaryFile(const std::string& directory);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept { swap(other); }
  TemporaryFile& operator=(TemporaryFile&& other) noexcept {
    swap(other);
    return *this;
  }

  // Appends bytes, through a buffer; flush() writes what is in it and frees it. Throw IoError, for
  // a full disk too.
  void write(std::string_view bytes);
  void flush();
  uint64_t size() const { return size_; }

  // Reads up to buffer.size() bytes at `offset`; returns the number read, 0 behind the end. What is
  // in the buffer of write() is not there yet. Throws IoError.
  size_t read(uint64_t offset, std::span<char> buffer) const;

 private:
  void write_out(std::string_view bytes);
  void swap(TemporaryFile& other) noexcept {
    std::swap(directory_, other.directory_);
    std::swap(buffer_, other.buffer_);
    std::swap(fd_, other.fd_);
    std::swap(size_, other.size_);
  }

  std::string directory_;
  std::string buffer_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Bytes that the file system of a directory has left for this process. Throws IoError.
uint64_t free_disk_bytes(const std::string& directory);

}  // namespace netcl::base

#endif  // NETCL_BASE_TEMPORARY_FILE_H_
