// SPDX-License-Identifier: Apache-2.0
// What a tokenizer is, as JSON.
#ifndef NETCL_TOOLS_CLI_TOKENIZER_INFO_H_
#define NETCL_TOOLS_CLI_TOKENIZER_INFO_H_

#include <string>

#include "base/thread_pool.h"
#include "text/tokenizer_file.h"

namespace netcl::cli {

// The object that bpe-convert --info prints (tools/README.md names its fields), with a final line
// end. Every ordinary token is encoded once to count those that encode to themselves.
std::string tokenizer_info_json(const text::TokenizerFile& file, base::ThreadPool& pool);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_TOKENIZER_INFO_H_
