// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

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

TEST_CASE("file: interrupted outputs are removed by the signal hook") {
  const TempDir dir;
  OutputFile out(dir.file("f"));
  out.write("half");
  out.flush();
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
