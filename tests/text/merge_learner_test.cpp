// SPDX-License-Identifier: Apache-2.0
// The merge phase against training written from its definition, with everything that only changes
// how it goes about it forced to extremes.
#include "text/merge_learner.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "support/catch.h"
#include "text/bpe_reference.h"
#include "text/byte_level.h"

using netcl::base::Rng;
using netcl::text::learn_merges;
using netcl::text::LearnedMerges;
using netcl::text::LearnRequest;
using netcl::text::LearnTuning;
using netcl::text::Merge;
using netcl::text::reference_train;
using netcl::text::ReferenceMerges;
using netcl::text::ReferenceTrainOptions;
using netcl::text::StopReason;
using netcl::text::WordVisitor;
using netcl::text::WordWalk;

namespace {

using Words = std::map<std::string, uint64_t>;

LearnRequest request_for(uint64_t merges, bool gpt2_order = true) {
  LearnRequest request;
  for (uint32_t place = 0; place < 256; ++place) {
    request.bytes_in_order[place] =
        gpt2_order ? netcl::text::bytes_in_printable_order()[place] : static_cast<uint8_t>(place);
  }
  request.token_limit = 256 + merges;
  return request;
}

LearnedMerges learn(const Words& words, const LearnRequest& request) {
  const WordWalk walk = [&](const WordVisitor& visit) {
    for (const auto& [word, count] : words) {
      visit(word, count);
    }
  };
  return learn_merges(walk, request, {});
}

ReferenceMerges merges_of(const LearnedMerges& learned, const LearnRequest& request) {
  ReferenceMerges merges;
  for (const Merge& merge : learned.merges) {
    merges.emplace_back(learned.tokens[merge.left - request.first_byte_id],
                        learned.tokens[merge.right - request.first_byte_id]);
  }
  return merges;
}

ReferenceMerges expected_merges(const Words& words, const LearnRequest& request) {
  ReferenceTrainOptions options;
  for (const uint8_t byte : request.bytes_in_order) {
    options.byte_tokens.emplace_back(1, static_cast<char>(byte));
  }
  options.first_id = request.first_byte_id;
  options.max_new_tokens = request.token_limit - 256;
  options.min_frequency = request.min_frequency;
  options.max_token_length = request.max_token_length;
  return reference_train(words, options);
}

// Every way to go about it: guessed and forced thresholds, lists and scans, both widths of symbols,
// lists that are written anew all the time, and a census of few pairs at a time.
std::vector<LearnTuning> tunings() {
  std::vector<LearnTuning> all;
  for (const uint64_t threshold : {0, 1, 7, 100000}) {
    for (const bool wide : {false, true}) {
      for (const int scan : {0, 1, 2, 3}) {
        LearnTuning tuning;
        tuning.first_threshold = threshold;
        tuning.wide_symbols = wide;
        tuning.scan = scan == 0 ? LearnTuning::Scan::kNever : LearnTuning::Scan::kFirst;
        tuning.scan_part = scan == 1 ? 5 : scan == 2 ? 40 : UINT64_MAX;
        tuning.limits.least_garbage = wide ? 0 : uint64_t{1} << 20;
        tuning.limits.census_pairs = wide ? 3 : uint64_t{1} << 23;
        all.push_back(tuning);
        // The least memory for pairs, so that few of them are recorded at a time.
        tuning.limits.memory = netcl::text::PairStore<uint32_t>::least_memory(60, 300);
        all.push_back(tuning);
      }
    }
  }
  return all;
}

// `part` and `parts`: tries every parts-th way of working from the part-th on.
void check_tunings(const Words& words, LearnRequest request, size_t part = 0, size_t parts = 1) {
  const ReferenceMerges expected = expected_merges(words, request);
  request.tuning = {};
  const LearnedMerges first = learn(words, request);
  REQUIRE(merges_of(first, request) == expected);
  const std::vector<LearnTuning> all = tunings();
  for (size_t i = part; i < all.size(); i += parts) {
    const LearnTuning& tuning = all[i];
    request.tuning = tuning;
    CAPTURE(tuning.first_threshold, tuning.wide_symbols, static_cast<int>(tuning.scan),
            tuning.scan_part);
    const LearnedMerges learned = learn(words, request);
    REQUIRE(learned.merges == first.merges);
    REQUIRE(learned.token_count == first.token_count);
    REQUIRE(learned.stopped == first.stopped);
    REQUIRE(learned.first_count == first.first_count);
    REQUIRE(learned.last_count == first.last_count);
    REQUIRE(learned.tokens == first.tokens);
  }
}

std::string random_word(Rng& rng, uint64_t most_bytes, uint64_t letters) {
  std::string word;
  for (uint64_t k = 0; k < 1 + rng.below(most_bytes); ++k) {
    word += static_cast<char>(letters == 256 ? rng.below(256) : 'a' + rng.below(letters));
  }
  return word;
}

}  // namespace

TEST_CASE("merge learner: equals the definition on random inventories in every way of working") {
  Rng rng(2026);
  for (int round = 0; round < 2200; ++round) {
    Words words;
    const uint64_t letters = round % 11 == 0 ? 256 : 1 + rng.below(4);
    const uint64_t most_bytes = round % 5 == 0 ? 60 : round % 3 == 0 ? 2 : 9;
    for (uint64_t i = 0; i < rng.below(round % 4 == 0 ? 3 : 20); ++i) {
      words[random_word(rng, most_bytes, letters)] += rng.below(round % 2 == 0 ? 4 : 300);
    }
    LearnRequest request = request_for(rng.below(round % 6 == 0 ? 4 : 70), rng.below(2) == 0);
    request.first_byte_id = static_cast<uint32_t>(rng.below(3));
    request.min_frequency = 1 + rng.below(round % 3 == 0 ? 40 : 2);
    request.max_token_length = rng.below(2) == 0 ? 0 : 2 + rng.below(8);
    CAPTURE(round);
    check_tunings(words, request, static_cast<size_t>(round) % 4, 4);
  }
}

// More pairs of one count than the tunings with least memory have room for.
TEST_CASE("merge learner: many pairs of equal counts are cut where memory is short") {
  Rng rng(77);
  for (int round = 0; round < 12; ++round) {
    Words words;
    for (int i = 0; i < 250; ++i) {
      std::string word;
      for (uint64_t k = 0; k < 2 + rng.below(3); ++k) {
        word += static_cast<char>('a' + rng.below(16));
      }
      words[word] = round % 3 == 0 ? 1 + rng.below(2) : 5;
    }
    CAPTURE(round);
    LearnRequest request = request_for(150, round % 2 == 0);
    request.min_frequency = round % 3 == 1 ? 5 : 1;  // of the last pairs that may be merged
    check_tunings(words, request, static_cast<size_t>(round) % 4, 4);
  }
}

TEST_CASE("merge learner: long words of one letter or a short period") {
  Rng rng(5);
  for (const std::string period : {"a", "ab", "aab", "abcab", "aaaaaaaaab"}) {
    for (const size_t bytes : {2, 3, 7, 64, 127, 128, 129, 700}) {
      std::string word;
      while (word.size() < bytes) {
        word += period;
      }
      word.resize(bytes);
      Words words = {{word, 1 + rng.below(3)}, {word + "b", 2}, {"a" + word, 1}};
      CAPTURE(period, bytes);
      check_tunings(words, request_for(60));
    }
  }
}

TEST_CASE("merge learner: tells of every merge as it is made") {
  LearnRequest request = request_for(6);
  netcl::text::Merges told;
  std::vector<uint64_t> counts;
  request.merged = [&](const Merge& merge, uint64_t count) {
    told.push_back(merge);
    counts.push_back(count);
  };
  const LearnedMerges learned = learn({{"lower", 3}, {"lowest", 2}, {"new", 4}}, request);
  REQUIRE(told.size() == 6);
  CHECK(told == learned.merges);
  CHECK(counts.front() == learned.first_count);
  CHECK(counts.back() == learned.last_count);
  CHECK(std::is_sorted(counts.rbegin(), counts.rend()));
}

TEST_CASE("merge learner: nothing to merge") {
  for (const Words& words :
       {Words{}, Words{{"a", 5}}, Words{{"a", 1}, {"b", 2}}, Words{{"ab", 0}}, Words{{"ab", 1}}}) {
    for (const uint64_t merges : {0, 1, 1000}) {
      check_tunings(words, request_for(merges));
    }
  }
  const LearnedMerges none = learn({{"a", 5}, {"b", 2}}, request_for(10));
  CHECK(none.stopped == StopReason::kNoPairs);
  CHECK(none.token_count == 7);
  LearnRequest rare = request_for(10);
  rare.min_frequency = 3;
  CHECK(learn({{"ab", 2}}, rare).stopped == StopReason::kMinFrequency);
  rare.min_frequency = 1;
  rare.max_token_length = 2;
  CHECK(learn({{"abc", 2}}, rare).stopped == StopReason::kMinFrequency);
}

TEST_CASE("merge learner: more occurrences than are remembered between the two passes") {
  Rng rng(8);
  std::string word;
  for (int i = 0; i < 400000; ++i) {
    word += static_cast<char>('a' + rng.below(2));
  }
  const Words words = {{word, 1}, {std::string(300000, 'a'), 2}};
  LearnRequest request = request_for(300);
  request.tuning.scan = LearnTuning::Scan::kFirst;
  request.tuning.scan_part = UINT64_MAX;  // no lists
  const LearnedMerges scanned = learn(words, request);
  REQUIRE(scanned.merges.size() == 300);
  for (const uint64_t garbage : {uint64_t{0}, uint64_t{1} << 20}) {
    for (const bool wide : {false, true}) {
      request.tuning.scan = LearnTuning::Scan::kNever;
      request.tuning.limits.least_garbage = garbage;
      request.tuning.wide_symbols = wide;
      const LearnedMerges listed = learn(words, request);
      CHECK(listed.merges == scanned.merges);
      CHECK(listed.last_count == scanned.last_count);
      CHECK(listed.token_count == scanned.token_count);
    }
  }
}

namespace {

// Training on symbols that stand for any strings, straight from the definition: a merge whose
// string a symbol stands for already gives that symbol.
std::vector<std::array<uint32_t, 3>> train_symbols(
    const std::vector<std::pair<std::vector<uint32_t>, uint64_t>>& corpus,
    std::vector<std::string> strings, uint64_t limit) {
  auto words = corpus;
  std::vector<std::array<uint32_t, 3>> merges;
  while (strings.size() < limit) {
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> counts;
    for (const auto& [symbols, count] : words) {
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        counts[{symbols[i], symbols[i + 1]}] += count;
      }
    }
    const auto best =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second == 0) {
      break;
    }
    const auto [left, right] = best->first;
    const std::string joined = strings[left] + strings[right];
    const auto known = std::find(strings.begin(), strings.end(), joined);
    const uint32_t merged = static_cast<uint32_t>(known - strings.begin());
    if (known == strings.end()) {
      strings.push_back(joined);
    }
    merges.push_back({left, right, merged});
    for (auto& [symbols, count] : words) {
      std::vector<uint32_t> shorter;
      for (size_t i = 0; i < symbols.size(); ++i) {
        const bool here = i + 1 < symbols.size() && symbols[i] == left && symbols[i + 1] == right;
        shorter.push_back(here ? merged : symbols[i]);
        i += here ? 1 : 0;
      }
      symbols = shorter;
    }
  }
  return merges;
}

}  // namespace

TEST_CASE("merge learner: a merge whose string is there already reuses its id") {
  // 'x' stands for "ab" and 'y' for "abc": merging a and b gives x, x and c gives y.
  LearnRequest request = request_for(3, false);
  for (int byte = 0; byte < 256; ++byte) {
    request.alphabet.emplace_back(byte == 'x'   ? "ab"
                                  : byte == 'y' ? "abc"
                                                : std::string(1, static_cast<char>(byte)));
  }
  const Words words = {{"abcz", 6}, {"xcz", 3}, {"yz", 2}, {"ab", 5}};
  const netcl::text::Merges expected = {
      {'a', 'b', 'x'}, {'c', 'z', 256}, {'x', 256, 257}, {'y', 'z', 257}};
  const LearnedMerges learned = learn(words, request);
  CHECK(learned.merges == expected);
  CHECK(learned.first_count == 11);
  CHECK(learned.last_count == 2);
  CHECK(learned.tokens.size() == 258);
  CHECK(learned.tokens.back() == "abcz");
  CHECK(learned.token_count == 6 + 3 + 2 + 5);

  // The same with random words, against the definition.
  Rng rng(31);
  size_t reused = 0;
  for (int round = 0; round < 400; ++round) {
    Words random;
    const std::string letters = "abcxy";
    for (uint64_t i = 0; i < 1 + rng.below(12); ++i) {
      std::string word;
      for (uint64_t k = 0; k < 1 + rng.below(14); ++k) {
        word += letters[rng.below(letters.size())];
      }
      random[word] += 1 + rng.below(9);
    }
    request.token_limit = 256 + rng.below(40);
    std::vector<std::pair<std::vector<uint32_t>, uint64_t>> symbol_words;
    for (const auto& [word, count] : random) {
      symbol_words.push_back({{word.begin(), word.end()}, count});
    }
    const auto wanted = train_symbols(symbol_words, request.alphabet, request.token_limit);
    const std::vector<LearnTuning> all = tunings();
    for (size_t i = static_cast<size_t>(round) % 4; i < all.size(); i += 4) {
      const LearnTuning& tuning = all[i];
      request.tuning = tuning;
      const LearnedMerges found = learn(random, request);
      CAPTURE(round, tuning.first_threshold, tuning.scan_part);
      REQUIRE(found.merges.size() == wanted.size());
      for (size_t k = 0; k < wanted.size(); ++k) {
        REQUIRE(found.merges[k].left == wanted[k][0]);
        REQUIRE(found.merges[k].right == wanted[k][1]);
        REQUIRE(found.merges[k].result == wanted[k][2]);
      }
    }
    reused += wanted.size() + 256 - learn(random, request).tokens.size();
  }
  CHECK(reused > 100);
}
