// SPDX-License-Identifier: Apache-2.0
// Files as bytes: whole-file and mapped reading, chunked reading of pipes, atomic writing. No
// newline translation anywhere; "-" names standard input or output.
#ifndef NETCL_BASE_FILE_H_
#define NETCL_BASE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace netcl::base {

// Path shown in messages: "-" becomes "<stdin>".
std::string display_path(std::string_view path);

// The most bytes that a file which is parsed as a whole may have (a tokenizer, its special tokens,
// a template, settings), and a line of text. Real ones have tens of megabytes; what is longer is
// another kind of file, or one without end such as /dev/zero.
inline constexpr uint64_t kMostParsedBytes = uint64_t{1} << 30;
// The most bytes of a text that has to be in memory as a whole and comes from a pipe.
inline constexpr uint64_t kMostPipedBytes = uint64_t{1} << 32;

// The bytes of one file, mapped read-only where the file can be mapped, else read into memory
// (pipes, "-", empty files). Movable, not copyable; the bytes live as long as the object. Throws
// IoError when the file cannot be opened or read, or is a directory; FormatError naming the limit
// when it is longer, before more than that was read. A file truncated by another process while it
// is mapped ends this process with SIGBUS, as with every mapping reader.
class FileBytes {
 public:
  // A file of at most `most_bytes`.
  static FileBytes open(const std::string& path, uint64_t most_bytes = kMostParsedBytes);
  // A text or tensor: of any size where it can be mapped, else of at most `most_bytes`.
  static FileBytes open_large(const std::string& path, uint64_t most_bytes = UINT64_MAX);
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&& other) noexcept;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  std::string_view view() const { return {data_, size_}; }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(data_), size_};
  }
  // Path for messages, as given to open().
  const std::string& path() const { return path_; }
  // Whether the bytes are a mapping of the file, for drop_mapped_pages().
  bool is_mapped() const { return mapped_; }

 private:
  FileBytes() = default;
  static FileBytes open_limited(const std::string& path, uint64_t most_mapped, uint64_t most_read);
  const char* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  std::string owned_;
  std::string path_;
};

// Gives back the memory of the whole pages among `bytes`, which lie in the mapping of a FileBytes:
// a file that is read from begin to end need not be in memory as a whole. The bytes stay readable;
// they come from the file again.
void drop_mapped_pages(std::string_view bytes);

// Reads a file or "-" piece by piece with bounded memory. Throws IoError.
class ChunkReader {
 public:
  explicit ChunkReader(const std::string& path);
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;

  // Reads up to buffer.size() bytes; returns the number read, 0 at the end. A pipe returns what is
  // there, so a consumer sees data as soon as the producer wrote it.
  size_t read(std::span<char> buffer);
  const std::string& path() const { return path_; }

 private:
  int fd_ = -1;
  bool owns_fd_ = false;
  std::string path_;
};

// Destination of results. With a path, bytes go to a temporary file beside it that commit() renames
// over the path; without commit() (an exception, an early return) the temporary file is removed and
// the old file stays as it was. Where the file system has files without names, this one gets its
// temporary name right before it is renamed, so that not even a kill leaves anything. With "-" or
// an empty path, bytes go to standard output at once. A path that names a special file (a FIFO,
// /dev/null) or an open descriptor (/dev/stdout, /dev/fd/3), whatever is behind it, is written in
// place; where it is a symbolic link, the file behind the link is made or replaced. Every failure
// to write is an IoError; a closed pipe on standard output is BrokenPipe.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  // Sends buffered bytes on (for interactive pipes).
  void flush();
  // True when bytes go to a seekable file, so rewind_and_write() works.
  bool seekable() const { return seekable_; }
  // Replaces the bytes at `offset`, which must have been written before. Only when seekable().
  void overwrite(uint64_t offset, std::string_view bytes);
  // Hands on what is still held and closes the file, so that the name alone is missing. Nothing may
  // be written afterwards.
  void finish();
  // finish(), and makes the result visible under its name. Must be the last call.
  void commit();

 private:
  friend void commit_all(std::span<OutputFile* const> files);
  void write_fd(std::string_view bytes);
  // Takes a committed result back unless it replaced a file.
  void withdraw() noexcept;
  std::string path_;
  std::string temp_path_;
  std::string buffer_;
  int fd_ = -1;
  bool owns_fd_ = false;
  bool seekable_ = false;
  bool replaces_ = false;  // a file was there
  bool is_unnamed_ = false;
  bool committed_ = false;
};

// Commits the results of one run together: each is written to its end, what is written in place
// (standard output) last, before the first gets its name. When a file cannot get its name, those
// that did are removed, except where they replaced a file. Throws as OutputFile::commit().
void commit_all(std::span<OutputFile* const> files);

// The file that an OutputFile of this path would make or replace: where symbolic links at its end
// point, whether or not a file is there. Throws IoError for links that go round in a circle.
std::string follow_links(const std::string& path);

// The open descriptor that a path names, /dev/stdout and /dev/fd/3 for example, itself or by
// symbolic links; -1 for any other.
int named_descriptor(const std::string& path);

// The reader of our standard output went away: tools end quietly.
class BrokenPipe {};

// Writes the whole of `bytes` to `path` through OutputFile.
void write_file(const std::string& path, std::string_view bytes);

// Removes the temporary files of all OutputFile objects that are still open. Async-signal-safe, so
// a tool's SIGINT handler may call it before it ends the process.
void remove_temporary_files() noexcept;

// Keeps the names that remove_temporary_files() walks in memory that processes forked later share
// with this one, so that a parent can clean up after a child. Call it before any OutputFile.
void share_temporary_names();

// A kind of compressed file, and what unpacks it to standard output.
struct CompressedKind {
  std::string_view magic;
  const char* name;
  const char* command;
};
// The kind of a file that begins so (gzip, zstd, xz, bzip2), or null.
const CompressedKind* find_compressed_kind(std::string_view first_bytes);

}  // namespace netcl::base

#endif  // NETCL_BASE_FILE_H_
