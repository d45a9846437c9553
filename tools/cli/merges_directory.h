// SPDX-License-Identifier: Apache-2.0
// A directory with vocab.json and merges.txt as a result.
#ifndef NETCL_TOOLS_CLI_MERGES_DIRECTORY_H_
#define NETCL_TOOLS_CLI_MERGES_DIRECTORY_H_

#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "text/tokenizer_file.h"

namespace netcl::cli {

// The names of vocab.json and merges.txt in a directory.
std::vector<std::string> merges_directory_files(const std::string& path);

// Throws, before the work, what would keep write_merges_directory() from writing: UsageError for
// standard output, IoError when a file has the name or the directory above is not there.
void check_merges_directory(const std::string& path);

// Writes both files, or none, in a directory that is made when it is not there; other files in it
// stay, with a warning when one is a tokenizer.json, which readers of the directory take first.
// `others` are results of the same run, committed together with the two (base::commit_all).
// Throws IoError.
void write_merges_directory(const std::string& path, const text::VocabMerges& files,
                            std::span<base::OutputFile* const> others = {});

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_MERGES_DIRECTORY_H_
