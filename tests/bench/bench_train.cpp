// SPDX-License-Identifier: Apache-2.0
// Training in memory, phase by phase: scanning (splitting alone, which counting does again),
// counting, joining the tables of the threads, layout (with the first count of all pairs) and
// merging. Wall clock. The merges are told by a hash, which --expect checks; with several threads
// they are also compared with those that one thread's counts give.
//   bench_train [OPTIONS] FILE...
//     --vocab N      tokens, the 256 bytes included (32000)
//     --pattern P    split pattern, or none (gpt2)
//     --threads N    that count (1)
//     --threshold N  count from which on pairs are recorded at first (guessed)
//     --max-bytes N  reads the first N bytes of each file (all)
//     --level L      instruction sets at most: scalar, sse2, avx2, avx512, neon
//     --expect HEX   fails when the hash of the merges is another
//     --json         one JSON object instead of the table, times in seconds
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/peak_memory.h"
#include "base/thread_pool.h"
#include "parse_number.h"
#include "text/byte_hash.h"
#include "text/byte_level.h"
#include "text/document_cut.h"
#include "text/merge_learner.h"
#include "text/pre_splitter.h"
#include "text/word_counts.h"

namespace {

using namespace netcl;

constexpr size_t kPartBytes = size_t{64} << 10;
// After so many bytes the pages of the file that were read are given back.
constexpr size_t kDropBytes = size_t{16} << 20;

struct Arguments {
  uint64_t vocab_size = 32000;
  std::string pattern = "gpt2";
  size_t threads = 1;
  uint64_t threshold = 0;
  size_t max_bytes = SIZE_MAX;
  std::string expected_hash;
  bool json = false;
  std::vector<std::string> files;
};

struct Times {
  double scan = 0;
  double count = 0;
  double join = 0;
  double layout = 0;
  double merge = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Calls use(text, thread) for parts of all files between which no piece lies, and gives back the
// pages behind them.
template <typename Use>
void for_each_part(const Arguments& arguments, base::ThreadPool& pool, const Use& use) {
  for (const std::string& path : arguments.files) {
    const base::FileBytes file = base::FileBytes::open(path);
    std::string_view rest = file.view().substr(0, arguments.max_bytes);
    while (!rest.empty()) {
      const std::string_view begin = rest;
      std::vector<std::string_view> parts;
      for (size_t bytes = 0; !rest.empty() && bytes < kDropBytes; bytes += parts.back().size()) {
        const bool cuts = arguments.pattern != "none" && rest.size() >= 2 * kPartBytes;
        parts.push_back(rest.substr(0, cuts ? text::find_safe_cut(rest, kPartBytes) : rest.size()));
        rest.remove_prefix(parts.back().size());
      }
      pool.parallel_for(parts.size(),
                        [&](size_t part, size_t thread) { use(parts[part], thread); });
      if (file.is_mapped()) {
        base::drop_mapped_pages(begin.substr(0, begin.size() - rest.size()));
      }
    }
  }
}

// Number of pieces of a text; the splitter alone.
size_t scan(const text::PreSplitter* splitter, std::string_view text) {
  std::array<size_t, text::WordCounts::kMostPieces> ends;
  size_t count = 0;
  for (size_t begin = 0; splitter != nullptr && begin < text.size();) {
    const size_t found = splitter->next_ends(text, begin, ends);
    count += found;
    begin = ends[found - 1];
  }
  return count;
}

void count(const text::PreSplitter* splitter, std::string_view text, text::WordCounts& words) {
  std::array<size_t, text::WordCounts::kMostPieces> ends;
  if (splitter == nullptr && !text.empty()) {
    words.add(text, 1);
  }
  for (size_t begin = 0; splitter != nullptr && begin < text.size();) {
    const size_t found = splitter->next_ends(text, begin, ends);
    words.add_pieces(text, begin, std::span<const size_t>(ends).first(found));
    begin = ends[found - 1];
  }
}

text::LearnRequest request_for(const Arguments& arguments) {
  text::LearnRequest request;
  request.bytes_in_order = text::bytes_in_printable_order();
  request.token_limit = arguments.vocab_size;
  request.tuning.first_threshold = arguments.threshold;
  return request;
}

std::string hash_of(const text::LearnedMerges& learned) {
  uint64_t hash = text::kHashFirst;
  for (const text::Merge& merge : learned.merges) {
    hash = text::mix(hash ^ ((uint64_t{merge.left} << 32) | merge.right), text::kHashSecond);
    hash = text::mix(hash ^ merge.result, text::kHashFirst);
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

struct Outcome {
  Times times;
  uint64_t bytes = 0;
  uint64_t pieces = 0;
  uint64_t distinct = 0;
  size_t merges = 0;
  uint64_t last_count = 0;  // of the last merged pair
  std::string hash;
  uint64_t peak = 0;
};

Outcome train(const Arguments& arguments, base::ThreadPool& pool) {
  using Clock = std::chrono::steady_clock;
  Outcome outcome;
  const std::shared_ptr<const text::PreSplitter> splitter =
      arguments.pattern == "none" ? nullptr : text::make_named_splitter(arguments.pattern);
  auto start = Clock::now();
  std::vector<size_t> scanned(pool.thread_count() * 8);  // a line of the cache apart
  for_each_part(arguments, pool, [&](std::string_view text, size_t thread) {
    scanned[thread * 8] += scan(splitter.get(), text);
  });
  outcome.times.scan = seconds_since(start);

  start = Clock::now();
  std::vector<text::WordCounts> tables(pool.thread_count());
  for_each_part(arguments, pool, [&](std::string_view text, size_t thread) {
    count(splitter.get(), text, tables[thread]);
  });
  outcome.times.count = seconds_since(start);

  start = Clock::now();
  for (size_t i = tables.size(); i > 1; --i) {
    tables[0].add_all(tables[i - 1]);
    tables.pop_back();
  }
  outcome.times.join = seconds_since(start);
  outcome.bytes = tables[0].total_bytes();
  outcome.pieces = tables[0].total();
  outcome.distinct = tables[0].size();

  start = Clock::now();
  const auto laid_out = [&] {
    outcome.times.layout = seconds_since(start);
    start = Clock::now();
    tables.clear();
  };
  const text::LearnedMerges learned =
      text::learn_merges([&](const text::WordVisitor& visit) { tables[0].for_each(visit); },
                         request_for(arguments), {}, laid_out);
  outcome.times.merge = seconds_since(start);
  outcome.merges = learned.merges.size();
  outcome.last_count = learned.last_count;
  outcome.hash = hash_of(learned);
  outcome.peak = base::peak_memory_bytes();
  return outcome;
}

void print(const Outcome& outcome, const Arguments& arguments) {
  const Times& times = outcome.times;
  const double total = times.count + times.join + times.layout + times.merge;
  if (arguments.json) {
    const nlohmann::json report = {{"threads", arguments.threads},
                                   {"level", base::cpu_level_name(base::cpu_level())},
                                   {"bytes", outcome.bytes},
                                   {"pieces", outcome.pieces},
                                   {"distinct", outcome.distinct},
                                   {"merges", outcome.merges},
                                   {"last_count", outcome.last_count},
                                   {"hash", outcome.hash},
                                   {"peak_bytes", outcome.peak},
                                   {"seconds",
                                    {{"scan", times.scan},
                                     {"count", times.count},
                                     {"join", times.join},
                                     {"layout", times.layout},
                                     {"merge", times.merge},
                                     {"total", total}}}};
    std::printf("%s\n", report.dump().c_str());
    return;
  }
  const double megabytes = static_cast<double>(outcome.bytes) / 1e6;
  std::printf("%.1f MB, %llu pieces, %llu distinct, %zu merges to count %llu, hash %s\n", megabytes,
              static_cast<unsigned long long>(outcome.pieces),
              static_cast<unsigned long long>(outcome.distinct), outcome.merges,
              static_cast<unsigned long long>(outcome.last_count), outcome.hash.c_str());
  const auto row = [&](const char* name, double seconds) {
    std::printf("%-8s %8.3f s %8.1f MB/s\n", name, seconds, megabytes / seconds);
  };
  row("(scan)", times.scan);
  row("count", times.count);
  row("join", times.join);
  row("layout", times.layout);
  row("merge", times.merge);
  row("total", total);
  std::printf("peak     %8.1f MB resident\n", static_cast<double>(outcome.peak) / 1e6);
}

void set_level(const std::string& name) {
  const std::optional<base::CpuLevel> level = base::find_cpu_level(name);
  if (!level) {
    throw base::UsageError("--level is scalar, sse2, avx2, avx512 or neon, not '" + name + "'");
  }
  base::limit_cpu_level(*level);
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--json") {
      arguments.json = true;
      continue;
    }
    if (!option.starts_with("--")) {
      arguments.files.push_back(option);
      continue;
    }
    if (i + 1 == words.size()) {
      throw base::UsageError(option + " needs a value, or is no option");
    }
    const std::string& value = words[++i];
    if (option == "--vocab") {
      arguments.vocab_size = bench::parse_number(value, 256, size_t{1} << 24);
    } else if (option == "--pattern") {
      arguments.pattern = value;
    } else if (option == "--threads") {
      arguments.threads = bench::parse_number(value, 1, 4096);
    } else if (option == "--threshold") {
      arguments.threshold = bench::parse_number(value, 1, SIZE_MAX);
    } else if (option == "--max-bytes") {
      arguments.max_bytes = bench::parse_number(value, 0, SIZE_MAX);
    } else if (option == "--level") {
      set_level(value);
    } else if (option == "--expect") {
      arguments.expected_hash = value;
    } else {
      throw base::UsageError(option + " is no option of bench_train");
    }
  }
  if (arguments.files.empty()) {
    throw base::UsageError("usage: bench_train [OPTIONS] FILE...");
  }
  return arguments;
}

void run(const Arguments& arguments) {
  base::ThreadPool pool(arguments.threads);
  const Outcome outcome = train(arguments, pool);
  std::string expected = arguments.expected_hash;
  if (expected.empty() && arguments.threads > 1) {
    base::ThreadPool one(1);
    expected = train(arguments, one).hash;
  }
  if (!expected.empty() && outcome.hash != expected) {
    throw base::FormatError("the merges have the hash " + outcome.hash + ", not " + expected);
  }
  print(outcome, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
  } catch (const base::UsageError& error) {
    std::fprintf(stderr, "bench_train: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_train: error: %s\n", error.what());
    return 1;
  }
  return 0;
}
