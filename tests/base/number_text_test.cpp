// SPDX-License-Identifier: Apache-2.0
#include "base/number_text.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "support/catch.h"

namespace {

using netcl::base::number_text;

}  // namespace

TEST_CASE("number text: is the shortest that reads back") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(4) == "4");
  CHECK(number_text(1e30) == "1e+30");
  CHECK(number_text(-0.0) == "-0");
  CHECK(number_text(std::numeric_limits<double>::infinity()) == "inf");
  for (const double value : {1.0 / 3, 0.1 + 0.2, 5e-324, 1.7976931348623157e308}) {
    CHECK(std::strtod(number_text(value).c_str(), nullptr) == value);
  }
}
