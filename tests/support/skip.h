// SPDX-License-Identifier: Apache-2.0
// Skipping a test case that needs something this machine or checkout lacks (Catch2 2.x has no
// SKIP). Each test case runs as a process of its own under ctest, which reads exit code 77 as
// "skipped".
#ifndef NETCL_TESTS_SUPPORT_SKIP_H_
#define NETCL_TESTS_SUPPORT_SKIP_H_

#include <string>

namespace netcl::tests {

// Prints "skipped: <reason>" and records the skip; the test case then returns by itself.
void skip(const std::string& reason);
bool skipped();

// Folder of the project's shared test data, or empty when this checkout has none.
// NETCL_SHARED_DIR in the environment overrides the folder beside the source tree.
std::string shared_dir();

}  // namespace netcl::tests

#endif  // NETCL_TESTS_SUPPORT_SKIP_H_
