// SPDX-License-Identifier: Apache-2.0
// Work that may bring down its process, such as a device driver's, run in a child process, so that
// the tool still ends with a line of its own and its exit code.
#ifndef NETCL_TOOLS_CLI_CHILD_PROCESS_H_
#define NETCL_TOOLS_CLI_CHILD_PROCESS_H_

#include <functional>
#include <string>

namespace netcl::cli {

// Runs `work`, which returns an exit status and throws nothing, in a child of this process and
// returns its status. Must be called while this process has one thread. SIGINT, SIGTERM and SIGHUP
// reach the child too, and end this process as they ended the child. Throws DeviceError when
// another signal ended the child; the message names `what` and the signal and, unless that is
// SIGKILL, goes on with `hint`.
// Temporary files of the child's results are removed in every case.
int run_in_child(const std::function<int()>& work, const std::string& what,
                 const std::string& hint);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_CHILD_PROCESS_H_
