// SPDX-License-Identifier: Apache-2.0
// One run of attn-run: inputs, device, computation, check, results.
#ifndef NETCL_TOOLS_ATTN_RUN_SESSION_H_
#define NETCL_TOOLS_ATTN_RUN_SESSION_H_

#include "attn/run_options.h"
#include "cli/run_tool.h"

namespace netcl::attn {

// Does what checked options say; returns the exit status: 0, or 1 when --check found a difference,
// and then writes nothing. Throws base::Error.
int run_session(const RunOptions& options, const cli::CommonOptions& common);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_RUN_SESSION_H_
