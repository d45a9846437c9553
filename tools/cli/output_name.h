// SPDX-License-Identifier: Apache-2.0
// Names of results that promise a format. A file whose bytes are others than its name says misleads
// whoever opens it later, so such a name is a usage error before the work.
#ifndef NETCL_TOOLS_CLI_OUTPUT_NAME_H_
#define NETCL_TOOLS_CLI_OUTPUT_NAME_H_

#include <initializer_list>
#include <string>
#include <string_view>

namespace netcl::cli {

// Throws UsageError when `path` has a widely known extension, in capital letters too, and it is
// none of `allowed`. `what` is the message's middle: "--report writes JSON". Other names pass.
void check_output_name(const std::string& path, const std::string& what,
                       std::initializer_list<std::string_view> allowed);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_OUTPUT_NAME_H_
