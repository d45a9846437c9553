// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "support/catch.h"

using netcl::base::quote;

TEST_CASE("quote: control bytes and broken UTF-8 are escaped") {
  CHECK(quote("plain") == "'plain'");
  CHECK(quote(std::string_view("a\0b", 3)) == "'a\\x00b'");
  CHECK(quote("l1\nl2\r\t\x1B[31m") == "'l1\\nl2\\r\\t\\x1B[31m'");
  CHECK(quote("caf\xC3\xA9") == "'caf\xC3\xA9'");
  CHECK(quote("\xC3") == "'\\xC3'");
  CHECK(quote("\xED\xA0\x80") == "'\\xED\\xA0\\x80'");  // a surrogate is not UTF-8
  CHECK(quote("\xC2\x9B") == "'\\xC2\\x9B'");           // C1 control: terminal escape
}

TEST_CASE("quote: long values are cut after whole characters") {
  CHECK(quote("abcdef", 3) == "'abc'...");
  CHECK(quote("ab\xC3\xA9z", 3) == "'ab\xC3\xA9'...");
  CHECK(quote("", 3) == "''");
}

TEST_CASE("error: each type carries the documented exit code") {
  CHECK(netcl::base::UsageError("x").exit_code() == 2);
  CHECK(netcl::base::FormatError("x").exit_code() == 3);
  CHECK(netcl::base::IoError("x").exit_code() == 4);
  CHECK(netcl::base::DeviceError("x").exit_code() == 5);
  CHECK_THROWS_AS([] { NETCL_CHECK(1 + 1 == 3); }(), std::logic_error);
}
