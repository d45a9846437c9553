// SPDX-License-Identifier: Apache-2.0
// The chat templates and conversations of the shared test data.
#ifndef NETCL_TESTS_TEXT_CHAT_GOLDENS_H_
#define NETCL_TESTS_TEXT_CHAT_GOLDENS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "support/skip.h"
#include "text/chat_format.h"
#include "vocab_files.h"

namespace netcl::tests {

struct GoldenFamily {
  std::string path;
  std::string source;  // the template
  base::Json meta;
};

inline std::vector<GoldenFamily> golden_families() {
  std::vector<GoldenFamily> families;
  for (const auto& entry : std::filesystem::directory_iterator(shared_dir() + "/chat")) {
    const std::string path = entry.path().string();
    if (std::filesystem::exists(path + "/template.jinja")) {
      families.push_back({path, text_of(path + "/template.jinja"),
                          base::parse_json(text_of(path + "/meta.json"), "meta.json")});
    }
  }
  return families;
}

// By name.
inline base::Json golden_conversations() {
  return base::parse_json(text_of(shared_dir() + "/chat/inputs.json"),
                          "inputs.json")["conversations"];
}

// 2025-07-10 12:00:00, a Thursday, at which the goldens were made.
inline text::JinjaOptions golden_options() {
  text::JinjaOptions options;
  options.now.tm_year = 125;
  options.now.tm_mon = 6;
  options.now.tm_mday = 10;
  options.now.tm_hour = 12;
  options.now.tm_wday = 4;
  options.now.tm_yday = 190;
  return options;
}

inline void add_fields(const base::Json& object, bool trusted,
                       std::vector<text::JinjaVariable>& variables) {
  for (const auto& [name, value] : object.items()) {
    variables.push_back({name, value, trusted});
  }
}

// The variables of a row of cases.jsonl, with this conversation.
inline std::vector<text::JinjaVariable> variables_of_case(const base::Json& row,
                                                          const base::Json& meta,
                                                          const base::Json& conversation) {
  std::vector<text::JinjaVariable> variables = {
      {"tools", nullptr},
      {"documents", nullptr},
      {"add_generation_prompt", row["add_generation_prompt"]}};
  add_fields(meta["special_tokens"], true, variables);
  add_fields(conversation, false, variables);
  if (row.contains("kwargs")) {
    add_fields(row["kwargs"], false, variables);
  }
  return variables;
}

// The request of a row of cases.jsonl, with this conversation.
inline text::ChatRequest request_of_case(const base::Json& row, const base::Json& conversation) {
  text::ChatRequest request;
  request.messages = conversation["messages"];
  request.tools = conversation.value("tools", base::Json());
  request.documents = conversation.value("documents", base::Json());
  request.variables = row.value("kwargs", base::Json::object());
  request.add_generation_prompt = row["add_generation_prompt"].get<bool>();
  request.now = golden_options().now;
  return request;
}

}  // namespace netcl::tests

#endif  // NETCL_TESTS_TEXT_CHAT_GOLDENS_H_
