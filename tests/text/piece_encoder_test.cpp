// SPDX-License-Identifier: Apache-2.0
// Encoding through the cache of pieces against merging every piece by itself.
#include "text/piece_encoder.h"

#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "base/thread_pool.h"
#include "support/catch.h"
#include "text/bpe_trainer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

using netcl::base::Rng;
using netcl::base::ThreadPool;
using netcl::text::BpeEncoder;
using netcl::text::BpeTokenizer;
using netcl::text::EncodeOptions;
using netcl::text::EncodeScratch;
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
  const std::string many_cuts = random_text(rng, 1000000);  // some 6 MB
  const std::string no_cut = std::string(3 << 20, 'a') + " \n b";
  for (const char* pattern : {"gpt2", "cl100k", "o200k"}) {
    const BpeTokenizer tokenizer = make_tokenizer(pattern);
    for (const std::string& text : {many_cuts, no_cut}) {
      const Ids wanted = tokenizer.encode(text);
      for (const size_t threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        CHECK((tokenizer.encode(text, EncodeOptions(), pool) == wanted));
      }
    }
  }
}
