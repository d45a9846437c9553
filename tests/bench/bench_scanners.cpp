// SPDX-License-Identifier: Apache-2.0
// Speed of the split-pattern scanners, one thread, text in memory:
//
//   bench_scanners [--runs N] FILE...
//
// For each file, pattern and CPU level of this machine it prints MB/s (10^6 bytes), the best of N
// runs (default 7), and bytes per piece. Ends of pieces are written 256 at a time, as the encoder
// asks for them. Every level must give the same pieces as the scalar one, else exit 1.
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "text/pre_splitter.h"

using namespace netcl;

namespace {

struct Pass {
  double seconds = 0;
  size_t pieces = 0;
  uint64_t hash = 0;
};

Pass scan_once(const text::PreSplitter& splitter, std::string_view content) {
  std::array<size_t, 256> ends;
  Pass pass;
  const auto start = std::chrono::steady_clock::now();
  for (size_t begin = 0; begin < content.size();) {
    const size_t count = splitter.next_ends(content, begin, ends);
    pass.pieces += count;
    begin = ends[count - 1];
    pass.hash = pass.hash * 31 + begin;
  }
  pass.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return pass;
}

uint64_t hash_of_all(const text::PreSplitter& splitter, std::string_view content) {
  std::vector<text::Piece> pieces;
  splitter.split(content, pieces);
  uint64_t hash = 0;
  for (const text::Piece& piece : pieces) {
    hash = hash * 31 + piece.end;
  }
  return hash;
}

bool measure(const std::string& path, int runs) {
  const base::FileBytes file = base::FileBytes::open(path);
  const std::string_view content = file.view();
  if (content.empty()) {
    throw base::FormatError(path + ": empty, nothing to measure");
  }
  bool equal = true;
  for (const char* name : {"gpt2", "cl100k", "qwen2", "o200k"}) {
    const auto splitter = text::make_named_splitter(name);
    base::limit_cpu_level(base::CpuLevel::kScalar);
    const uint64_t expected = hash_of_all(*splitter, content);
    for (const base::CpuLevel level : base::machine_cpu_levels()) {
      base::limit_cpu_level(level);
      equal = equal && hash_of_all(*splitter, content) == expected;
      Pass best;
      for (int run = 0; run < runs; ++run) {
        const Pass pass = scan_once(*splitter, content);
        if (run == 0 || pass.seconds < best.seconds) {
          best = pass;
        }
      }
      const auto bytes = static_cast<double>(content.size());
      std::printf("%-40s %-7s %-7s %8.0f MB/s  %5.2f bytes/piece\n", path.c_str(), name,
                  std::string(base::cpu_level_name(base::cpu_level())).c_str(),
                  bytes / best.seconds / 1e6, bytes / static_cast<double>(best.pieces));
    }
  }
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int runs = 7;
    std::vector<std::string> files(argv + 1, argv + argc);
    if (files.size() >= 2 && files[0] == "--runs") {
      const std::string& count = files[1];
      const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), runs);
      if (error != std::errc() || end != count.data() + count.size() || runs < 1) {
        throw base::UsageError("--runs: " + base::quote(count) + " is no positive number");
      }
      files.erase(files.begin(), files.begin() + 2);
    }
    if (files.empty()) {
      throw base::UsageError("no file; usage: bench_scanners [--runs N] FILE...");
    }
    bool equal = true;
    for (const std::string& file : files) {
      equal = measure(file, runs) && equal;
    }
    if (!equal) {
      std::fprintf(stderr, "bench_scanners: a level gives other pieces than the scalar one\n");
    }
    return equal ? 0 : 1;
  } catch (const base::Error& error) {
    std::fprintf(stderr, "bench_scanners: %s\n", error.what());
    return error.exit_code();
  }
}
