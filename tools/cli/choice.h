// SPDX-License-Identifier: Apache-2.0
#ifndef NETCL_TOOLS_CLI_CHOICE_H_
#define NETCL_TOOLS_CLI_CHOICE_H_

#include <string_view>

namespace netcl::cli {

// One allowed value of an option and what it stands for.
template <typename T>
struct Choice {
  std::string_view name;
  T value;
};

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_CHOICE_H_
