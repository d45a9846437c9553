// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_options.h"

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/json_text.h"
#include "cli/tool_app.h"
#include "text/chat_preset.h"

namespace netcl::cli {

namespace {

using base::Json;

// The values in a conversation must arrive as they are; a tokenizer_config.json may hold 10^30.
Json read_json(const std::string& path,
               base::BigIntegers big_integers = base::BigIntegers::kRefuse) {
  const base::FileBytes file = base::FileBytes::open(path);
  return base::parse_json(file.view(), base::display_path(path), big_integers);
}

Json read_config(const std::string& path) {
  return read_json(path, base::BigIntegers::kRound);
}

// What looks like JSON is JSON; a bare word is text, so that it needs no quotes in a shell.
Json variable_value(const std::string& text, const std::string& where) {
  const bool is_word = text == "true" || text == "false" || text == "null";
  const bool is_quoted =
      !text.empty() && std::string_view("\"[{").find(text[0]) != std::string_view::npos;
  if (!is_word && !is_quoted && !base::is_json_number(text)) {
    return text;
  }
  try {
    return base::parse_json(text, where, base::BigIntegers::kRefuse);
  } catch (const base::FormatError& error) {
    throw base::UsageError(error.what());
  }
}

void add_variable(const std::string& assignment, Json& variables) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw base::UsageError("--var: expected NAME=VALUE, found " + base::quote(assignment));
  }
  const std::string name = assignment.substr(0, equals);
  variables[name] = variable_value(assignment.substr(equals + 1), "--var " + name);
}

text::ChatFormat load_preset(const ChatOptions& options) {
  if (!options.template_path.empty() || !options.template_name.empty()) {
    throw base::UsageError(
        "--preset is a template already; leave out --template and --template-name");
  }
  if (text::find_chat_preset(options.preset) == nullptr) {
    throw base::UsageError("--preset: unknown name " + base::quote(options.preset) +
                           "; known are " + text::chat_preset_names());
  }
  if (options.config_path.empty()) {
    return text::ChatFormat::from_preset(options.preset);
  }
  return text::ChatFormat::from_preset(
      options.preset, text::ChatFormat::special_tokens_of(read_config(options.config_path),
                                                          base::display_path(options.config_path)));
}

}  // namespace

void add_chat_options(ToolApp& app, ChatOptions& options) {
  app.add_text("--template", options.template_path, "FILE", "Chat template, as Jinja text")
      ->group("Template");
  app.add_text("--tokenizer-config", options.config_path, "FILE",
               "tokenizer_config.json with template and special tokens; with --template or\n"
               "--preset the special tokens alone")
      ->group("Template");
  app.add_text("--preset", options.preset, "NAME",
               "Template and special tokens of our own: " + text::chat_preset_names())
      ->group("Template");
  app.add_text("--template-name", options.template_name, "NAME",
               "Which of several templates of the tokenizer_config.json; default: 'tool_use' for\n"
               "conversations with tools, if there is one, else 'default'")
      ->group("Template");
  app.add_switch("--add-generation-prompt", options.add_generation_prompt,
                 "End with what makes the model answer")
      ->group("Variables");
  app.add_switch("--continue-final-message", options.continue_final_message,
                 "End with the text of the last message, for the model to go on with it")
      ->group("Variables");
  app.add_text("--tools", options.tools_path, "FILE", "JSON list of tools")->group("Variables");
  app.add_text("--documents", options.documents_path, "FILE", "JSON list of documents")
      ->group("Variables");
  app.add_texts("--var", options.variables, "NAME=VALUE", "Variable of the template; see below")
      ->group("Variables");
  app.add_text("--vars", options.variables_path, "FILE",
               "JSON object of variables; of two with one name that of --var counts")
      ->group("Variables");
  app.add_text("--now", options.now, "TIME",
               "Time that strftime_now tells, such as 2025-07-10T12:00:00; default: the present")
      ->group("Variables");
}

text::ChatFormat load_chat_format(const ChatOptions& options) {
  if (!options.preset.empty()) {
    return load_preset(options);
  }
  if (options.template_path.empty() && options.config_path.empty()) {
    throw base::UsageError("no template; give --template, --tokenizer-config or --preset");
  }
  const std::string where = base::display_path(options.config_path);
  const Json config =
      options.config_path.empty() ? Json::object() : read_config(options.config_path);
  if (options.template_path.empty()) {
    return text::ChatFormat::from_tokenizer_config(config, where, options.template_name);
  }
  if (!options.template_name.empty()) {
    throw base::UsageError("--template-name chooses from --tokenizer-config, not from --template");
  }
  const base::FileBytes file = base::FileBytes::open(options.template_path);
  return {file.view(), base::display_path(options.template_path),
          text::ChatFormat::special_tokens_of(config, where)};
}

text::ChatRequest make_request(const ChatOptions& options) {
  text::ChatRequest request;
  if (options.add_generation_prompt && options.continue_final_message) {
    throw base::UsageError(
        "--continue-final-message leaves no room for --add-generation-prompt; give one of them");
  }
  request.add_generation_prompt = options.add_generation_prompt;
  request.continue_final_message = options.continue_final_message;
  if (!options.tools_path.empty()) {
    request.tools = read_json(options.tools_path);
  }
  if (!options.documents_path.empty()) {
    request.documents = read_json(options.documents_path);
  }
  if (!options.variables_path.empty()) {
    request.variables = read_json(options.variables_path);
    if (!request.variables.is_object()) {
      throw base::FormatError(base::display_path(options.variables_path) +
                              ": expected an object of variables, found " +
                              request.variables.type_name());
    }
  }
  for (const std::string& assignment : options.variables) {
    add_variable(assignment, request.variables);
  }
  if (options.now.empty()) {
    const std::time_t seconds = std::time(nullptr);
    localtime_r(&seconds, &request.now);
  } else {
    request.now = parse_time(options.now);
  }
  return request;
}

std::tm parse_time(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  bool fits = text.size() == 10 || text.size() == 16 || text.size() == 19;
  for (size_t i = 0; fits && i < text.size(); ++i) {
    const char c = text[i];
    fits = kShape[i] == '0'   ? c >= '0' && c <= '9'
           : kShape[i] == 'T' ? c == 'T' || c == ' '
                              : c == kShape[i];
  }
  const auto number = [&](size_t at, size_t count) {
    int value = 0;
    for (size_t i = at; fits && i < at + count && i < text.size(); ++i) {
      value = value * 10 + (text[i] - '0');
    }
    return value;
  };
  std::tm given{};
  given.tm_year = number(0, 4) - 1900;
  given.tm_mon = number(5, 2) - 1;
  given.tm_mday = number(8, 2);
  given.tm_hour = number(11, 2);
  given.tm_min = number(14, 2);
  given.tm_sec = number(17, 2);
  std::tm time = given;
  timegm(&time);  // finds the day of the week, and moves days that do not exist
  const bool exists = time.tm_year == given.tm_year && time.tm_mon == given.tm_mon &&
                      time.tm_mday == given.tm_mday && time.tm_hour == given.tm_hour &&
                      time.tm_min == given.tm_min && time.tm_sec == given.tm_sec;
  if (!fits || !exists) {
    throw base::UsageError("--now: expected a time such as 2025-07-10T12:00:00, found " +
                           base::quote(text));
  }
  return time;
}

}  // namespace netcl::cli
