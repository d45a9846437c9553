// SPDX-License-Identifier: Apache-2.0
// Looking at all inputs before the work, so that a long run does not end at a file that could have
// been known to be unreadable.
#ifndef NETCL_TOOLS_CLI_INPUT_CHECK_H_
#define NETCL_TOOLS_CLI_INPUT_CHECK_H_

#include <string>
#include <vector>

namespace netcl::cli {

// Opens every file of `files` and reads its first bytes; pipes and other special files, which a
// reading would take something from, and "-" are only looked up. Throws IoError for the first that
// is not there, is a directory or cannot be opened or read; FormatError for a compressed one unless
// `raw`.
void check_inputs(const std::vector<std::string>& files, bool raw);

// The inputs of a tool that reads `files`, or standard input ("-") when none is named, and
// `others`.
std::vector<std::string> all_inputs(const std::vector<std::string>& files,
                                    std::vector<std::string> others);

// Throws UsageError when a result would replace one of the inputs; "-" among these is what standard
// input comes from. Empty paths and what is no regular file count for neither.
void refuse_inputs_as_outputs(const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_INPUT_CHECK_H_
