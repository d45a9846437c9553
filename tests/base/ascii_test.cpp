// SPDX-License-Identifier: Apache-2.0
#include "base/ascii.h"

#include "support/catch.h"

using namespace netcl::base;

TEST_CASE("ascii: capital letters become small ones and other bytes stay") {
  CHECK(ascii_lower("aZ@[`{09\xC3\x84") == "az@[`{09\xC3\x84");
  CHECK(ascii_lower("").empty());
}

TEST_CASE("ascii: an extension is found in capital letters too") {
  CHECK(has_extension("a.npy", ".npy"));
  CHECK(has_extension("A.B.NpY", ".npy"));
  CHECK(has_extension(".npy", ".npy"));
  CHECK_FALSE(has_extension("a.npy.gz", ".npy"));
  CHECK_FALSE(has_extension("npy", ".npy"));
  CHECK_FALSE(has_extension("", ".npy"));
}
