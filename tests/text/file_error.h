// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of file readers.
#ifndef NETCL_TESTS_TEXT_FILE_ERROR_H_
#define NETCL_TESTS_TEXT_FILE_ERROR_H_

#include <string>

#include "support/catch.h"

namespace netcl::tests {

// Message of the Error that the action throws.
template <typename Error, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

// `text` with the first `from` in it, which must be there, replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace netcl::tests

#endif  // NETCL_TESTS_TEXT_FILE_ERROR_H_
