// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_trainer.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "text/bpe_reference.h"
#include "text/byte_level.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::Rng;
using netcl::base::UsageError;
using netcl::text::BpeTokenizer;
using netcl::text::BpeTrainer;
using netcl::text::ByteOrder;
using netcl::text::EncodeOptions;
using netcl::text::Merge;
using netcl::text::reference_train;
using netcl::text::ReferenceMerges;
using netcl::text::ReferenceTrainOptions;
using netcl::text::SpecialPlace;
using netcl::text::SpecialPolicy;
using netcl::text::StopReason;
using netcl::text::TrainerOptions;
using netcl::text::TrainResult;

namespace {

ReferenceMerges merges_of(const BpeTokenizer& tokenizer) {
  ReferenceMerges merges;
  for (const Merge& merge : tokenizer.parts().merges) {
    merges.emplace_back(tokenizer.token_bytes(merge.left), tokenizer.token_bytes(merge.right));
  }
  return merges;
}

TrainResult train(const std::vector<std::string>& documents, const TrainerOptions& options) {
  BpeTrainer trainer(options);
  for (const std::string& document : documents) {
    trainer.add_document(document);
  }
  return trainer.train();
}

TrainerOptions options_for(uint64_t merges, const std::string& pattern = "gpt2") {
  TrainerOptions options;
  options.vocab_size = 256 + merges;
  options.pattern = pattern;
  return options;
}

ReferenceTrainOptions reference_options(const TrainerOptions& options) {
  ReferenceTrainOptions reference;
  for (int place = 0; place < 256; ++place) {
    const uint8_t byte = options.byte_order == ByteOrder::kGpt2
                             ? netcl::text::bytes_in_printable_order()[place]
                             : static_cast<uint8_t>(place);
    reference.byte_tokens.emplace_back(1, static_cast<char>(byte));
  }
  reference.first_id = options.special_place == SpecialPlace::kFirst
                           ? static_cast<uint32_t>(options.specials.size())
                           : 0;
  reference.max_new_tokens = options.vocab_size - 256 - options.specials.size();
  reference.min_frequency = options.min_frequency;
  reference.max_token_length = options.max_token_length;
  return reference;
}

void check_against_reference(const std::map<std::string, uint64_t>& words,
                             const TrainerOptions& options) {
  BpeTrainer trainer(options);
  for (const auto& [word, count] : words) {
    trainer.add_pre_token(word, count);
  }
  REQUIRE(merges_of(trainer.train().tokenizer) ==
          reference_train(words, reference_options(options)));
}

}  // namespace

TEST_CASE("bpe trainer: overlapping windows count in runs") {
  const TrainResult result = train({"xxxx\nxxxx\nxy\nxy\nxy\nxy\nxy\n"}, options_for(3));
  CHECK(merges_of(result.tokenizer) == ReferenceMerges{{"x", "x"}, {"x", "y"}, {"xx", "xx"}});
  CHECK(result.report.first_merge_count == 6);
  CHECK(result.report.last_merge_count == 2);
}

TEST_CASE("bpe trainer: counts that fell are not used") {
  const TrainResult result =
      train({"onx onx nxt nxt on nxt onx on nx nx onx nxt nxt nxt"}, options_for(7));
  CHECK(merges_of(result.tokenizer) == ReferenceMerges{{"n", "x"},
                                                       {" ", "nx"},
                                                       {" nx", "t"},
                                                       {" ", "o"},
                                                       {" o", "nx"},
                                                       {" o", "n"},
                                                       {"o", "nx"}});
  CHECK(result.report.first_merge_count == 12);
  CHECK(result.report.last_merge_count == 1);
}

TEST_CASE("bpe trainer: a vocabulary size below the minimum is refused by name") {
  const auto message = [](uint64_t size, std::vector<std::string> specials) {
    TrainerOptions options;
    options.vocab_size = size;
    options.specials = std::move(specials);
    try {
      BpeTrainer trainer(options);
      return std::string();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  CHECK(message(100, {}).find("minimum is 256") != std::string::npos);
  CHECK(message(0, {}).find("minimum is 256") != std::string::npos);
  CHECK(message(257, {"<A>", "<B>"}).find("minimum is 258") != std::string::npos);
  CHECK(message(static_cast<uint64_t>(-5), {}).find("maximum is") != std::string::npos);
  CHECK(message(258, {"<A>", "<B>"}).empty());
  const TrainResult result = train({"two\n", "lines\n"}, options_for(0));
  CHECK(result.tokenizer.vocab_size() == 256);
  CHECK(result.report.merges == 0);
  CHECK(result.report.stopped == StopReason::kVocabSize);
}

TEST_CASE("bpe trainer: bad options are refused") {
  TrainerOptions options;
  options.max_token_length = 1;
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
  options = {};
  options.specials = {"<s>", "<s>"};
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
  options.specials = {""};
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
  options.specials = {"\xFF"};
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
  for (const std::string byte_token : {"A", "\u0120", "\u00FF", "|"}) {
    options.specials = {"<s>", byte_token};
    CHECK_THROWS_WITH(BpeTrainer(options), Catch::Contains("'" + byte_token + "'"));
    CHECK_THROWS_AS(BpeTrainer(options), UsageError);
  }
  options.specials = {"AA", " ", "\n", "\u4E00", "\u0144"};  // no printable form of one byte
  CHECK_NOTHROW(BpeTrainer(options));
  options = {};
  options.pattern = "gpt99";
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
  options = {};
  options.pattern_regex = "(";
  CHECK_THROWS_AS(BpeTrainer(options), FormatError);
  options = {};
  options.add_prefix_space = true;
  CHECK_THROWS_AS(BpeTrainer(options), UsageError);
}

TEST_CASE("bpe trainer: tiny corpora end early") {
  for (const std::string text : {"", "a", "\n", "ab"}) {
    for (const std::string pattern : {"gpt2", "cl100k", "none"}) {
      const TrainResult result = train({text}, options_for(1000, pattern));
      CHECK(result.report.merges == (text == "ab" ? 1 : 0));
      CHECK(result.report.stopped == StopReason::kNoPairs);
    }
  }
  TrainerOptions options = options_for(1000);
  options.byte_order = ByteOrder::kRaw;
  CHECK(train({"ab"}, options).tokenizer.encode("ab") == std::vector<uint32_t>{256});
}

TEST_CASE("bpe trainer: special tokens are cut out of the corpus") {
  std::string marked;
  std::vector<std::string> parts;
  for (int i = 0; i < 200; ++i) {
    marked += "red<|sep|>blue";
    parts.push_back(i == 0 ? "red" : "bluered");
  }
  parts.push_back("blue");
  TrainerOptions options;
  options.vocab_size = 300;
  options.pattern = "gpt2";
  options.specials = {"<|sep|>"};
  const BpeTokenizer with_marks = train({marked}, options).tokenizer;
  for (uint32_t id = 1; id < with_marks.id_limit(); ++id) {
    const std::string bytes(with_marks.token_bytes(id));
    CHECK(bytes.find("<|") == std::string::npos);
    CHECK(bytes.find("sep") == std::string::npos);
    CHECK(bytes.find("|>") == std::string::npos);
  }
  CHECK(merges_of(with_marks) == merges_of(train(parts, options).tokenizer));
  EncodeOptions allow;
  allow.special = SpecialPolicy::kAllow;
  CHECK(with_marks.encode("<|sep|>", allow) == std::vector<uint32_t>{0});
}

TEST_CASE("bpe trainer: of special tokens at one place the longest is cut") {
  TrainerOptions options = options_for(10);
  options.vocab_size += 2;
  options.specials = {"<a>", "<a>b"};
  CHECK(merges_of(train({"xy<a>bxy<a>xy"}, options).tokenizer) == ReferenceMerges{{"x", "y"}});
}

TEST_CASE("bpe trainer: ids are specials then bytes then merges") {
  TrainerOptions options;
  options.vocab_size = 260;
  options.pattern = "gpt2";
  options.specials = {"<s>", "</s>"};
  const BpeTokenizer first = train({"abababcc"}, options).tokenizer;
  CHECK(first.find_added("<s>") == 0U);
  CHECK(first.find_added("</s>") == 1U);
  CHECK(first.find_token("!") == 2U);
  CHECK(first.find_token(" ") == 222U);
  CHECK(first.find_token("ab") == 258U);
  CHECK(first.find_token("abab") == 259U);
  options.special_place = SpecialPlace::kLast;
  options.byte_order = ByteOrder::kRaw;
  const BpeTokenizer last = train({"abababcc"}, options).tokenizer;
  CHECK(last.find_token("a") == 97U);
  CHECK(last.find_token("ab") == 256U);
  CHECK(last.find_added("<s>") == 258U);
  CHECK(last.find_added("</s>") == 259U);
  CHECK(last.vocab_size() == 260);
}

TEST_CASE("bpe trainer: equals the reference on random small corpora") {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::map<std::string, uint64_t> words;
    const uint64_t letters = 1 + rng.below(4);
    for (uint64_t i = 0; i < 1 + rng.below(25); ++i) {
      std::string word;
      for (uint64_t k = 0; k < 1 + rng.below(round % 3 == 0 ? 30 : 8); ++k) {
        word += static_cast<char>(round % 7 == 0 ? rng.below(256) : 'a' + rng.below(letters));
      }
      words[word] += 1 + rng.below(round % 2 == 0 ? 3 : 40);
    }
    TrainerOptions options = options_for(rng.below(60), "none");
    options.min_frequency = rng.below(4);
    options.max_token_length = rng.below(2) == 0 ? 0 : 2 + rng.below(6);
    options.byte_order = rng.below(2) == 0 ? ByteOrder::kGpt2 : ByteOrder::kRaw;
    if (rng.below(3) == 0) {
      options.specials = {"<s>", "</s>"};
      options.vocab_size += 2;
      options.special_place = rng.below(2) == 0 ? SpecialPlace::kFirst : SpecialPlace::kLast;
    }
    CAPTURE(round);
    check_against_reference(words, options);
  }
}

TEST_CASE("bpe trainer: learning to the end makes every string in one way only") {
  // Few letters, few words, merges until no pair is left.
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    std::map<std::string, uint64_t> words;
    for (uint64_t i = 0; i < 2 + rng.below(8); ++i) {
      std::string word;
      for (uint64_t k = 0; k < 2 + rng.below(9); ++k) {
        word += static_cast<char>('a' + rng.below(3));
      }
      words[word] += 1 + rng.below(5);
    }
    const TrainerOptions options = options_for(200, "none");
    check_against_reference(words, options);
    BpeTrainer trainer(options);
    for (const auto& [word, count] : words) {
      trainer.add_pre_token(word, count);
    }
    const TrainResult result = trainer.train();
    CHECK(result.report.reused_ids == 0);
    CHECK(result.report.stopped == StopReason::kNoPairs);
  }
}

TEST_CASE("bpe trainer: counted pre-tokens lose the text of special tokens too") {
  TrainerOptions options = options_for(10, "none");
  options.vocab_size += 1;
  options.specials = {"<s>"};
  BpeTrainer trainer(options);
  trainer.add_pre_token("ab<s>cd", 3);
  trainer.add_pre_token("<s>", 3);
  CHECK(merges_of(trainer.train().tokenizer) == ReferenceMerges{{"a", "b"}, {"c", "d"}});
}

TEST_CASE("bpe trainer: counts beyond 32 bits are exact") {
  BpeTrainer big(options_for(2));
  big.add_pre_token("ok", 3000000000U);
  big.add_pre_token(" ok", 9000000000U);
  big.add_pre_token("xy", 4000000000U);
  const TrainResult result = big.train();
  CHECK(merges_of(result.tokenizer) == ReferenceMerges{{"o", "k"}, {" ", "ok"}});
  CHECK(result.report.first_merge_count == 12000000000U);
  CHECK_THROWS_AS(big.add_pre_token("z", UINT64_MAX), UsageError);
}

TEST_CASE("bpe trainer: bytes beyond 63 bits are refused before any sum overflows") {
  BpeTrainer trainer(options_for(9, "none"));
  CHECK_THROWS_AS(trainer.add_pre_token("ab", (uint64_t{1} << 62) + 1), UsageError);
  BpeTrainer most(options_for(9, "none"));
  most.add_pre_token("aaa", (uint64_t{1} << 61) + 1);
  most.add_pre_token("b", 5);
  const TrainResult result = most.train();
  CHECK(result.report.first_merge_count == (uint64_t{1} << 62) + 2);
  CHECK(result.report.tokens == (uint64_t{1} << 61) + 6);
  CHECK_THROWS_AS(most.add_pre_token("c", uint64_t{1} << 62), UsageError);
}

TEST_CASE("bpe trainer: the tokens reported are those that encoding the corpus gives") {
  const std::vector<std::string> documents = {"low lower lowest x y", "aaaa aaaaa new newer", "",
                                              "wide lower aaa\n\nz"};
  for (const uint64_t merges : {0, 1, 5, 12, 500}) {
    for (const uint64_t longest : {0, 3}) {
      TrainerOptions options = options_for(merges);
      options.max_token_length = longest;
      const TrainResult result = train(documents, options);
      uint64_t count = 0;
      for (const std::string& document : documents) {
        count += result.tokenizer.encode(document).size();
      }
      CHECK(result.report.tokens == count);
    }
  }
  CHECK(train({""}, options_for(9)).report.tokens == 0);
}

TEST_CASE("bpe trainer: order of documents and repeated calls change nothing") {
  const std::vector<std::string> forth = {"low lower lowest", "new newer", "low low"};
  const std::vector<std::string> back(forth.rbegin(), forth.rend());
  const ReferenceMerges merges = merges_of(train(forth, options_for(30)).tokenizer);
  CHECK(merges == merges_of(train(back, options_for(30)).tokenizer));
  BpeTrainer trainer(options_for(30));
  trainer.add_document(forth[0]);
  trainer.train();
  trainer.add_document(forth[1]);
  trainer.add_document(forth[2]);
  CHECK(merges_of(trainer.train().tokenizer) == merges);
  CHECK(merges_of(trainer.train().tokenizer) == merges);
}

TEST_CASE("bpe trainer: progress never passes its total") {
  BpeTrainer trainer(options_for(500));
  trainer.add_document("the quick brown fox jumps over the lazy dog and over the fence");
  uint64_t calls = 0;
  trainer.train([&](const netcl::base::Progress& progress) {
    ++calls;
    CHECK(progress.done <= progress.total);
  });
  CHECK(calls > 0);
}

TEST_CASE("bpe trainer: one long piece takes no quadratic time") {
  Rng rng(5);
  std::string text;
  for (int i = 0; i < 1 << 20; ++i) {
    text += static_cast<char>('a' + rng.below(4));
  }
  for (const std::string& piece : {text, std::string(1 << 20, 'a')}) {
    BpeTrainer trainer(options_for(2000, "none"));
    trainer.add_document(piece);
    const auto start = std::chrono::steady_clock::now();
    const TrainResult result = trainer.train();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CHECK(result.report.merges > 0);
    CHECK(seconds.count() < 30);
  }
}
