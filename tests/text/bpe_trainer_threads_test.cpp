// SPDX-License-Identifier: Apache-2.0
// Counting on several threads against counting on one, which never cuts a text.
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_trainer.h"
#include "text/document_cut.h"
#include "text/pre_splitter.h"
#include "text/tokenizer_parts.h"
#include "text/word_counts.h"
#include "text/word_runs.h"

using netcl::base::Rng;
using netcl::base::ThreadPool;
using netcl::base::UsageError;
using netcl::text::BpeTrainer;
using netcl::text::find_safe_cut;
using netcl::text::Piece;
using netcl::text::TrainerDocument;
using netcl::text::TrainerOptions;
using netcl::text::TrainResult;
using netcl::text::WordCounts;
using netcl::text::WordRuns;

namespace {

// Text of the things that patterns look at around a line feed.
std::string hostile_text(Rng& rng, uint64_t part_count) {
  static const std::vector<std::string> kParts = {"a",
                                                  "B",
                                                  "the",
                                                  "'s",
                                                  "'",
                                                  "'LL",
                                                  "1",
                                                  "23",
                                                  "4567",
                                                  " ",
                                                  "  ",
                                                  "\t",
                                                  "\n",
                                                  "\n",
                                                  "\n",
                                                  "\n",
                                                  "\r",
                                                  "\r\n",
                                                  "/",
                                                  "!",
                                                  "...",
                                                  "\u00A0",
                                                  "\u3000",
                                                  "\u0085",
                                                  "\u2028",
                                                  "\u0301",
                                                  "\u00E9",
                                                  "\u4E00",
                                                  "\u01C5",
                                                  "\u02B0",
                                                  "\u0660",
                                                  "\u017F",
                                                  "\xFF",
                                                  "\xE3",
                                                  "\xE3\x80",
                                                  "\x80",
                                                  "\xF0\x9F\x98\x80",
                                                  "\v",
                                                  "\f",
                                                  "<s>",
                                                  "x\n",
                                                  "\nx",
                                                  "word\nword",
                                                  "\u3002\n\u4E00"};
  std::string text;
  for (uint64_t i = 0; i < part_count; ++i) {
    text += kParts[rng.below(kParts.size())];
  }
  return text;
}

// The words of a language of lines, `bytes` long.
std::string plain_lines(Rng& rng, size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    for (uint64_t k = 0; k < 1 + rng.below(6); ++k) {
      text += static_cast<char>('a' + rng.below(5));
    }
    const uint64_t end = rng.below(8);
    text += end == 0 ? "\n" : end == 1 ? ".\n" : end == 2 ? "<s>\n" : " ";
  }
  return text;
}

uint64_t last_number(const std::string& text) {
  const std::string digits = "0123456789";
  const size_t last = text.find_last_of(digits);
  const size_t begin = text.find_last_not_of(digits, last) + 1;
  return std::stoull(text.substr(begin, last + 1 - begin));
}

struct Outcome {
  std::vector<std::pair<uint32_t, uint32_t>> merges;
  std::vector<uint64_t> counts;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const BpeTrainer& trainer) {
  const TrainResult result = trainer.train();
  Outcome outcome;
  for (const auto& merge : result.tokenizer.parts().merges) {
    outcome.merges.emplace_back(merge.left, merge.right);
  }
  const auto& report = result.report;
  outcome.counts = {report.documents,           report.bytes,
                    report.pre_tokens,          report.tokens,
                    report.distinct_pre_tokens, report.first_merge_count,
                    report.last_merge_count};
  return outcome;
}

Outcome train_serial(const std::vector<std::string>& texts, const TrainerOptions& options) {
  BpeTrainer trainer(options);
  for (const std::string& text : texts) {
    trainer.add_document(text);
  }
  return outcome_of(trainer);
}

// In two calls, with a call of train() between them.
Outcome train_parallel(const std::vector<std::string>& texts, const TrainerOptions& options,
                       size_t thread_count) {
  ThreadPool pool(thread_count);
  BpeTrainer trainer(options);
  std::vector<TrainerDocument> documents;
  for (const std::string& text : texts) {
    documents.push_back({text});
  }
  const std::span<const TrainerDocument> all = documents;
  trainer.add_documents(all.subspan(0, all.size() / 3), pool);
  trainer.train();
  trainer.add_documents(all.subspan(all.size() / 3), pool);
  return outcome_of(trainer);
}

void check_threads(const std::vector<std::string>& texts, const TrainerOptions& options) {
  const Outcome expected = train_serial(texts, options);
  REQUIRE(!expected.merges.empty());
  for (const size_t thread_count : {1, 2, 3, 8}) {
    CAPTURE(thread_count, options.pattern);
    CHECK(train_parallel(texts, options, thread_count) == expected);
  }
}

}  // namespace

TEST_CASE("document cut: every known pattern makes the same pieces of the two parts") {
  Rng rng(41);
  size_t cut_count = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string text = hostile_text(rng, 2 + rng.below(30));
    for (size_t cut = find_safe_cut(text, 0); cut < text.size();
         cut = find_safe_cut(text, cut + 1)) {
      ++cut_count;
      for (const std::string_view name : netcl::text::splitter_names()) {
        const auto splitter = netcl::text::make_named_splitter(name);
        std::vector<Piece> whole;
        splitter->split(text, whole);
        std::vector<Piece> parts;
        splitter->split(std::string_view(text).substr(0, cut), parts);
        std::vector<Piece> right;
        splitter->split(std::string_view(text).substr(cut), right);
        for (const Piece& piece : right) {
          parts.push_back({piece.begin + cut, piece.end + cut});
        }
        CAPTURE(text, cut, name);
        REQUIRE(parts == whole);
      }
    }
  }
  CHECK(cut_count > 5000);
}

TEST_CASE("document cut: is found at the first place that is safe") {
  CHECK(find_safe_cut("ab\ncd\nef", 0) == 2);
  CHECK(find_safe_cut("ab\ncd\nef", 3) == 3);
  CHECK(find_safe_cut("ab\ncd\nef", 4) == 5);
  CHECK(find_safe_cut("ab\ncd\nef", 8) == 8);
  CHECK(find_safe_cut("ab\r\n- cd", 0) == 2);
  CHECK(find_safe_cut("(1 2)", 0) == 2);
  CHECK(find_safe_cut("\u4E00\u4E01\t", 0) == 6);
  CHECK(find_safe_cut("\u3002\n\u4E00", 0) == 4);
  CHECK(find_safe_cut("\x80\nb", 0) == 2);
  for (const std::string text :
       {"", "\n", "\nb", "!\n", "!\n\nb", "! \nb", "!\r\nb", "!\u3000\nb", "!\u0085\nb", "!\n1",
        "!\n b", "!\n'sb", "!\n\xFF", "!\n\u0301", "abc", "a\u3000b", "\xFF a", "\u0301 a"}) {
    CAPTURE(text);
    CHECK(find_safe_cut(text, 0) == text.size());
  }
}

TEST_CASE("word counts: two tables join to one") {
  Rng rng(3);
  WordCounts all;
  WordCounts left;
  WordCounts right;
  for (int i = 0; i < 20000; ++i) {
    const std::string word = std::to_string(rng.below(6000));
    const uint64_t count = rng.below(5);
    all.add(word, count);
    (rng.below(2) == 0 ? left : right).add(word, count);
  }
  left.add_all(right);
  CHECK(left.total() == all.total());
  REQUIRE(left.size() == all.size());
  const auto contents = [](const WordCounts& words) {
    std::map<std::string, uint64_t> counts;
    words.for_each([&](std::string_view word, uint64_t count) {
      REQUIRE(counts.emplace(word, count).second);
    });
    return counts;
  };
  CHECK(contents(all).size() == all.size());
  CHECK(contents(left) == contents(all));
  WordCounts most;
  most.add("a", static_cast<uint64_t>(INT64_MAX) - 1);
  WordCounts two;
  two.add("b", 2);
  CHECK_THROWS_AS(most.add_all(two), UsageError);
}

TEST_CASE("bpe trainer: any number of threads counts many small texts as one does") {
  Rng rng(17);
  std::vector<std::string> texts;
  for (int i = 0; i < 9000; ++i) {
    texts.push_back(hostile_text(rng, rng.below(40)));
  }
  TrainerOptions options;
  options.vocab_size = 500;
  options.specials = {"<s>", "x\n"};
  for (const std::string pattern : {"gpt2", "cl100k", "none"}) {
    options.pattern = pattern;
    check_threads(texts, options);
  }
  options.pattern = "gpt2";
  options.add_prefix_space = true;
  check_threads(texts, options);
}

TEST_CASE("bpe trainer: more texts than one list of parts holds are all counted") {
  Rng rng(29);
  std::vector<std::string> texts;
  for (int i = 0; i < 150000; ++i) {
    texts.push_back(std::to_string(rng.below(3000)) + "ab\n");
  }
  TrainerOptions options;
  options.vocab_size = 300;
  check_threads(texts, options);
}

TEST_CASE("bpe trainer: a long text that threads share is counted as one text") {
  Rng rng(19);
  std::string hostile;
  while (hostile.size() < 200000) {
    hostile += hostile_text(rng, 1000);
  }
  const std::vector<std::string> texts = {plain_lines(rng, 300000), hostile, "short\n",
                                          std::string(150000, '\n'),
                                          std::string(150000, ' ') + "\n"};
  TrainerOptions options;
  options.vocab_size = 300;
  for (const std::string pattern : {"gpt2", "cl100k", "o200k", "llama3", "qwen2", "none"}) {
    options.pattern = pattern;
    options.specials = {"<s>", "a\n"};
    check_threads(texts, options);
  }
  // Not to be cut at all: each part would get a space, and a piece may go across a line end.
  options.pattern = "gpt2";
  options.add_prefix_space = true;
  check_threads(texts, options);
  options.add_prefix_space = false;
  options.pattern_regex = "[a-z]+\\n[a-z]+";
  check_threads({texts[0]}, options);
}

TEST_CASE("bpe trainer: a memory limit changes nothing but where the counts are") {
  Rng rng(23);
  std::string text;
  while (text.size() < 4000000) {
    for (uint64_t k = 0; k < 1 + rng.below(20); ++k) {
      text += static_cast<char>('a' + rng.below(rng.below(3) == 0 ? 26 : 3));
    }
    text += rng.below(9) == 0 ? ".\n" : " ";
  }
  const netcl::tests::TempDir place;
  TrainerOptions options;
  options.vocab_size = 700;
  options.pattern = "gpt2";
  const Outcome expected = train_serial({text}, options);
  options.temp_dir = place.path().string();
  for (const size_t thread_count : {1, 2, 3}) {
    CAPTURE(thread_count);
    options.memory_limit = (18 + 5 * thread_count) << 20;
    // The text alone takes twice 4 MB.
    CHECK_THROWS_WITH(train_parallel({text}, options, thread_count),
                      Catch::Contains("and a text that cannot be read in parts; the least is"));
    options.memory_limit = uint64_t{100} << 20;
    CHECK(train_parallel({text}, options, thread_count) == expected);
    CHECK(std::filesystem::is_empty(place.path()));
  }
  ThreadPool pool(19);
  BpeTrainer trainer(options);
  CHECK_THROWS_WITH(trainer.add_documents({}, pool), Catch::Contains("the least is 116391936"));
  options.memory_limit = 1;
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
}

TEST_CASE("bpe trainer: one pre-token that is larger than the memory limit is refused") {
  const netcl::tests::TempDir place;
  TrainerOptions options;
  options.pattern = "none";
  options.memory_limit = uint64_t{40} << 20;
  options.temp_dir = place.path().string();
  BpeTrainer trainer(options);
  CHECK_THROWS_WITH(trainer.add_document(std::string(size_t{20} << 20, 'a')),
                    Catch::Contains("would do to count, to learn as well"));
  options.temp_dir = place.file("missing");
  BpeTrainer nowhere(options);
  CHECK_THROWS_AS(nowhere.add_document(std::string(size_t{12} << 20, 'a')), UsageError);
}

TEST_CASE("bpe trainer: what refuses a large pre-token names a limit for counting and learning") {
  const netcl::tests::TempDir place;
  Rng rng(31);
  std::string word;
  while (word.size() < 5000000) {
    word += static_cast<char>('a' + rng.below(3));
  }
  TrainerOptions options;
  options.vocab_size = 600;
  options.temp_dir = place.path().string();
  for (const std::string& text : {word, std::string(5000000, 'a')}) {
    for (const std::string pattern : {"none", "gpt2"}) {
      options.pattern = pattern;
      options.memory_limit = 0;
      const Outcome expected = train_serial({text}, options);
      options.memory_limit = uint64_t{22} << 20;
      std::vector<std::string> refusals;
      for (bool done = false; !done && refusals.size() < 4;) {
        try {
          const Outcome outcome = train_serial({text}, options);
          CHECK(outcome == expected);
          done = true;
        } catch (const UsageError& error) {
          refusals.emplace_back(error.what());
          options.memory_limit = last_number(refusals.back());
        }
      }
      CAPTURE(pattern, refusals);
      // That a text is one piece is known beforehand with no pattern only.
      CHECK(refusals.size() == (pattern == "none" ? 1 : 2));
    }
  }
}

TEST_CASE("word runs: merged runs hold the sums in order") {
  Rng rng(37);
  const netcl::tests::TempDir place;
  for (const size_t most_runs : {2, 3, 64}) {
    WordRuns runs(place.path().string(), most_runs);
    WordCounts words;
    std::map<std::string, uint64_t> expected;
    for (int i = 0; i < 30000; ++i) {
      std::string word;
      for (uint64_t k = 0; k < 1 + rng.below(i % 50 == 0 ? 300 : 4); ++k) {
        word += static_cast<char>(rng.below(i % 3 == 0 ? 256 : 3));
      }
      if (i == 20000) {
        word.assign(200000, 'z');
      }
      const uint64_t count = 1 + rng.below(9);
      words.add(word, count);
      expected[word] += count;
      if (rng.below(2000) == 0) {
        runs.add_run(words);
        CHECK(words.size() == 0);
      }
    }
    runs.add_run(words);
    runs.merge();
    CHECK(runs.word_count() == expected.size());
    auto wanted = expected.begin();
    runs.for_each([&](std::string_view word, uint64_t count) {
      REQUIRE(wanted != expected.end());
      REQUIRE(word == wanted->first);
      REQUIRE(count == wanted->second);
      ++wanted;
    });
    CHECK(wanted == expected.end());
    CHECK(std::filesystem::is_empty(place.path()));
  }
  WordCounts one;
  one.add("a", 1);
  WordRuns nowhere(place.file("missing"));
  CHECK_THROWS_AS(nowhere.add_run(one), netcl::base::IoError);
}

TEST_CASE("bpe trainer: no cut lies inside the text of a special token") {
  std::string text;
  while (text.size() < 400000) {
    text += "ab\ncd ";
  }
  TrainerOptions options;
  options.vocab_size = 270;
  options.specials = {"b\nc"};
  check_threads({text}, options);
}

TEST_CASE("bpe trainer: of several texts that fail the first is named") {
  TrainerOptions options;
  options.pattern_regex = "(a+)+$";
  const std::string bad = std::string(4000, 'a') + "b";
  std::vector<std::string> texts(400, std::string(3000, 'c'));
  for (size_t i = 150; i < texts.size(); ++i) {
    texts[i] = bad;
  }
  std::vector<std::string> names;
  std::vector<TrainerDocument> documents;
  for (size_t i = 0; i < texts.size(); ++i) {
    names.push_back("text" + std::to_string(i));
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    documents.push_back({texts[i], names[i]});
  }
  for (const size_t thread_count : {1, 4}) {
    ThreadPool pool(thread_count);
    BpeTrainer trainer(options);
    CHECK_THROWS_WITH(trainer.add_documents(documents, pool),
                      Catch::StartsWith("text150@0: pattern"));
  }
}
