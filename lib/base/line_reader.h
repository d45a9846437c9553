// SPDX-License-Identifier: Apache-2.0
// A text file line by line with the memory of its longest line.
#ifndef NETCL_BASE_LINE_READER_H_
#define NETCL_BASE_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace netcl::base {

// Lines end with LF, which is no part of them; any other byte is. Not thread-safe.
class LineReader {
 public:
  // Opens a file or "-". Throws IoError.
  explicit LineReader(const std::string& path, uint64_t most_line_bytes = kMostParsedBytes);

  // Goes to the next line; false at the end. Throws IoError; FormatError for a line of more than
  // most_line_bytes.
  bool next();

  // The line that next() went to; the view lives until the following call of next().
  std::string_view line() const { return line_; }
  // Its number, from 1; 0 before the first call.
  uint64_t line_number() const { return line_number_; }
  // Whether it ended with LF: false only for a last line without one.
  bool complete() const { return complete_; }
  // "path:12", for messages.
  std::string where() const;

  const std::string& path() const { return reader_.path(); }
  // Bytes of the file that were read so far, some of them perhaps for lines to come.
  uint64_t read_bytes() const { return read_bytes_; }
  // Bytes of all lines up to the present one, line ends included.
  uint64_t passed_bytes() const { return passed_bytes_; }

 private:
  void fill();
  [[noreturn]] void refuse_line() const;

  ChunkReader reader_;
  uint64_t most_line_bytes_;
  std::string buffer_;
  size_t begin_ = 0;  // of the next line in buffer_
  size_t used_ = 0;   // bytes of buffer_ that hold text
  bool at_end_ = false;
  std::string_view line_;
  uint64_t line_number_ = 0;
  bool complete_ = true;
  uint64_t read_bytes_ = 0;
  uint64_t passed_bytes_ = 0;
};

// Throws FormatError for a line of more than `most_bytes`; `where` is its place.
[[noreturn]] void refuse_long_line(const std::string& where, uint64_t most_bytes);

}  // namespace netcl::base

#endif  // NETCL_BASE_LINE_READER_H_
