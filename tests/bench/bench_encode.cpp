// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding in memory: time to load and to encode one letter, first pass over each file
// (cold: the cache of pieces is empty), best of the later passes (warm), and decoding. Every result
// is checked by decoding it before its time is shown. Wall clock; beside every timed pass stands
// the time of a fixed chain of dependent additions before or after it, the longer of the two: it
// shows when the core ran slower than at other times.
//   bench_encode [OPTIONS] TOKENIZER PATTERN|- FILE...      PATTERN for a .tiktoken file
//     --threads N   encodes each file by N threads (1)
//     --passes N    passes after the first (5)
//     --level L     instruction sets at most: scalar, sse2, avx2, avx512, neon
//     --json        one JSON object instead of the table, times in seconds, every pass
//     --ids FILE    writes the ids (u32, little-endian) of the one FILE to encode
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "parse_number.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace {

using namespace netcl;

struct Arguments {
  size_t threads = 1;
  int passes = 5;
  bool json = false;
  std::string ids_path;
  std::string tokenizer;
  std::string pattern;
  std::vector<std::string> files;
};

struct Pass {
  double seconds = 0;
  double cpu = 0;    // processor time of all threads, seconds
  double clock = 0;  // see clock_check()
};

struct Measurement {
  std::string file;
  size_t bytes = 0;
  size_t ids = 0;
  Pass cold;
  std::vector<Pass> warm;
  std::vector<Pass> decode;
};

template <typename Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds for a fixed number of additions of which each needs the one before: about 1 ms at 4 GHz.
// The best of three, so that an interrupt does not count as a slow clock.
double clock_check() {
  constexpr int kAdditions = 4'000'000;
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    best = std::min(best, seconds([] {
                      uint64_t sum = 1;
                      for (int i = 0; i < kAdditions; ++i) {
                        asm volatile("" : "+r"(sum));  // the compiler may not fold the chain
                        sum += 3;
                      }
                      asm volatile("" : : "r"(sum));
                    }));
  }
  return best;
}

double cpu_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Work>
Pass timed_pass(const Work& work) {
  Pass pass;
  const double before = clock_check();
  const double cpu_before = cpu_seconds();
  pass.seconds = seconds(work);
  pass.cpu = cpu_seconds() - cpu_before;
  pass.clock = std::max(before, clock_check());
  return pass;
}

double best_seconds(const std::vector<Pass>& passes) {
  double best = passes.front().seconds;
  for (const Pass& pass : passes) {
    best = std::min(best, pass.seconds);
  }
  return best;
}

text::EncodeOptions encode_options() {
  text::EncodeOptions options;
  options.special = text::SpecialPolicy::kNone;
  return options;
}

// Ready to encode: what the first call sets up is set up.
text::BpeTokenizer load(const Arguments& arguments) {
  text::TokenizerFileOptions options;
  options.pattern_name = arguments.pattern == "-" ? "" : arguments.pattern;
  text::BpeTokenizer tokenizer = text::load_tokenizer(arguments.tokenizer, options);
  tokenizer.encode("a", encode_options());
  return tokenizer;
}

void write_ids(const std::vector<uint32_t>& ids, const std::string& path) {
  static_assert(std::endian::native == std::endian::little);
  base::OutputFile file(path);
  file.write(std::as_bytes(std::span(ids)));
  file.commit();
}

Measurement measure(const Arguments& arguments, base::ThreadPool* pool, const std::string& path) {
  const text::BpeTokenizer tokenizer = load(arguments);  // with an empty cache
  const base::FileBytes file = base::FileBytes::open(path);
  const text::EncodeOptions options = encode_options();
  std::vector<uint32_t> ids;
  const auto encode = [&] {
    ids = pool != nullptr ? tokenizer.encode(file.view(), options, *pool)
                          : tokenizer.encode(file.view(), options);
  };
  Measurement result;
  result.file = path;
  result.bytes = file.view().size();
  result.cold = timed_pass(encode);
  result.ids = ids.size();
  if (!arguments.ids_path.empty()) {
    write_ids(ids, arguments.ids_path);
  }
  for (int i = 0; i < arguments.passes; ++i) {
    result.warm.push_back(timed_pass(encode));
  }
  std::string bytes;
  for (int i = 0; i < std::max(arguments.passes, 1); ++i) {
    result.decode.push_back(timed_pass([&] { bytes = tokenizer.decode(ids); }));
  }
  // A normalizer may have changed the text; what comes back then has the same ids.
  if (bytes != file.view() &&
      (tokenizer.parts().normalizer.empty() || tokenizer.encode(bytes, options) != ids)) {
    throw base::FormatError(path + ": does not come back from its ids");
  }
  return result;
}

void print_row(const Measurement& row) {
  const double megabytes = static_cast<double>(row.bytes) / 1e6;
  const double warm = row.warm.empty() ? row.cold.seconds : best_seconds(row.warm);
  std::printf("%-28s %8.2f MB %10zu ids   cold %7.1f MB/s   warm %7.1f MB/s   decode %7.1f MB/s\n",
              row.file.c_str(), megabytes, row.ids, megabytes / row.cold.seconds, megabytes / warm,
              megabytes / best_seconds(row.decode));
}

nlohmann::json to_json(const Pass& pass) {
  return {{"seconds", pass.seconds}, {"cpu", pass.cpu}, {"clock", pass.clock}};
}

nlohmann::json to_json(const std::vector<Pass>& passes) {
  nlohmann::json list = nlohmann::json::array();
  for (const Pass& pass : passes) {
    list.push_back(to_json(pass));
  }
  return list;
}

nlohmann::json to_json(const Measurement& row) {
  return {
      {"file", row.file},          {"bytes", row.bytes},        {"ids", row.ids},
      {"cold", to_json(row.cold)}, {"warm", to_json(row.warm)}, {"decode", to_json(row.decode)}};
}

base::CpuLevel parse_level(const std::string& name) {
  if (const std::optional<base::CpuLevel> level = base::find_cpu_level(name)) {
    return *level;
  }
  throw base::UsageError("--level is scalar, sse2, avx2, avx512 or neon, not '" + name + "'");
}

Arguments parse(std::vector<std::string> words) {
  Arguments arguments;
  std::vector<std::string> plain;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string option = words[i];
    if (option == "--json") {
      arguments.json = true;
      continue;
    }
    if (!option.starts_with("--")) {
      plain.push_back(option);
      continue;
    }
    if (i + 1 == words.size()) {
      throw base::UsageError(option + " needs a value, or is no option");
    }
    const std::string value = words[++i];
    if (option == "--threads") {
      arguments.threads = bench::parse_number(value, 1, 4096);
    } else if (option == "--passes") {
      arguments.passes = static_cast<int>(bench::parse_number(value, 0, 1000));
    } else if (option == "--level") {
      base::limit_cpu_level(parse_level(value));
    } else if (option == "--ids") {
      arguments.ids_path = value;
    } else {
      throw base::UsageError(option + " is no option of bench_encode");
    }
  }
  if (plain.size() < 3) {
    throw base::UsageError("usage: bench_encode [OPTIONS] TOKENIZER PATTERN|- FILE...");
  }
  arguments.tokenizer = plain[0];
  arguments.pattern = plain[1];
  arguments.files.assign(plain.begin() + 2, plain.end());
  if (!arguments.ids_path.empty() && arguments.files.size() != 1) {
    throw base::UsageError("--ids takes the ids of one FILE, but several are given");
  }
  return arguments;
}

void run(const Arguments& arguments) {
  const std::unique_ptr<base::ThreadPool> pool =
      arguments.threads > 1 ? std::make_unique<base::ThreadPool>(arguments.threads) : nullptr;
  const Pass loading = timed_pass([&] { load(arguments); });
  if (!arguments.json) {
    std::printf("load %.1f ms\n", 1e3 * loading.seconds);
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& path : arguments.files) {
    const Measurement row = measure(arguments, pool.get(), path);
    if (arguments.json) {
      rows.push_back(to_json(row));
    } else {
      print_row(row);
    }
  }
  if (arguments.json) {
    const nlohmann::json report = {{"threads", arguments.threads},
                                   {"level", base::cpu_level_name(base::cpu_level())},
                                   {"load", to_json(loading)},
                                   {"files", rows}};
    std::printf("%s\n", report.dump().c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
  } catch (const base::UsageError& error) {
    std::fprintf(stderr, "bench_encode: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_encode: error: %s\n", error.what());
    return 1;
  }
  return 0;
}
