// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace netcl::base {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

bool is_standard_stream(std::string_view path) {
  return path.empty() || path == "-";
}

[[noreturn]] void throw_io(std::string_view path, std::string_view action, int error) {
  throw IoError(display_path(path) + ": " + std::string(action) + ": " + std::strerror(error));
}

int open_for_reading(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    throw_io(path, "cannot open", errno);
  }
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(fd);
    throw IoError(path + ": is a directory; give a file");
  }
  return fd;
}

size_t read_some(int fd, const std::string& path, char* data, size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd, data, size);
    if (got >= 0) {
      return static_cast<size_t>(got);
    }
    if (errno != EINTR) {
      throw_io(path, "cannot read", errno);
    }
  }
}

[[noreturn]] void refuse_length(const std::string& path, uint64_t most_bytes, const char* hint) {
  throw FormatError(display_path(path) + ": is longer than " + std::to_string(most_bytes) +
                    " bytes, the most that is read as a whole" + hint);
}

std::string read_all(int fd, const std::string& path, uint64_t most_bytes, const char* hint) {
  const uint64_t most_room = most_bytes < UINT64_MAX / 2 ? most_bytes + kBufferBytes : UINT64_MAX;
  std::string bytes;
  size_t used = 0;
  for (;;) {
    if (bytes.size() - used < kBufferBytes) {
      const size_t room = std::max(bytes.size() * 2, size_t{4} * kBufferBytes);
      bytes.resize(std::min<uint64_t>(room, most_room));
    }
    const size_t got = read_some(fd, path, bytes.data() + used, bytes.size() - used);
    if (got == 0) {
      bytes.resize(used);
      return bytes;
    }
    used += got;
    if (used > most_bytes) {
      refuse_length(path, most_bytes, hint);
    }
  }
}

// Names of unfinished temporary files, in fixed storage so that a signal handler can walk them.
struct TemporaryName {
  std::atomic<bool> used{false};
  std::atomic<bool> ready{false};
  std::array<char, 4096> path{};
};
using TemporaryNames = std::array<TemporaryName, 16>;
TemporaryNames own_names;
TemporaryNames* temporary_names = &own_names;
std::atomic<uint64_t> removals{0};  // calls of remove_temporary_files() so far

void remember_temporary(const std::string& path) {
  for (TemporaryName& slot : *temporary_names) {
    if (path.size() < slot.path.size() && !slot.used.exchange(true)) {
      std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
      slot.ready.store(true);
      return;
    }
  }
}

void forget_temporary(const std::string& path) {
  for (TemporaryName& slot : *temporary_names) {
    if (slot.ready.load() && path == slot.path.data()) {
      slot.ready.store(false);
      slot.used.store(false);
      return;
    }
  }
}

// The temporary name of a result, six random letters behind it.
std::string temporary_name(const std::string& path) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz012345";
  std::array<unsigned char, 6> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw_io(path, "cannot create", errno);
  }
  std::string name = path + ".tmp.";
  for (const unsigned char byte : random) {
    name += kLetters[byte % kLetters.size()];
  }
  return name;
}

// Finds a name for which make(name) gives no error, which is returned; empty, with errno, when
// there is none. The name is remembered before the file is there, so a signal at any time removes
// it; one that came in between found nothing to remove, and then this is undone.
template <typename Make>
std::string make_temporary(const std::string& path, const Make& make) {
  constexpr int kMostTries = 100;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const uint64_t before = removals.load();
    std::string name = temporary_name(path);
    remember_temporary(name);
    const bool made = make(name.c_str());
    const int error = made ? EINTR : errno;
    if (made && removals.load() == before) {
      return name;
    }
    if (made) {
      ::unlink(name.c_str());
    }
    forget_temporary(name);
    errno = error;
    if (!made && error != EEXIST) {
      break;
    }
  }
  return "";
}

// The name of an open file in /proc, by which one without a name can get one.
std::string descriptor_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// A file without a name in the directory of `path`; -1 where the system has none.
int open_unnamed(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const int fd =
      ::open(directory.empty() ? "." : directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0 && ::access(descriptor_path(fd).c_str(), F_OK) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

std::string display_path(std::string_view path) {
  return is_standard_stream(path) ? "<stdin>" : std::string(path);
}

FileBytes FileBytes::open(const std::string& path, uint64_t most_bytes) {
  return open_limited(path, most_bytes, most_bytes);
}

FileBytes FileBytes::open_large(const std::string& path, uint64_t most_bytes) {
  return open_limited(path, UINT64_MAX, most_bytes);
}

FileBytes FileBytes::open_limited(const std::string& path, uint64_t most_mapped,
                                  uint64_t most_read) {
  const char* const hint = most_mapped > most_read ? " from a pipe; a file may be longer" : "";
  FileBytes file;
  file.path_ = display_path(path);
  if (is_standard_stream(path)) {
    file.owned_ = read_all(STDIN_FILENO, path, most_read, hint);
  } else {
    const int fd = open_for_reading(path);
    struct stat status {};
    void* address = MAP_FAILED;
    if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      if (static_cast<uint64_t>(status.st_size) > most_mapped) {
        ::close(fd);
        refuse_length(path, most_mapped, hint);
      }
      address = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (address != MAP_FAILED) {
      file.data_ = static_cast<const char*>(address);
      file.size_ = static_cast<size_t>(status.st_size);
      file.mapped_ = true;
    } else {
      try {
        file.owned_ = read_all(fd, path, most_read, hint);
      } catch (...) {
        ::close(fd);
        throw;
      }
    }
    ::close(fd);
  }
  if (!file.mapped_) {
    file.data_ = file.owned_.data();
    file.size_ = file.owned_.size();
  }
  return file;
}

FileBytes::FileBytes(FileBytes&& other) noexcept {
  *this = std::move(other);
}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  std::swap(owned_, other.owned_);
  std::swap(path_, other.path_);
  if (!mapped_) {  // a short string's bytes move with the object
    data_ = owned_.data();
  }
  if (!other.mapped_) {
    other.data_ = other.owned_.data();
  }
  return *this;
}

FileBytes::~FileBytes() {
  if (mapped_) {
    ::munmap(const_cast<char*>(data_), size_);
  }
}

void drop_mapped_pages(std::string_view bytes) {
  static const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = (page - reinterpret_cast<uintptr_t>(bytes.data()) % page) % page;
  if (bytes.size() >= before + page) {
    ::madvise(const_cast<char*>(bytes.data()) + before, (bytes.size() - before) / page * page,
              MADV_DONTNEED);
  }
}

ChunkReader::ChunkReader(const std::string& path) : path_(display_path(path)) {
  if (is_standard_stream(path)) {
    fd_ = STDIN_FILENO;
  } else {
    fd_ = open_for_reading(path);
    owns_fd_ = true;
  }
}

ChunkReader::~ChunkReader() {
  if (owns_fd_) {
    ::close(fd_);
  }
}

size_t ChunkReader::read(std::span<char> buffer) {
  return read_some(fd_, path_, buffer.data(), buffer.size());
}

int named_descriptor(const std::string& given) {
  constexpr int kMostLinks = 40;
  std::filesystem::path path = given;
  for (int links = 0; links < kMostLinks; ++links) {
    const std::string name = path.lexically_normal().string();
    if (name == "/dev/stdout" || name == "/dev/stderr") {
      return name == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"}) {
      const std::string_view number =
          std::string_view(name).substr(std::min(folder.size(), name.size()));
      int descriptor = -1;
      const auto end = std::from_chars(number.data(), number.data() + number.size(), descriptor);
      if (name.starts_with(folder) && end.ec == std::errc() &&
          end.ptr == number.data() + number.size() && descriptor >= 0) {
        return descriptor;
      }
    }
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) {
      return -1;
    }
    path = path.parent_path() / target;  // the target alone where it is absolute
  }
  return -1;
}

OutputFile::OutputFile(const std::string& path)
    : path_(is_standard_stream(path) ? std::string("-") : path) {
  struct stat status {};
  if (path_ == "-") {
    fd_ = STDOUT_FILENO;
    return;
  }
  // Its file is somebody else's, who may write on: never replaced.
  if (const int descriptor = named_descriptor(path_); descriptor >= 0) {
    fd_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) {
      throw_io(path_, "cannot open for writing", errno);
    }
    owns_fd_ = true;
    return;
  }
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw IoError(path_ + ": is a directory; give a file name");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) {
      throw_io(path_, "cannot open for writing", errno);
    }
    owns_fd_ = true;
    return;
  }
  path_ = follow_links(path_);
  replaces_ = exists;
  fd_ = open_unnamed(path_);
  is_unnamed_ = fd_ >= 0;
  if (!is_unnamed_) {
    temp_path_ = make_temporary(path_, [&](const char* name) {
      fd_ = ::open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
      return fd_ >= 0;
    });
    if (temp_path_.empty()) {
      throw_io(path_, "cannot create", errno);
    }
  }
  owns_fd_ = true;
  seekable_ = true;
  // It is 0600 so far; a result file gets what open() would have given it, or keeps its mode.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, exists ? (status.st_mode & 07777) : (0666 & ~mask));
}

OutputFile::~OutputFile() {
  if (owns_fd_ && fd_ >= 0) {
    ::close(fd_);
  }
  if (!committed_ && !temp_path_.empty()) {
    ::unlink(temp_path_.c_str());
    forget_temporary(temp_path_);
  }
}

void OutputFile::write_fd(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
    } else if (put < 0 && errno == EPIPE) {
      throw BrokenPipe{};
    } else if (put < 0 && errno != EINTR) {
      throw_io(path_ == "-" ? "<stdout>" : path_, "cannot write", errno);
    }
  }
}

void OutputFile::write(std::string_view bytes) {
  NETCL_CHECK(!committed_);
  if (buffer_.size() + bytes.size() < kBufferBytes) {
    buffer_ += bytes;
    return;
  }
  flush();
  if (bytes.size() < kBufferBytes) {
    buffer_ = bytes;
  } else {
    write_fd(bytes);
  }
}

void OutputFile::flush() {
  write_fd(buffer_);
  buffer_.clear();
}

void OutputFile::overwrite(uint64_t offset, std::string_view bytes) {
  NETCL_CHECK(seekable_ && !committed_);
  flush();
  uint64_t at = offset;
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (put > 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
      at += static_cast<uint64_t>(put);
    } else if (put < 0 && errno != EINTR) {
      throw_io(path_, "cannot write", errno);
    }
  }
}

void OutputFile::finish() {
  NETCL_CHECK(!committed_);
  flush();
  if (is_unnamed_) {
    temp_path_ = make_temporary(path_, [&](const char* name) {
      return ::linkat(AT_FDCWD, descriptor_path(fd_).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) ==
             0;
    });
    if (temp_path_.empty()) {
      throw_io(path_, "cannot create", errno);
    }
    is_unnamed_ = false;
  }
  if (owns_fd_ && fd_ >= 0) {
    const int result = ::close(fd_);
    const int error = errno;
    fd_ = -1;
    if (result != 0 && error != EINTR) {
      throw_io(path_, "cannot finish writing", error);
    }
  }
}

void OutputFile::commit() {
  finish();
  if (!temp_path_.empty()) {
    if (::rename(temp_path_.c_str(), path_.c_str()) != 0) {
      throw_io(path_, "cannot rename the finished file into place", errno);
    }
    forget_temporary(temp_path_);
  }
  committed_ = true;
}

void OutputFile::withdraw() noexcept {
  if (committed_ && !temp_path_.empty() && !replaces_) {
    ::unlink(path_.c_str());
  }
}

void commit_all(std::span<OutputFile* const> files) {
  for (const bool in_place : {false, true}) {
    for (OutputFile* file : files) {
      if (file->seekable_ != in_place) {
        file->finish();
      }
    }
  }
  try {
    for (OutputFile* file : files) {
      file->commit();
    }
  } catch (...) {
    for (OutputFile* file : files) {
      file->withdraw();
    }
    throw;
  }
}

std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::string at = path;
  for (int link = 0; link <= kMostLinks; ++link) {
    std::array<char, 4096> target{};
    const ssize_t size = ::readlink(at.c_str(), target.data(), target.size());
    if (size < 0) {
      return at;  // no link, or nothing
    }
    const std::string_view to(target.data(), static_cast<size_t>(size));
    at.resize(to.starts_with('/') ? 0 : at.rfind('/') + 1);
    at += to;
  }
  throw_io(path, "cannot create", ELOOP);
}

void write_file(const std::string& path, std::string_view bytes) {
  OutputFile out(path);
  out.write(bytes);
  out.commit();
}

void remove_temporary_files() noexcept {
  removals.fetch_add(1);
  for (TemporaryName& slot : *temporary_names) {
    if (slot.ready.load()) {
      ::unlink(slot.path.data());
    }
  }
}

void share_temporary_names() {
  void* address = ::mmap(nullptr, sizeof(TemporaryNames), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    throw std::bad_alloc();
  }
  temporary_names = new (address) TemporaryNames;  // lives as long as the process
}

const CompressedKind* find_compressed_kind(std::string_view first_bytes) {
  constexpr std::string_view kXzMagic(
      "\xFD"
      "7zXZ\x00",
      6);
  static constexpr CompressedKind kKinds[] = {{"\x1F\x8B", "gzip", "gzip -dc"},
                                              {"\x28\xB5\x2F\xFD", "zstd", "zstd -dc"},
                                              {kXzMagic, "xz", "xz -dc"},
                                              {"BZh91AY&SY", "bzip2", "bzip2 -dc"}};
  const auto* kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const CompressedKind& one) {
        return first_bytes.substr(0, one.magic.size()) == one.magic;
      });
  return kind == std::end(kKinds) ? nullptr : kind;
}

}  // namespace netcl::base
