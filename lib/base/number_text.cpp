// SPDX-License-Identifier: Apache-2.0
#include "base/number_text.h"

#include <charconv>
#include <system_error>

#include "base/error.h"

namespace netcl::base {

std::string number_text(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  NETCL_CHECK(error == std::errc());
  return {buffer, end};
}

}  // namespace netcl::base
