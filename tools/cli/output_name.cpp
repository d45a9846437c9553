// SPDX-License-Identifier: Apache-2.0
#include "cli/output_name.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/error.h"

namespace netcl::cli {

namespace {

constexpr std::array kKnown = std::to_array<std::string_view>(
    {// ids, numbers, tensors
     ".npy", ".npz", ".bin", ".u16", ".u32", ".safetensors", ".gguf", ".pt", ".pth", ".pkl", ".h5",
     ".onnx", ".parquet", ".arrow",
     // tokenizers
     ".tiktoken", ".model",
     // text
     ".txt", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xml", ".yaml", ".yml", ".html", ".md",
     // pictures
     ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf",
     // compressed files and archives
     ".gz", ".tgz", ".zst", ".xz", ".bz2", ".lz4", ".zip", ".tar"});

// ".json", ".json or .txt", ".txt, .json or .csv"
std::string join_or(std::initializer_list<std::string_view> words) {
  std::string joined;
  for (const std::string_view& word : words) {
    const bool is_last = &word + 1 == words.end();
    joined += joined.empty() ? "" : is_last ? " or " : ", ";
    joined += word;
  }
  return joined;
}

}  // namespace

void check_output_name(const std::string& path, const std::string& what,
                       std::initializer_list<std::string_view> allowed) {
  const auto is_named = [&](std::string_view extension) {
    return base::has_extension(path, extension);
  };
  if (std::any_of(kKnown.begin(), kKnown.end(), is_named) &&
      std::none_of(allowed.begin(), allowed.end(), is_named)) {
    throw base::UsageError(path + ": " + what + "; end the name in " + join_or(allowed));
  }
}

}  // namespace netcl::cli
