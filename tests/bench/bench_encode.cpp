// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding in memory, one thread: time to load, first pass over each file (cold: the
// cache of pieces is empty), best of the later passes (warm), and decoding. Every result is checked
// by decoding it before its time is shown.
//   bench_encode TOKENIZER PATTERN|- FILE...      PATTERN for a .tiktoken file
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace {

using namespace netcl;

constexpr int kPasses = 5;

template <typename Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

text::BpeTokenizer load(const char* path, const std::string& pattern) {
  text::TokenizerFileOptions options;
  options.pattern_name = pattern == "-" ? "" : pattern;
  return text::load_tokenizer(path, options);
}

void measure(const char* tokenizer_path, const char* pattern, const char* path) {
  const text::BpeTokenizer tokenizer = load(tokenizer_path, pattern);  // with an empty cache
  const base::FileBytes file = base::FileBytes::open(path);
  text::EncodeOptions options;
  options.special = text::SpecialPolicy::kNone;
  std::vector<uint32_t> ids;
  const double cold = seconds([&] { ids = tokenizer.encode(file.view(), options); });
  double warm = cold;
  for (int pass = 0; pass < kPasses; ++pass) {
    warm = std::min(warm, seconds([&] { ids = tokenizer.encode(file.view(), options); }));
  }
  std::string bytes;
  double decode = 1e9;
  for (int pass = 0; pass < kPasses; ++pass) {
    decode = std::min(decode, seconds([&] { bytes = tokenizer.decode(ids); }));
  }
  if (bytes != file.view()) {
    throw base::FormatError(std::string(path) + ": does not come back from its ids");
  }
  const double megabytes = static_cast<double>(file.view().size()) / 1e6;
  std::printf("%-28s %8.2f MB %10zu ids   cold %7.1f MB/s   warm %7.1f MB/s   decode %7.1f MB/s\n",
              path, megabytes, ids.size(), megabytes / cold, megabytes / warm, megabytes / decode);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_encode TOKENIZER PATTERN|- FILE...\n");
    return 2;
  }
  try {
    std::printf("load %.1f ms\n", 1e3 * seconds([&] { load(argv[1], argv[2]); }));
    for (int i = 3; i < argc; ++i) {
      measure(argv[1], argv[2], argv[i]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_encode: error: %s\n", error.what());
    return 1;
  }
  return 0;
}
