// SPDX-License-Identifier: Apache-2.0
#include "base/append_file.h"

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

TEST_CASE("append file: adds behind what is kept") {
  const TempDir folder;
  const std::string path = folder.file("journal");
  write_file(path, "first\nsecond\ntorn");
  {
    AppendFile file(path, 13);
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
  CHECK_THROWS_AS(AppendFile(path, 0), IoError);
  CHECK_THROWS_AS(AppendFile(folder.path().string(), 0), IoError);
  CHECK_THROWS_AS(AppendFile("/dev/null", 0), IoError);
  write_file(path, "short");
  CHECK_THROWS_AS(AppendFile(path, 6), IoError);
  CHECK(FileBytes::open(path).view() == "short");
}
