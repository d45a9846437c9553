// SPDX-License-Identifier: Apache-2.0
// main() of every test program: exit 0 all passed, 1 something failed (Catch2 2.x returns the
// number of failures, which could collide with the skip code), 77 a test skipped itself and none
// failed.
#include "support/skip.h"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  const int result = Catch::Session().run(argc, argv);
  if (result != 0) {
    return 1;
  }
  return netcl::tests::skipped() ? 77 : 0;
}
