// SPDX-License-Identifier: Apache-2.0
// The options by which a tool names its tokenizer: -t and, for .tiktoken files and vocab.json,
// --pattern, --pattern-regex and --specials.
#ifndef NETCL_TOOLS_CLI_TOKENIZER_OPTION_H_
#define NETCL_TOOLS_CLI_TOKENIZER_OPTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_file.h"

namespace netcl::cli {

class ToolApp;

struct TokenizerOption {
  std::string path;
  text::TokenizerFileOptions file;
};

// Declares the four options; -t is required.
void add_tokenizer_options(ToolApp& app, TokenizerOption& option);

// The files that a tokenizer is read from and that no result may replace: the one named, or those
// that a directory or a vocab.json may stand for, and the specials.
std::vector<std::string> tokenizer_inputs(const TokenizerOption& option);

// Loads the tokenizer; with -v a line says what was loaded. Throws as text::load_tokenizer(), and
// UsageError when `stdin_is_input` and the tokenizer is to come from standard input too.
text::BpeTokenizer load_tokenizer(const TokenizerOption& option, bool stdin_is_input);
// The same with the format of the file.
text::TokenizerFile load_tokenizer_file(const TokenizerOption& option, bool stdin_is_input);

// Names joined by ", " for help texts.
std::string join_names(const std::vector<std::string_view>& names);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_TOKENIZER_OPTION_H_
