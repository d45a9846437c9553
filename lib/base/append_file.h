// SPDX-License-Identifier: Apache-2.0
// Adding to the end of a file that is there, for journals: what was added before stays whatever
// happens to what is being added.
#ifndef NETCL_BASE_APPEND_FILE_H_
#define NETCL_BASE_APPEND_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace netcl::base {

// Not copyable. Bytes go to the system at once.
class AppendFile {
 public:
  // Opens a regular file and cuts it off behind `size` bytes, which it has at least. Throws
  // IoError.
  AppendFile(const std::string& path, uint64_t size);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // Adds bytes and waits until the disk has them. Throws IoError; some of them may be in the file
  // then.
  void write(std::string_view bytes);

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace netcl::base

#endif  // NETCL_BASE_APPEND_FILE_H_
