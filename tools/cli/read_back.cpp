// SPDX-License-Identifier: Apache-2.0
#include "cli/read_back.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <spdlog/spdlog.h>

#include "text/known_models.h"
#include "text/tokenizer_parts.h"

namespace netcl::cli {

namespace {

// Single quotes for a shell.
std::string shell_quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace

std::string read_back_text(const text::TokenizerFileOptions& options,
                           const std::string& specials_path) {
  std::string text = options.pattern_name.empty()
                         ? "--pattern-regex " + shell_quote(options.pattern_regex)
                         : "--pattern " + options.pattern_name;
  if (options.specials) {
    text += " --specials " +
            (specials_path.empty() ? "FILE (--specials-out writes it)" : specials_path);
  }
  return text;
}

void warn_of_normalizer_of_name(const text::BpeTokenizer& tokenizer, const std::string& output) {
  const text::TokenizerParts& parts = tokenizer.parts();
  const std::vector<text::PreTokenizerStep>& steps = parts.pre_tokenizer.steps();
  if (steps.empty() || steps.front().splitter == nullptr || !parts.normalizer.empty()) {
    return;
  }
  const std::string_view name = steps.front().splitter->name();
  const std::vector<std::string_view>& names = text::known_model_names();
  if (std::find(names.begin(), names.end(), name) == names.end() ||
      text::make_normalizer(text::get_known_model(name)).empty()) {
    return;
  }
  text::TokenizerFileOptions regex;
  regex.pattern_regex = steps.front().splitter->pattern();
  spdlog::warn(
      "{}: --pattern {} would bring a normalizer, which training had none of; read the file with "
      "{}",
      output, name, read_back_text(regex, ""));
}

}  // namespace netcl::cli
