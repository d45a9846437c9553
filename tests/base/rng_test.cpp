// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include <array>
#include <cmath>

#include "support/catch.h"

using netcl::base::Rng;

TEST_CASE("rng: the same seed gives the same numbers on every machine") {
  Rng rng(1);
  // Recomputed from the published algorithms (SplitMix64 seeding, xoshiro256++) with Python
  // integers.
  CHECK(rng.next() == 14971601782005023387U);
  CHECK(rng.next() == 13781649495232077965U);
  CHECK(rng.next() == 1847458086238483744U);
}

TEST_CASE("rng: normal variates have mean 0 and variance 1") {
  Rng rng(7);
  constexpr int kCount = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / kCount) < 5 / std::sqrt(kCount));
  CHECK(std::abs(squares / kCount - 1) < 5 * std::sqrt(2.0 / kCount));
}

TEST_CASE("rng: bounded integers stay below the bound and hit every value") {
  Rng rng(3);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) {
    ++seen.at(rng.below(7));
  }
  for (const int count : seen) {
    CHECK(count > 800);
  }
  CHECK(rng.below(1) == 0);
}
