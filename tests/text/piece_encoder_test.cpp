// SPDX-License-Identifier: Apache-2.0
// Encoding through the cache of pieces against merging every piece by itself.
#include "text/piece_encoder.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "base/thread_pool.h"
#include "support/catch.h"
#include "text/bpe_trainer.h"
#include "text/document_cut.h"
#include "text/normal_form.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

using netcl::base::Rng;
using netcl::base::ThreadPool;
using netcl::text::BpeEncoder;
using netcl::text::BpeTokenizer;
using netcl::text::EncodeOptions;
using netcl::text::EncodeScratch;
using netcl::text::find_safe_cut;
using netcl::text::PreTokenized;
using netcl::text::TokenizerParts;
using netcl::text::TrainerOptions;

namespace {

using Ids = std::vector<uint32_t>;

// Words of 1 to 40 bytes, some of them bytes that are no UTF-8, digits, blanks and line ends. Few
// enough letters that words come back.
std::string random_text(Rng& rng, size_t words) {
  std::string text;
  for (size_t i = 0; i < words; ++i) {
    const size_t length = 1 + (rng.below(10) == 0 ? rng.below(40) : rng.below(6));
    for (size_t j = 0; j < length; ++j) {
      text += static_cast<char>(rng.below(50) == 0 ? rng.below(256) : 'a' + rng.below(5));
    }
    const char* const between[] = {" ",       " ",   "\n", "  \r\n",
                                   " 12345 ", "'s ", ", ", "\xE4\xB8\xAD"};
    text += between[rng.below(8)];
  }
  return text;
}

BpeTokenizer make_tokenizer(const std::string& pattern) {
  Rng rng(5);
  TrainerOptions options;
  options.pattern = pattern;
  options.vocab_size = 500;
  return BpeTokenizer::train(std::vector<std::string>{random_text(rng, 20000)}, options);
}

Ids merge_each_piece(const BpeTokenizer& tokenizer, std::string_view text) {
  const TokenizerParts& parts = tokenizer.parts();
  const BpeEncoder encoder(parts.vocabulary, parts.rule, parts.merges, parts.ignore_merges);
  PreTokenized split;
  parts.pre_tokenizer.split(text, split);
  EncodeScratch scratch;
  Ids ids;
  for (const netcl::text::Piece& piece : split.pieces) {
    encoder.encode(split.text.substr(piece.begin, piece.end - piece.begin), scratch, ids);
  }
  return ids;
}

}  // namespace

TEST_CASE("piece encoder: the cache changes no id, whatever its size") {
  for (const char* pattern : {"gpt2", "cl100k", "o200k"}) {
    const BpeTokenizer tokenizer = make_tokenizer(pattern);
    Rng rng(6);
    for (const size_t words : {0, 1, 2, 50, 300, 5000, 100000}) {
      const std::string text = random_text(rng, words);
      const Ids wanted = merge_each_piece(tokenizer, text);
      for (const size_t cache_bytes : {size_t{0}, netcl::text::kDefaultCacheBytes}) {
        EncodeOptions options;
        options.cache_bytes = cache_bytes;
        CHECK((tokenizer.encode(text, options) == wanted));
        CHECK((tokenizer.encode(text, options) == wanted));
        CHECK((tokenizer.encode_with_spans(text, options).ids == wanted));
      }
    }
  }
}

TEST_CASE("piece encoder: threads share a tokenizer") {
  const BpeTokenizer tokenizer = make_tokenizer("cl100k");
  Rng rng(7);
  const std::string text = random_text(rng, 3000);
  const Ids wanted = merge_each_piece(tokenizer, text);
  std::vector<int> equal(4);
  std::vector<std::thread> threads;
  for (int& result : equal) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        result += tokenizer.encode(text) == wanted ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK((equal == std::vector<int>(4, 5)));
}

TEST_CASE("piece encoder: a long text by several threads has the ids of one thread") {
  Rng rng(8);
  const std::string many_cuts = random_text(rng, 500000);  // some 3 MB
  const std::string no_cut = std::string(3 << 20, 'a') + " \n b";
  for (const char* pattern : {"gpt2", "cl100k", "o200k"}) {
    const BpeTokenizer tokenizer = make_tokenizer(pattern);
    for (const std::string& text : {many_cuts, no_cut}) {
      const Ids wanted = tokenizer.encode(text);
      for (const size_t threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        CHECK((tokenizer.encode(text, EncodeOptions(), pool) == wanted));
        Ids taken;
        tokenizer.encode(text, EncodeOptions(), pool, [&](std::span<const uint32_t> ids) {
          taken.insert(taken.end(), ids.begin(), ids.end());
        });
        CHECK((taken == wanted));
      }
    }
  }
}

TEST_CASE("piece encoder: what happens while parts are handed out ends the call") {
  Rng rng(10);
  const BpeTokenizer tokenizer = make_tokenizer("cl100k");
  const std::string text = random_text(rng, 500000);
  const Ids wanted = tokenizer.encode(text);
  for (const size_t threads : {2, 5}) {
    ThreadPool pool(threads);
    size_t calls = 0;
    const auto failing = [&](std::span<const uint32_t>) {
      if (++calls == 2) {
        throw std::runtime_error("full");
      }
    };
    CHECK_THROWS_AS(tokenizer.encode(text, EncodeOptions(), pool, failing), std::runtime_error);
    CHECK(calls == 2);
    // A piece that is too long: the ids of whole parts before it, in order, and its place.
    EncodeOptions limited;
    limited.max_piece = 100;
    const std::string with_long = text + " " + std::string(101, 'a') + " " + text;
    Ids taken;
    CHECK_THROWS_WITH(tokenizer.encode(with_long, limited, pool,
                                       [&](std::span<const uint32_t> ids) {
                                         taken.insert(taken.end(), ids.begin(), ids.end());
                                       }),
                      Catch::Contains("@" + std::to_string(text.size())));
    REQUIRE(taken.size() <= wanted.size());
    CHECK(!taken.empty());
    CHECK(std::equal(taken.begin(), taken.end(), wanted.begin()));
  }
}

TEST_CASE(
    "piece encoder: added tokens do not depend on safe cuts, or the tokenizer cannot be cut") {
  const BpeTokenizer plain = make_tokenizer("cl100k");
  Rng rng(9);
  const std::vector<std::string> kParts = {"a", "b", "1",   " ",        "\n", "\r\n",
                                           "x", "!", "<t>", "\xC3\xA9", "\t"};
  const auto random_string = [&](size_t longest) {
    std::string text;
    for (size_t i = 1 + rng.below(longest); i > 0; --i) {
      text += kParts[rng.below(kParts.size())];
    }
    return text;
  };
  size_t cut_count = 0;
  for (int round = 0; round < 400; ++round) {
    TokenizerParts parts = plain.parts();
    parts.added_tokens.clear();
    for (uint32_t i = 0; i < 1 + rng.below(3); ++i) {
      netcl::text::AddedToken token;
      token.content = random_string(3);
      token.id = 1000 + i;
      token.special = false;
      token.lstrip = rng.below(3) == 0;
      token.rstrip = rng.below(3) == 0;
      token.single_word = rng.below(3) == 0;
      parts.added_tokens.push_back(token);
    }
    const BpeTokenizer tokenizer(std::move(parts));
    for (int i = 0; tokenizer.can_be_cut() && i < 20; ++i) {
      const std::string text = random_string(24);
      const Ids wanted = tokenizer.encode(text);
      for (size_t cut = find_safe_cut(text, 0); cut < text.size();
           cut = find_safe_cut(text, cut + 1)) {
        Ids ids = tokenizer.encode(text.substr(0, cut));
        const Ids right = tokenizer.encode(text.substr(cut));
        ids.insert(ids.end(), right.begin(), right.end());
        CAPTURE(text, cut, tokenizer.parts().added_tokens[0].content);
        REQUIRE((ids == wanted));
        ++cut_count;
      }
    }
  }
  CHECK(cut_count > 5000);
}

// Letters that change, compose with what follows or went before, marks, jamos, white space that
// becomes other white space, and bytes that are no UTF-8.
TEST_CASE("safe cuts: normal forms of the parts make the normal form of the whole") {
  using netcl::text::Normalizer;
  using netcl::text::NormalizerStep;
  const std::vector<std::string> kParts = {"a",
                                           "e",
                                           "Z",
                                           "7",
                                           " ",
                                           "\n",
                                           "\n",
                                           "!",
                                           "\xCC\x81",
                                           "\xCC\xB8",
                                           "\xE2\x84\xAB",
                                           "\xE0\xA5\x98",
                                           "\xE1\x84\x80",
                                           "\xE1\x85\xA1",
                                           "\xE1\x86\xA8",
                                           "\xEA\xB0\x80",
                                           "\xE3\x81\x8B",
                                           "\xE3\x82\x99",
                                           "\xE2\x80\x80",
                                           "\xEF\xAC\x81",
                                           "\xC2\xBD",
                                           "\xD9\xB0",
                                           "\xC3\xA9",
                                           "\xE4\xB8\xAD",
                                           "\xF0\x9D\x85\x9E",
                                           "\xFF",
                                           "\xC2\xA8",
                                           "\xE0\xA7\x87",
                                           "\xE0\xA6\xBE"};
  Rng rng(11);
  const auto random_text_of = [&](size_t most) {
    std::string text;
    for (size_t count = 1 + rng.below(most); count > 0; --count) {
      text += kParts[rng.below(kParts.size())];
    }
    return text;
  };
  size_t cut_count = 0;
  for (const NormalizerStep::Kind kind :
       {NormalizerStep::Kind::kNfc, NormalizerStep::Kind::kNfd, NormalizerStep::Kind::kNfkc,
        NormalizerStep::Kind::kNfkd}) {
    for (const char* const pattern : {"gpt2", "cl100k", "o200k", "qwen2"}) {
      NormalizerStep step;
      step.kind = kind;
      const Normalizer normalizer({step});
      // Merges across whatever stands side by side, so that the ids tell where pieces end.
      TrainerOptions options;
      options.pattern = "none";
      options.vocab_size = 3000;
      const std::vector<std::string> learned = {normalizer.normalize(random_text_of(100000))};
      TokenizerParts parts = BpeTokenizer::train(learned, options).parts();
      parts.pre_tokenizer = make_tokenizer(pattern).parts().pre_tokenizer;
      parts.normalizer = normalizer;
      const BpeTokenizer tokenizer(std::move(parts));
      REQUIRE(tokenizer.can_be_cut());
      for (int i = 0; i < 4000; ++i) {
        const std::string text = random_text_of(12);
        const Ids wanted = tokenizer.encode(text);
        for (size_t cut = tokenizer.find_cut(text, 0); cut < text.size();
             cut = tokenizer.find_cut(text, cut + 1)) {
          Ids ids = tokenizer.encode(text.substr(0, cut));
          const Ids right = tokenizer.encode(text.substr(cut));
          ids.insert(ids.end(), right.begin(), right.end());
          CAPTURE(pattern, static_cast<int>(kind), text, cut);
          REQUIRE((ids == wanted));
          ++cut_count;
        }
      }
    }
  }
  CHECK(cut_count > 10000);
}

TEST_CASE("safe cuts: added tokens count as they are looked for") {
  TokenizerParts parts = make_tokenizer("cl100k").parts();
  netcl::text::NormalizerStep step;
  step.kind = netcl::text::NormalizerStep::Kind::kNfkc;
  parts.normalizer = netcl::text::Normalizer({step});
  netcl::text::AddedToken token;
  token.content = "\xE3\x80\x80x";  // NFKC makes a space of its first character
  token.id = 1000;
  token.special = false;
  token.single_word = true;
  for (const bool normalized : {false, true}) {
    token.normalized = normalized;
    parts.added_tokens = {token};
    CHECK(BpeTokenizer(parts).can_be_cut() == !normalized);
  }
}

// What a cut between a line feed and a letter relies on.
TEST_CASE("safe cuts: a letter stays a letter when marks join it") {
  using netcl::text::NormalForm;
  const NormalForm& nfd = NormalForm::get(false, false);
  const auto is_letter = [](int32_t c) { return netcl::text::is_letter(static_cast<char32_t>(c)); };
  size_t joined = 0;
  for (int32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) {
      continue;
    }
    const std::vector<int32_t> parts = nfd.normalize({c});
    if (parts.size() > 1 && is_letter(parts[0])) {
      ++joined;
      CAPTURE(c);
      CHECK(is_letter(c));
    }
  }
  CHECK(joined > 10000);
}

TEST_CASE("normalizing tokenizers: long texts in parts have the ids of the whole") {
  using netcl::text::NormalizerStep;
  TokenizerParts parts = make_tokenizer("qwen2").parts();
  NormalizerStep step;
  step.kind = NormalizerStep::Kind::kNfc;
  parts.normalizer = netcl::text::Normalizer({step});
  netcl::text::AddedToken token;
  token.content = "<\xC3\xA9>";
  token.id = 1000;
  token.normalized = true;
  token.special = false;
  parts.added_tokens = {token};
  const BpeTokenizer tokenizer(std::move(parts));
  Rng rng(12);
  std::string text;
  while (text.size() < 3'000'000) {
    text += random_text(rng, 50);
    text +=
        rng.below(3) == 0 ? "<e\xCC\x81> e\xCC\x81te\xCC\x81\n" : "\xE1\x84\x80\xE1\x85\xA1 x\n";
  }
  const netcl::text::Encoding whole = tokenizer.encode_with_spans(text);
  CHECK((tokenizer.encode(text) == whole.ids));
  ThreadPool pool(3);
  CHECK((tokenizer.encode(text, EncodeOptions{}, pool) == whole.ids));
  EncodeOptions options;
  options.max_piece = 700'000;
  text.insert(2'900'000, std::string(options.max_piece + 200'000, 'x') + "e\xCC\x81");
  std::vector<std::string> messages;
  for (const bool parallel : {false, true}) {
    try {
      parallel ? tokenizer.encode(text, options, pool) : tokenizer.encode(text, options);
      messages.emplace_back("none");
    } catch (const std::exception& error) {
      messages.emplace_back(error.what());
    }
  }
  CHECK(messages[0] == messages[1]);
  CHECK(messages[0].find("max-piece") != std::string::npos);
}
