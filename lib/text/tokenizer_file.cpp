// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_file.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace netcl::text {

namespace {

bool looks_like_json(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos &&
         (bytes[first] == '{' || bytes[first] == '[' || bytes.substr(0, 3) == "\xEF\xBB\xBF");
}

}  // namespace

BpeTokenizer load_tokenizer(const std::string& path, const TokenizerFileOptions& options) {
  std::string file_path = path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    file_path = (std::filesystem::path(path) / "tokenizer.json").string();
    if (!std::filesystem::exists(file_path, error)) {
      throw base::IoError(path + ": this directory has no tokenizer.json");
    }
  }
  const base::FileBytes file = base::FileBytes::open(file_path);
  const std::string where = base::display_path(file_path);
  if (!looks_like_json(file.view())) {
    return parse_tiktoken(file.view(), where, options);
  }
  if (!options.pattern_name.empty() || !options.pattern_regex.empty() ||
      !options.specials_path.empty()) {
    throw base::UsageError(where +
                           ": a tokenizer.json carries its own pattern and special tokens; leave "
                           "out the pattern and specials options");
  }
  return parse_tokenizer_json(file.view(), where);
}

}  // namespace netcl::text
