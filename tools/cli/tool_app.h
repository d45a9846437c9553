// SPDX-License-Identifier: Apache-2.0
// The option parser of the tools: CLI11 with the house's rules. Every value is checked when it is
// typed (no partial numbers, no silent clamping), every option takes one value or none, an operand
// such as "[x]" is never taken apart, and an unknown option is answered with the nearest known one.
#ifndef NETCL_TOOLS_CLI_TOOL_APP_H_
#define NETCL_TOOLS_CLI_TOOL_APP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/choice.h"

namespace netcl::cli {

// An option of the tool that takes one value; messages call it by its long name.
class ToolApp : public CLI::App {
 public:
  // `name` is the executable's; `description` one or two sentences for --help.
  ToolApp(const std::string& name, const std::string& description);
  ~ToolApp() override;  // not inline: the tools would each compile CLI11's

  // Lets the tool take file operands. `shape` is how usage shows them, for example "[FILES...]".
  // Without this call an operand is a usage error.
  void take_files(std::vector<std::string>& files, const std::string& shape,
                  const std::string& help);

  // A switch without a value.
  CLI::Option* add_switch(const std::string& names, bool& target, const std::string& help);
  // A text value, given at most once; `type` names it in --help ("FILE", "TOK").
  CLI::Option* add_text(const std::string& names, std::string& target, const std::string& type,
                        const std::string& help);
  // A text value that may be given many times, each with its own option name.
  CLI::Option* add_texts(const std::string& names, std::vector<std::string>& target,
                         const std::string& type, const std::string& help);
  // A decimal integer in [min, max], given at most once.
  CLI::Option* add_integer(const std::string& names, uint64_t& target, uint64_t min, uint64_t max,
                           const std::string& help);
  // A number of bytes in [min, max]: parse_size().
  CLI::Option* add_size(const std::string& names, uint64_t& target, uint64_t min, uint64_t max,
                        const std::string& help);
  CLI::Option* add_signed_integer(const std::string& names, int64_t& target, int64_t min,
                                  int64_t max, const std::string& help);
  // A finite decimal number in [min, max], given at most once.
  CLI::Option* add_real(const std::string& names, double& target, double min, double max,
                        const std::string& help);
  // One of a fixed list of words.
  template <typename T, typename Target = T>
  CLI::Option* add_choice(const std::string& names, Target& target, std::vector<Choice<T>> choices,
                          const std::string& help) {
    std::vector<std::string_view> words;
    words.reserve(choices.size());
    for (const Choice<T>& choice : choices) {
      words.push_back(choice.name);
    }
    return add_word(names, words, help,
                    [&target, choices](size_t index) { target = choices[index].value; });
  }
  // One word of `words`; `set` gets its index.
  CLI::Option* add_word(const std::string& names, const std::vector<std::string_view>& words,
                        const std::string& help, std::function<void(size_t)> set);

  // Parses the arguments after argv[0]. Throws base::UsageError with a message that names the
  // argument; CLI::CallForHelp and CLI::CallForVersion pass through.
  void parse_arguments(int argc, const char* const* argv);

  // Usage line's operand part; empty when the tool takes no files.
  const std::string& operand_shape() const { return operand_shape_; }
  const std::string& operand_help() const { return operand_help_; }

 private:
  CLI::Option* add_value(const std::string& names, const std::string& type, const std::string& help,
                         std::function<void(const std::string&)> set);
  void sort_operands();
  [[noreturn]] void refuse_unknown(const std::string& argument) const;

  std::vector<std::string>* files_ = nullptr;
  std::string operand_shape_;
  std::string operand_help_;
};

// Checked numbers, for options and for text of the user's. `where` starts the message. Throws
// UsageError when `text` is not wholly a number of that kind or is outside [min, max].
uint64_t parse_integer(const std::string& text, uint64_t min, uint64_t max,
                       const std::string& where);
// Bytes as a whole number with an optional K, M, G or T (powers of 1024), then optional "B" or
// "iB": 4096, 64K, 64KiB.
uint64_t parse_size(const std::string& text, uint64_t min, uint64_t max, const std::string& where);
int64_t parse_signed_integer(const std::string& text, int64_t min, int64_t max,
                             const std::string& where);
double parse_real(const std::string& text, double min, double max, const std::string& where);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_TOOL_APP_H_
