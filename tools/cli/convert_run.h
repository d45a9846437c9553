// SPDX-License-Identifier: Apache-2.0
// A tokenizer turned into another file format, with the proof that its ids stay equal.
#ifndef NETCL_TOOLS_CLI_CONVERT_RUN_H_
#define NETCL_TOOLS_CLI_CONVERT_RUN_H_

#include <optional>
#include <string>

#include "base/progress.h"
#include "base/thread_pool.h"
#include "text/tokenizer_file.h"

namespace netcl::cli {

enum class ConvertTarget { kJson, kTiktoken, kMerges };

struct ConvertOptions {
  std::string output;  // a file, "-", or a directory (kMerges)
  ConvertTarget target = ConvertTarget::kJson;
  std::string specials_out_path;  // "" = not wanted
  std::string verify_path;        // "" = built-in texts alone
  std::string info;               // goes to standard output with the result
};

// The target that a name stands for: ".json" and ".tiktoken" at its end, a directory or a slash at
// its end; nothing for any other.
std::optional<ConvertTarget> target_of_name(const std::string& output);

// Writes `tokenizer` in the target format after reading the result back and comparing the two. What
// the format does not hold is said with spdlog::warn, with the options that bring it back. Returns
// nothing when the file is written, else the first difference as a message; nothing is written
// then. Throws UsageError for what the format cannot hold, IoError when a file cannot be read or
// written; then too nothing is written.
std::optional<std::string> convert_tokenizer(const text::BpeTokenizer& tokenizer,
                                             const ConvertOptions& options, base::ThreadPool& pool,
                                             const base::ProgressFn& progress);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_CONVERT_RUN_H_
