// SPDX-License-Identifier: Apache-2.0
// Token ids as .npy files (NumPy's format, versions 1 to 3): one-dimensional arrays of integers in,
// arrays of <u4 or <u8 out. Self-contained, so that the tokenizer tools need no tensor library.
// Source of the format: numpy.lib.format documentation.
#ifndef NETCL_TEXT_ID_FILE_H_
#define NETCL_TEXT_ID_FILE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace netcl::text {

// The first six bytes of every .npy file.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Ids of a .npy file that arrives in parts. Accepts any integer type of 1, 2, 4 or 8 bytes in
// either byte order and a shape of exactly one axis. Memory: the header, of 1 MiB at most, and a
// part. Not thread-safe.
class NpyIdReader {
 public:
  // `where` names the file in messages.
  explicit NpyIdReader(std::string where) : where_(std::move(where)) {}

  // Appends the ids that `bytes`, which go on where those before stopped, complete. Throws
  // FormatError ("where@byte" or "where") when the header is damaged, the type is no integer, the
  // array is not one-dimensional, there are more bytes than the header says, or a value does not
  // fit an id (message names its position).
  void push(std::string_view bytes, std::vector<uint32_t>& ids);
  // The end of the file. Throws FormatError when something is missing.
  void finish();

 private:
  void read_header(bool at_end);
  void append_ids(std::string_view bytes, std::vector<uint32_t>& ids);

  std::string where_;
  std::string kept_;  // the header so far, later the bytes of a number that is not complete
  bool has_header_ = false;
  bool big_endian_ = false;
  bool is_signed_ = false;
  size_t element_bytes_ = 0;
  uint64_t data_begin_ = 0;
  uint64_t count_ = 0;  // numbers that the header promises
  uint64_t done_ = 0;   // numbers so far
};

// Ids of a .npy file in memory. Throws as NpyIdReader.
std::vector<uint32_t> parse_npy_ids(std::string_view bytes, const std::string& where);

enum class NpyNumber { kU32, kU64 };

// Writes one array whose length is not known beforehand. A seekable destination gets its header
// corrected at the end; any other is fed from an unnamed temporary file in finish(), because the
// header stands before the numbers. Not thread-safe.
class NpyWriter {
 public:
  // `columns` = 0 writes a one-dimensional array, otherwise [count / columns, columns]. The writer
  // refers to `out`, which must have nothing written to it yet. Throws IoError.
  NpyWriter(base::OutputFile& out, NpyNumber number, uint64_t columns = 0);

  // Appends numbers of the type given to the constructor; the other type is a bug.
  void write(std::span<const uint32_t> numbers);
  void write(std::span<const uint64_t> numbers);
  // Completes the array; `out` is still to be committed. The count must be a multiple of columns.
  void finish();
  // Numbers written so far.
  uint64_t count() const { return count_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(std::string_view bytes);
  std::string header(uint64_t count) const;

  base::OutputFile& out_;
  NpyNumber number_;
  uint64_t columns_;
  uint64_t count_ = 0;
  std::unique_ptr<std::FILE, CloseFile> spool_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_ID_FILE_H_
