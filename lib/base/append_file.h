// SPDX-License-Identifier: Apache-2.0
// Adding to the end of a file that is there, for journals: what was added before stays whatever
// happens to what is being added.
#ifndef NETCL_BASE_APPEND_FILE_H_
#define NETCL_BASE_APPEND_FILE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace netcl::base {

// Not copyable. Bytes go to the system at once, so they stay whatever becomes of the process; they
// go to the disk every so often, for a crash of the machine, since that takes milliseconds. What
// the disk did not get may then be missing or zeros, in any order.
class AppendFile {
 public:
  // Opens a regular file and cuts it off behind `size` bytes, which it has at least. `sync_every`:
  // see write(). Throws IoError.
  AppendFile(const std::string& path, uint64_t size, std::chrono::milliseconds sync_every);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // Adds bytes; with a sync() for the first ones and when `sync_every` has passed since the last
  // one. Throws IoError; some of them may be in the file then.
  void write(std::string_view bytes);
  // Waits until the disk has everything. Throws IoError.
  void sync();

  // Bytes that no sync() has waited for.
  uint64_t unsynced_bytes() const { return unsynced_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string path_;
  std::chrono::milliseconds sync_every_;
  int fd_ = -1;
  uint64_t unsynced_bytes_ = 0;
  std::optional<Clock::time_point> synced_;
};

}  // namespace netcl::base

#endif  // NETCL_BASE_APPEND_FILE_H_
