// SPDX-License-Identifier: Apache-2.0
#include "vocab_files.h"

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "support/catch.h"
#include "support/skip.h"
#include "support/temp_dir.h"
#include "text/base64.h"
#include "text/tokenizer_file.h"

namespace netcl::tests {

std::string text_of(const std::string& path) {
  return std::string(base::FileBytes::open(path).view());
}

std::vector<base::Json> read_jsonl(const std::string& path) {
  const std::string text = text_of(path);
  std::vector<base::Json> rows;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) {
      rows.push_back(base::parse_json(std::string_view(text).substr(at, end - at), path));
    }
    at = end + 1;
  }
  return rows;
}

std::string base64(const std::string& text) {
  const std::optional<std::string> bytes = text::from_base64(text);
  REQUIRE(bytes.has_value());
  return *bytes;
}

std::string unpack(const std::string& file) {
  static const TempDir folder;
  if (shared_dir().empty()) {
    skip("no shared test data");
    return {};
  }
  const std::string packed = shared_dir() + "/vocabs/" + file + ".xz";
  const std::string path = folder.file(file);
  if (!std::filesystem::exists(path)) {
    const std::string command = "xz -dc '" + packed + "' > '" + path + "' 2>/dev/null";
    if (std::system(command.c_str()) != 0) {
      std::filesystem::remove(path);
      skip("cannot unpack " + file + " (is xz there?)");
      return {};
    }
  }
  return path;
}

std::optional<text::BpeTokenizer> load_vocabulary(const std::string& name) {
  if (shared_dir().empty()) {
    skip("no shared test data");
    return std::nullopt;
  }
  const std::string folder = shared_dir() + "/vocabs/";
  const base::Json manifest =
      base::parse_json(text_of(folder + "manifest.json"), "manifest.json")["vocabs"];
  const base::Json& entry = manifest.at(name);
  const std::string packed = entry["file"].get<std::string>();
  const std::string path = unpack(packed.substr(0, packed.size() - 3));
  if (path.empty()) {
    return std::nullopt;
  }
  text::TokenizerFileOptions options;
  if (entry["kind"] == "tiktoken") {
    options.pattern_regex = entry["pattern"].get<std::string>();
    options.specials_path = folder + entry["specials"].get<std::string>();
  }
  return text::load_tokenizer(path, options);
}

}  // namespace netcl::tests
