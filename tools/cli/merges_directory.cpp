// SPDX-License-Identifier: Apache-2.0
#include "cli/merges_directory.h"

#include <filesystem>

#include <spdlog/spdlog.h>

#include "base/error.h"

namespace netcl::cli {

namespace fs = std::filesystem;

std::vector<std::string> merges_directory_files(const std::string& path) {
  return {(fs::path(path) / "vocab.json").string(), (fs::path(path) / "merges.txt").string()};
}

void check_merges_directory(const std::string& path) {
  if (path.empty() || path == "-") {
    throw base::UsageError("--output: two files do not go to standard output; name a directory");
  }
  std::error_code error;
  if (fs::exists(path, error)) {
    if (!fs::is_directory(path, error)) {
      throw base::IoError(path + ": is a file; give a directory for vocab.json and merges.txt");
    }
    return;
  }
  fs::path above = fs::path(path).parent_path();
  if (path.ends_with('/')) {
    above = above.parent_path();
  }
  if (!above.empty() && !fs::is_directory(above, error)) {
    throw base::IoError(path + ": cannot make this directory: there is no " + above.string());
  }
}

void write_merges_directory(const std::string& path, const text::VocabMerges& files,
                            std::span<base::OutputFile* const> others) {
  std::error_code error;
  const bool made = fs::create_directory(path, error);
  if (error) {
    throw base::IoError(path + ": cannot make this directory: " + error.message());
  }
  const std::vector<std::string> names = merges_directory_files(path);
  try {
    base::OutputFile vocab(names[0]);
    base::OutputFile merges(names[1]);
    vocab.write(files.vocab_json);
    merges.write(files.merges_txt);
    std::vector<base::OutputFile*> all = {&vocab, &merges};
    all.insert(all.end(), others.begin(), others.end());
    base::commit_all(all);
  } catch (...) {
    if (made) {
      fs::remove(path, error);
    }
    throw;
  }
  if (fs::exists(fs::path(path) / "tokenizer.json", error)) {
    spdlog::warn("{}: a reader of this directory takes the tokenizer.json in it", path);
  }
}

}  // namespace netcl::cli
