// SPDX-License-Identifier: Apache-2.0
#include "text/pre_splitter.h"

#include <array>
#include <iterator>

#include "base/cpu.h"
#include "base/error.h"
#include "text/block_scanners.h"
#include "text/regex_splitter.h"
#include "text/scanner_cl100k.h"
#include "text/scanner_gpt2.h"
#include "text/scanner_o200k.h"

namespace netcl::text {

namespace {

template <class Scanner>
size_t scan(std::string_view text, size_t begin, std::span<size_t> ends) {
  const ScanText scan_text(text);
  size_t count = 0;
  while (begin < text.size() && count < ends.size()) {
    begin = Scanner::piece_end(scan_text, begin);
    ends[count++] = begin;
  }
  return count;
}

constexpr ScanFunctions kScalarScanners = {scan<Gpt2Scanner>, scan<Cl100kScanner<3>>,
                                           scan<Cl100kScanner<1>>, scan<O200kScanner>};

const ScanFunctions& scanners_of(base::CpuLevel level) {
#if defined(__x86_64__)
  switch (level) {
    case base::CpuLevel::kScalar:
      break;
    case base::CpuLevel::kSse2:
      return kSse2Scanners;
    case base::CpuLevel::kAvx2:
      return kAvx2Scanners;
    case base::CpuLevel::kAvx512:
      return kAvx512Scanners;
    case base::CpuLevel::kNeon:  // no level of this architecture
      break;
  }
#elif defined(__aarch64__)
  if (level == base::CpuLevel::kNeon) {
    return kNeonScanners;
  }
#else
  static_cast<void>(level);
#endif
  return kScalarScanners;
}

struct KnownPattern {
  std::string_view name;
  std::string_view pattern;
  ScanFunction ScanFunctions::*scanner;

  size_t scan(std::string_view text, size_t begin, std::span<size_t> ends) const {
    return (scanners_of(base::cpu_level()).*scanner)(text, begin, ends);
  }
};

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCl100k =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                                    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The first entry of a pattern gives its name to a regex with the same text.
constexpr std::array<KnownPattern, 7> kKnownPatterns = {{
    {"gpt2", kGpt2, &ScanFunctions::gpt2},
    {"r50k", kGpt2, &ScanFunctions::gpt2},
    {"p50k", kGpt2, &ScanFunctions::gpt2},
    {"cl100k", kCl100k, &ScanFunctions::cl100k},
    {"o200k", kO200k, &ScanFunctions::o200k},
    {"llama3", kCl100k, &ScanFunctions::cl100k},
    {"qwen2", kQwen2, &ScanFunctions::qwen2},
}};

class ScannerSplitter final : public PreSplitter {
 public:
  explicit ScannerSplitter(const KnownPattern& known) : known_(known), pattern_(known.pattern) {}
  void split(std::string_view text, std::vector<Piece>& pieces) const override {
    std::array<size_t, 256> ends;
    for (size_t begin = 0; begin < text.size();) {
      const size_t count = known_.scan(text, begin, ends);
      for (size_t i = 0; i < count; ++i) {
        pieces.push_back({begin, ends[i]});
        begin = ends[i];
      }
    }
  }
  bool covers_text() const override { return true; }
  size_t next_ends(std::string_view text, size_t begin, std::span<size_t> ends) const override {
    return known_.scan(text, begin, ends);
  }
  const std::string& pattern() const override { return pattern_; }
  std::string_view name() const override { return known_.name; }

 private:
  const KnownPattern& known_;
  std::string pattern_;
};

}  // namespace

size_t PreSplitter::next_ends(std::string_view, size_t, std::span<size_t>) const {
  base::check_failed("covers_text()", __FILE__, __LINE__);
}

const std::vector<std::string_view>& splitter_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    result.reserve(std::size(kKnownPatterns));
    for (const KnownPattern& known : kKnownPatterns) {
      result.push_back(known.name);
    }
    return result;
  }();
  return names;
}

std::shared_ptr<const PreSplitter> make_named_splitter(std::string_view name) {
  std::string allowed;
  for (const KnownPattern& known : kKnownPatterns) {
    if (known.name == name) {
      return std::make_shared<ScannerSplitter>(known);
    }
    allowed += allowed.empty() ? "" : ", ";
    allowed += known.name;
  }
  throw base::UsageError("pattern " + base::quote(name) + ": no such pattern; known are " +
                         allowed);
}

std::shared_ptr<const PreSplitter> make_regex_splitter(std::string_view regex,
                                                       SplitBehavior behavior, bool invert) {
  // A known pattern leaves no gaps, so keeping the matches alone is the same as Isolated.
  const bool keeps_all =
      behavior == SplitBehavior::kIsolated || (behavior == SplitBehavior::kRemoved && invert);
  for (const KnownPattern& known : kKnownPatterns) {
    if (keeps_all && known.pattern == regex) {
      return std::make_shared<ScannerSplitter>(known);
    }
  }
  return make_pcre2_splitter(regex, behavior, invert);
}

}  // namespace netcl::text
