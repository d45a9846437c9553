// SPDX-License-Identifier: Apache-2.0
// What a .tiktoken file or a vocab.json does not hold, said to the user with the options that bring
// it back.
#ifndef NETCL_TOOLS_CLI_READ_BACK_H_
#define NETCL_TOOLS_CLI_READ_BACK_H_

#include <string>

#include "text/tokenizer_file.h"

namespace netcl::cli {

// The options as a shell takes them: "--pattern cl100k --specials specials.json". An empty
// `specials_path` is a FILE still to be written by --specials-out.
std::string read_back_text(const text::TokenizerFileOptions& options,
                           const std::string& specials_path);

// Warns when the name of the tokenizer's split pattern, given as --pattern, would bring a
// normalizer that the tokenizer does not have. For a tokenizer written to `output` in a format that
// does not hold it.
void warn_of_normalizer_of_name(const text::BpeTokenizer& tokenizer, const std::string& output);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_READ_BACK_H_
