// SPDX-License-Identifier: Apache-2.0
#include "base/append_file.h"

#include <chrono>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using netcl::base::AppendFile;
using netcl::base::FileBytes;
using netcl::base::IoError;
using netcl::base::write_file;
using netcl::tests::TempDir;

namespace {

constexpr std::chrono::milliseconds kAlways{0};

}  // namespace

TEST_CASE("append file: adds behind what is kept") {
  const TempDir folder;
  const std::string path = folder.file("journal");
  write_file(path, "first\nsecond\ntorn");
  {
    AppendFile file(path, 13, kAlways);
    CHECK(FileBytes::open(path).view() == "first\nsecond\n");
    file.write("third\n");
    CHECK(FileBytes::open(path).view() == "first\nsecond\nthird\n");
    file.write(std::string(200000, 'x'));
    file.write("");
  }
  CHECK(FileBytes::open(path).view() == "first\nsecond\nthird\n" + std::string(200000, 'x'));
}

TEST_CASE("append file: what cannot be gone on with is refused") {
  const TempDir folder;
  const std::string path = folder.file("journal");
  CHECK_THROWS_AS(AppendFile(path, 0, kAlways), IoError);
  CHECK_THROWS_AS(AppendFile(folder.path().string(), 0, kAlways), IoError);
  CHECK_THROWS_AS(AppendFile("/dev/null", 0, kAlways), IoError);
  write_file(path, "short");
  CHECK_THROWS_AS(AppendFile(path, 6, kAlways), IoError);
  CHECK(FileBytes::open(path).view() == "short");
}

TEST_CASE("append file: many small pieces wait for the disk no more often than said") {
  const TempDir folder;
  const std::string path = folder.file("journal");
  write_file(path, "first\n");
  AppendFile always(path, 6, kAlways);
  AppendFile rarely(path, 6, std::chrono::hours(1));
  for (int i = 0; i < 1000; ++i) {
    always.write("a");
    CHECK(always.unsynced_bytes() == 0);
    rarely.write("bb");
    CHECK(rarely.unsynced_bytes() == 2 * static_cast<uint64_t>(i));  // the first was waited for
  }
  CHECK(FileBytes::open(path).view().size() == 6 + 3000);
  rarely.sync();
  CHECK(rarely.unsynced_bytes() == 0);

  AppendFile sometimes(path, 6, std::chrono::milliseconds(20));
  bool was_synced = false;
  sometimes.write("x");
  for (const auto begin = std::chrono::steady_clock::now();
       !was_synced && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);) {
    sometimes.write("x");
    was_synced = sometimes.unsynced_bytes() == 0;
  }
  CHECK(was_synced);
}
