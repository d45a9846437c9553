// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using netcl::base::FileBytes;
using netcl::base::OutputFile;
using netcl::tests::TempDir;

namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t entries(const TempDir& dir) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(dir.path()), {}));
}

}  // namespace

TEST_CASE("file: bytes survive writing and mapping unchanged") {
  const TempDir dir;
  std::string bytes;
  for (int i = 0; i < 300000; ++i) {
    bytes += static_cast<char>(i * 7);
  }
  netcl::base::write_file(dir.file("f"), bytes);
  FileBytes file = FileBytes::open(dir.file("f"));
  CHECK(file.view() == bytes);
  const FileBytes moved = std::move(file);
  CHECK(moved.view() == bytes);
}

TEST_CASE("file: an empty file and a short moved file keep their bytes") {
  const TempDir dir;
  netcl::base::write_file(dir.file("empty"), "");
  CHECK(FileBytes::open(dir.file("empty")).view().empty());
  ::mkfifo(dir.file("pipe").c_str(), 0600);
  if (::fork() == 0) {
    std::ofstream(dir.file("pipe")) << "tiny";
    ::_exit(0);
  }
  FileBytes file = FileBytes::open(dir.file("pipe"));
  const FileBytes moved = std::move(file);
  CHECK(moved.view() == "tiny");
}

TEST_CASE("file: what is longer than it may be is refused with name and limit, read or mapped") {
  using netcl::base::FormatError;
  const TempDir dir;
  const std::string path = dir.file("f");
  const std::string bytes(200000, 'x');
  netcl::base::write_file(path, bytes);
  CHECK(FileBytes::open(path, bytes.size()).view() == bytes);
  CHECK_THROWS_AS(FileBytes::open(path, bytes.size() - 1), FormatError);
  CHECK_THROWS_WITH(FileBytes::open(path, 199999),
                    path + ": is longer than 199999 bytes, the most that is read as a whole");
  CHECK(FileBytes::open_large(path, 1).view() == bytes);
  CHECK_THROWS_WITH(FileBytes::open("/dev/zero", 199999),
                    "/dev/zero: is longer than 199999 bytes, the most that is read as a whole");
  CHECK_THROWS_WITH(FileBytes::open_large("/dev/zero", 0),
                    Catch::EndsWith(" from a pipe; a file may be longer"));
  CHECK_THROWS_AS(FileBytes::open("/dev/zero"), FormatError);
  // A file of holes is as long as a real one.
  std::filesystem::resize_file(path, netcl::base::kMostParsedBytes + 1);
  CHECK_THROWS_AS(FileBytes::open(path), FormatError);
  CHECK(FileBytes::open_large(path).view().size() == netcl::base::kMostParsedBytes + 1);
  // A pipe that ends where it may.
  ::mkfifo(dir.file("pipe").c_str(), 0600);
  for (const size_t most : {bytes.size(), bytes.size() - 1}) {
    if (::fork() == 0) {
      ::signal(SIGPIPE, SIG_DFL);
      std::ofstream(dir.file("pipe")) << bytes;
      ::_exit(0);
    }
    if (most == bytes.size()) {
      CHECK(FileBytes::open(dir.file("pipe"), most).view() == bytes);
    } else {
      CHECK_THROWS_AS(FileBytes::open(dir.file("pipe"), most), FormatError);
    }
  }
}

TEST_CASE("file: missing files and directories are IoErrors that name the path") {
  const TempDir dir;
  CHECK_THROWS_AS(FileBytes::open(dir.file("absent")), netcl::base::IoError);
  CHECK_THROWS_WITH(FileBytes::open(dir.path().string()),
                    dir.path().string() + ": is a directory; give a file");
  CHECK_THROWS_AS(OutputFile(dir.file("no/such/folder")), netcl::base::IoError);
  CHECK_THROWS_AS(OutputFile(dir.path().string()), netcl::base::IoError);
}

TEST_CASE("file: without commit the old file stays and nothing is left behind") {
  const TempDir dir;
  netcl::base::write_file(dir.file("f"), "old");
  {
    OutputFile out(dir.file("f"));
    out.write("new");
    out.flush();
  }
  CHECK(slurp(dir.file("f")) == "old");
  CHECK(entries(dir) == 1);
}

TEST_CASE("file: commit replaces the file and keeps its mode") {
  const TempDir dir;
  netcl::base::write_file(dir.file("f"), "old");
  ::chmod(dir.file("f").c_str(), 0640);
  std::filesystem::create_symlink("f", dir.path() / "link");
  OutputFile out(dir.file("link"));
  out.write("new bytes");
  out.overwrite(0, "NEW");
  out.commit();
  CHECK(slurp(dir.file("f")) == "NEW bytes");
  CHECK(std::filesystem::is_symlink(dir.path() / "link"));
  struct stat status {};
  ::stat(dir.file("f").c_str(), &status);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(entries(dir) == 2);
}

TEST_CASE("file: a link to nothing stays and what it points to is made") {
  const TempDir dir;
  std::filesystem::create_directory(dir.path() / "sub");
  std::filesystem::create_symlink("sub", dir.path() / "to_sub");
  std::filesystem::create_symlink("../deep", dir.path() / "sub" / "inner");
  std::filesystem::create_symlink("to_sub/inner", dir.path() / "link");
  {
    OutputFile out(dir.file("link"));
    out.write("lost");
  }
  CHECK(entries(dir) == 3);
  netcl::base::write_file(dir.file("link"), "bytes");
  CHECK(slurp(dir.file("deep")) == "bytes");
  CHECK(std::filesystem::is_symlink(dir.path() / "link"));
  CHECK(std::filesystem::is_symlink(dir.path() / "sub" / "inner"));
  CHECK(netcl::base::follow_links(dir.file("link")) == dir.file("to_sub/../deep"));
  CHECK(netcl::base::follow_links(dir.file("absent")) == dir.file("absent"));
  std::filesystem::create_symlink(dir.path() / "absolute", dir.path() / "far");
  netcl::base::write_file(dir.file("far"), "bytes");
  CHECK(slurp(dir.file("absolute")) == "bytes");
}

TEST_CASE("file: links in a circle are an IoError and stay") {
  const TempDir dir;
  std::filesystem::create_symlink("b", dir.path() / "a");
  std::filesystem::create_symlink("a", dir.path() / "b");
  CHECK_THROWS_AS(OutputFile(dir.file("a")), netcl::base::IoError);
  CHECK(std::filesystem::is_symlink(dir.path() / "a"));
  CHECK(entries(dir) == 2);
}

TEST_CASE("file: of results committed together none gets its name when one cannot be written") {
  if (!std::filesystem::exists("/dev/full")) {
    return;
  }
  const TempDir dir;
  netcl::base::write_file(dir.file("old"), "old");
  OutputFile full("/dev/full");
  OutputFile fresh(dir.file("new"));
  OutputFile replaced(dir.file("old"));
  for (OutputFile* out : {&full, &fresh, &replaced}) {
    out->write("x");
  }
  OutputFile* const all[] = {&fresh, &full, &replaced};
  CHECK_THROWS_AS(netcl::base::commit_all(all), netcl::base::IoError);
  CHECK_FALSE(std::filesystem::exists(dir.file("new")));
  CHECK(slurp(dir.file("old")) == "old");
}

TEST_CASE("file: of results committed together none is left when one cannot get its name") {
  const TempDir dir;
  netcl::base::write_file(dir.file("old"), "old");
  {
    OutputFile fresh(dir.file("new"));
    OutputFile replaced(dir.file("old"));
    OutputFile taken(dir.file("taken"));
    for (OutputFile* out : {&fresh, &replaced, &taken}) {
      out->write("x");
    }
    std::filesystem::create_directory(dir.path() / "taken");
    OutputFile* const all[] = {&fresh, &replaced, &taken};
    CHECK_THROWS_AS(netcl::base::commit_all(all), netcl::base::IoError);
  }
  CHECK_FALSE(std::filesystem::exists(dir.file("new")));
  CHECK(slurp(dir.file("old")) == "x");
  CHECK(entries(dir) == 2);
}

TEST_CASE("file: interrupted outputs are removed by the signal hook") {
  const TempDir dir;
  OutputFile out(dir.file("f"));
  out.write("half");
  out.flush();
  CHECK(entries(dir) <= 1);  // none where the file system has files without names
  out.finish();
  CHECK(entries(dir) == 1);
  netcl::base::remove_temporary_files();
  CHECK(entries(dir) == 0);
}

TEST_CASE("file: a full device is an IoError") {
  if (!std::filesystem::exists("/dev/full")) {
    return;
  }
  OutputFile out("/dev/full");
  out.write("x");
  CHECK_THROWS_AS(out.commit(), netcl::base::IoError);
}
