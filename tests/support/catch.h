// SPDX-License-Identifier: Apache-2.0
// The one place that chooses between Catch2 2.x (Debian 12) and 3.x. 3.x is not tested on
// Debian 12.
#ifndef NETCL_TESTS_SUPPORT_CATCH_H_
#define NETCL_TESTS_SUPPORT_CATCH_H_

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#endif  // NETCL_TESTS_SUPPORT_CATCH_H_
