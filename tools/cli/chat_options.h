// SPDX-License-Identifier: Apache-2.0
// The options by which chat-render gets its template and what the template sees.
#ifndef NETCL_TOOLS_CLI_CHAT_OPTIONS_H_
#define NETCL_TOOLS_CLI_CHAT_OPTIONS_H_

#include <ctime>
#include <string>
#include <vector>

#include "text/chat_format.h"

namespace netcl::cli {

class ToolApp;

struct ChatOptions {
  std::string template_path;           // --template
  std::string config_path;             // --tokenizer-config
  std::string preset;                  // --preset
  std::string template_name;           // --template-name
  std::string tools_path;              // --tools
  std::string documents_path;          // --documents
  std::string variables_path;          // --vars
  std::vector<std::string> variables;  // --var, "NAME=VALUE" each
  std::string now;                     // --now; empty: the present
  bool add_generation_prompt = false;
  bool continue_final_message = false;
};

void add_chat_options(ToolApp& app, ChatOptions& options);

// The template that the options name. Throws UsageError when they name none; IoError; FormatError.
text::ChatFormat load_chat_format(const ChatOptions& options);

// What all conversations have in common. Throws UsageError for a damaged --var or --now; IoError;
// FormatError.
text::ChatRequest make_request(const ChatOptions& options);

// A point of time: "2025-07-10", "2025-07-10T12:00" or "2025-07-10T12:00:00", a space for the T.
// Throws UsageError for anything else.
std::tm parse_time(const std::string& text);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_CHAT_OPTIONS_H_
