// SPDX-License-Identifier: Apache-2.0
// What every tool has in common: parsing, options of all tools, log lines on standard error,
// exceptions to exit codes, signals. Nothing but results goes to standard output.
//
// Exit codes: 0 done, 1 the answer is no, 2 usage, 3 bad input, 4 cannot read or write, 5 device,
// 70 a bug of ours. A closed standard output ends the tool without a word, by SIGPIPE as with other
// filters; SIGINT, SIGTERM and SIGHUP remove temporary files and then end it (130, 143, 129 in a
// shell).
#ifndef NETCL_TOOLS_CLI_RUN_TOOL_H_
#define NETCL_TOOLS_CLI_RUN_TOOL_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/cpu.h"
#include "cli/progress_report.h"

namespace netcl::cli {

class ToolApp;

// Options of every tool.
struct CommonOptions {
  bool quiet = false;       // -q: errors alone
  bool verbose = false;     // -v: facts about the run
  size_t thread_count = 0;  // --threads; 0 = all cores
  ProgressMode progress = ProgressMode::kAuto;
  std::optional<base::CpuLevel> cpu_level;  // --cpu, left out of --help; none = the machine's
};

// Adds the common options, parses, and calls `action`, whose result is the exit status (0 or 1).
// --help and --version print and end with 0. `version_details` is added to --version's output as
// further lines (attn tools: the OpenCL target). Sets spdlog's default logger: spdlog::warn() and
// the like write "tool: level: text" lines to standard error.
int run_tool(int argc, const char* const* argv, ToolApp& app,
             const std::function<int(const CommonOptions&)>& action,
             const std::string& version_details = "");

// Runs `action` and maps its exceptions to exit codes, with one message line each; the part of
// run_tool() behind the parser, for tests of it.
int run_action(const std::string& tool_name, const std::function<int()>& action);

// Throws UsageError when the result named by `output_path` ("-" or empty: standard output) is
// binary and would go to a terminal.
void refuse_binary_on_terminal(const std::string& output_path, const std::string& what);

// Throws UsageError when two of the outputs would be the same file or both standard output.
// Empty paths are ignored.
void refuse_same_outputs(const std::vector<std::string>& paths);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_RUN_TOOL_H_
