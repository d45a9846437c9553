// SPDX-License-Identifier: Apache-2.0
// The error types of the toolkit. Every failure that a caller or a user can cause is one of these
// exceptions; what() is a complete one-line message of the form "where: what; hint" without a
// trailing newline. `where` is a path, path:line (text), path@byte (binary), a tensor or a kernel
// name. The tools map each type to its exit code (design.md section 4).
#ifndef NETCL_BASE_ERROR_H_
#define NETCL_BASE_ERROR_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace netcl::base {

// Base of all errors; exit_code() is the process exit status a tool ends with.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// The request contradicts itself or names an option value that does not exist. Exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(2, message) {}
};

// Input is not what it claims to be: damaged file, wrong shape or dtype, refused text. Exit code 3.
class FormatError : public Error {
 public:
  explicit FormatError(const std::string& message) : Error(3, message) {}
};

// Something cannot be opened, read, written or renamed. Exit code 4.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(4, message) {}
};

// No device, a failed kernel build, device memory exhausted, an OpenCL call failed. Exit code 5.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(5, message) {}
};

// Message places: "path:12" for a line of text, "path@345" for a byte of a binary file.
std::string at_line(std::string_view path, uint64_t line);
std::string at_byte(std::string_view path, uint64_t byte);

// Text of an input value made safe to show in a one-line message: control and non-ASCII-printable
// bytes are escaped (\n, \xNN; valid UTF-8 is kept), at most `max_bytes` bytes are shown, then
// "...".
std::string quote(std::string_view bytes, size_t max_bytes = 60);

// Our own bug: a broken invariant. Throws std::logic_error (tools end with 70). Never for input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace netcl::base

#define NETCL_CHECK(condition)                                     \
  do {                                                             \
    if (!(condition)) {                                            \
      ::netcl::base::check_failed(#condition, __FILE__, __LINE__); \
    }                                                              \
  } while (false)

#endif  // NETCL_BASE_ERROR_H_
