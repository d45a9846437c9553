// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_encoder.h"

#include <chrono>
#include <set>

#include "base/rng.h"
#include "support/catch.h"
#include "tiny_vocabulary.h"

using netcl::base::Rng;
using netcl::tests::TinyVocabulary;
using netcl::text::BpeEncoder;
using netcl::text::EncodeScratch;
using netcl::text::MergeRule;
using netcl::text::reference_encode_merges;
using netcl::text::reference_encode_ranks;
using netcl::text::ReferenceMerges;

namespace {

std::vector<uint32_t> encode(const BpeEncoder& encoder, std::string_view piece) {
  EncodeScratch scratch;
  std::vector<uint32_t> ids;
  encoder.encode(piece, scratch, ids);
  return ids;
}

std::vector<TinyVocabulary> tiny_vocabularies() {
  std::vector<TinyVocabulary> all;
  all.emplace_back(ReferenceMerges{});
  all.emplace_back(ReferenceMerges{{"a", "a"}, {"a", "b"}, {"aa", "b"}, {"b", "c"}, {"aa", "aa"}});
  all.emplace_back(ReferenceMerges{{"a", "b"}, {"b", "c"}, {"ab", "c"}, {"c", "a"}, {"c", "ab"}});
  // One result made in two ways, the second way ranked before a merge that competes with it.
  all.emplace_back(
      ReferenceMerges{{"b", "c"}, {"a", "bc"}, {"a", "b"}, {"ab", "c"}, {"abc", "a"}, {"c", "c"}});
  // The same pair twice: the later place counts.
  all.emplace_back(ReferenceMerges{{"a", "b"}, {"b", "a"}, {"a", "b"}, {"ab", "ab"}, {"ba", "ba"}});
  // Tokens that no merge reaches; a parent ranked before its part.
  all.emplace_back(ReferenceMerges{{"c", "c"}, {"cc", "c"}, {"a", "c"}},
                   std::vector<std::string>{"abc", "bb", "ccc", "cacb"});
  return all;
}

// Calls check(text) with every string over a, b, c of up to `longest` letters, "" included.
template <typename Check>
void for_all_strings(size_t longest, const Check& check) {
  std::vector<std::string> strings = {""};
  for (size_t length = 0; length <= longest; ++length) {
    std::vector<std::string> longer;
    for (const std::string& text : strings) {
      check(text);
      for (const char letter : {'a', 'b', 'c'}) {
        longer.push_back(text + letter);
      }
    }
    strings = std::move(longer);
  }
}

void check_all_rules(const TinyVocabulary& tiny, const BpeEncoder& list, const BpeEncoder& ignoring,
                     const BpeEncoder& ranks, const std::string& piece) {
  CAPTURE(piece);
  REQUIRE(encode(list, piece) == reference_encode_merges(tiny.tokens, tiny.merges, piece));
  REQUIRE(encode(ignoring, piece) ==
          reference_encode_merges(tiny.tokens, tiny.merges, piece, true));
  REQUIRE(encode(ranks, piece) == reference_encode_ranks(tiny.tokens, piece));
}

struct Encoders {
  explicit Encoders(const TinyVocabulary& tiny)
      : list(tiny.vocabulary, MergeRule::kMergeList, tiny.id_merges, false),
        ignoring(tiny.vocabulary, MergeRule::kMergeList, tiny.id_merges, true),
        ranks(tiny.vocabulary, MergeRule::kByteRanks, {}, false) {}
  BpeEncoder list;
  BpeEncoder ignoring;
  BpeEncoder ranks;
};

}  // namespace

TEST_CASE("bpe encoder: equals the reference on every short string over three letters") {
  for (const TinyVocabulary& tiny : tiny_vocabularies()) {
    const Encoders encoders(tiny);
    for_all_strings(8, [&](const std::string& piece) {
      check_all_rules(tiny, encoders.list, encoders.ignoring, encoders.ranks, piece);
    });
  }
}

TEST_CASE("bpe encoder: equals the reference on random walks of tokens") {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    // A random merge list over up to four letters: any two tokens so far may be joined.
    std::vector<std::string> parts;
    for (uint64_t i = 0; i < 2 + rng.below(3); ++i) {
      parts.emplace_back(1, static_cast<char>('a' + i));
    }
    ReferenceMerges merges;
    for (uint64_t i = 0; i < 4 + rng.below(40); ++i) {
      const std::string left = parts[rng.below(parts.size())];
      const std::string right = parts[rng.below(parts.size())];
      if (left.size() + right.size() <= 12) {
        merges.emplace_back(left, right);
        parts.push_back(left + right);
      }
    }
    const TinyVocabulary tiny(merges);
    const Encoders encoders(tiny);
    for (int i = 0; i < 12; ++i) {
      std::string piece;
      const size_t target = i < 8 ? 1 + rng.below(60) : 80 + rng.below(200);
      while (piece.size() < target) {
        piece += parts[rng.below(parts.size())];
      }
      check_all_rules(tiny, encoders.list, encoders.ignoring, encoders.ranks, piece);
    }
  }
}

TEST_CASE("bpe encoder: long pieces equal the reference, runs and periods too") {
  Rng rng(3);
  for (int round = 0; round < 150; ++round) {
    std::vector<std::string> parts;
    for (uint64_t i = 0; i < 1 + rng.below(3); ++i) {
      parts.emplace_back(1, static_cast<char>('a' + i));
    }
    // Half of the lists have one merge a token, as a trainer writes them.
    ReferenceMerges merges;
    std::set<std::string> made;
    for (uint64_t i = 0; i < 3 + rng.below(60); ++i) {
      const std::string left = parts[rng.below(parts.size())];
      const std::string right = parts[rng.below(parts.size())];
      const bool is_new = made.insert(left + right).second;
      if (left.size() + right.size() <= 40 && (is_new || round % 2 == 0)) {
        merges.emplace_back(left, right);
        parts.push_back(left + right);
      }
    }
    const TinyVocabulary tiny(merges);
    const Encoders encoders(tiny);
    for (int i = 0; i < 6; ++i) {
      const size_t target = 97 + rng.below(250);
      const std::string period = parts[rng.below(parts.size())] + parts[rng.below(parts.size())];
      std::string piece;
      while (piece.size() < target) {
        piece += i % 2 == 0 || rng.below(20) == 0 ? parts[rng.below(parts.size())] : period;
      }
      check_all_rules(tiny, encoders.list, encoders.ignoring, encoders.ranks, piece);
    }
  }
}

TEST_CASE("bpe encoder: equals the reference on random bytes around the change of method") {
  Rng rng(2);
  ReferenceMerges merges;
  for (int i = 0; i < 3000; ++i) {
    merges.emplace_back(std::string(1, static_cast<char>(rng.below(256))),
                        std::string(1, static_cast<char>(rng.below(256))));
  }
  const TinyVocabulary tiny(merges);
  const Encoders encoders(tiny);
  for (const size_t length : {1U, 2U, 31U, 95U, 96U, 97U, 98U, 200U, 500U}) {
    for (int i = 0; i < 6; ++i) {
      std::string piece;
      for (size_t k = 0; k < length; ++k) {
        piece += static_cast<char>(rng.below(256));
      }
      check_all_rules(tiny, encoders.list, encoders.ignoring, encoders.ranks, piece);
    }
  }
}

TEST_CASE("bpe encoder: every token of a trained-like vocabulary gives itself under byte ranks") {
  for (const TinyVocabulary& tiny : tiny_vocabularies()) {
    const Encoders encoders(tiny);
    for (const auto& [bytes, id] : tiny.tokens) {
      REQUIRE(encode(encoders.ranks, bytes) == std::vector<uint32_t>{id});
      REQUIRE(encode(encoders.ignoring, bytes) == std::vector<uint32_t>{id});
    }
  }
}

TEST_CASE("bpe encoder: ignore_merges takes a whole piece only") {
  const TinyVocabulary tiny(ReferenceMerges{{"a", "b"}, {"b", "c"}}, {"abc"});
  const Encoders encoders(tiny);
  CHECK(encode(encoders.ignoring, "abc") == std::vector<uint32_t>{258});
  CHECK(encode(encoders.ignoring, "abcd") == std::vector<uint32_t>{256, 99, 100});
  CHECK(encode(encoders.ignoring, "xabc") == std::vector<uint32_t>{120, 256, 99});
  CHECK(encode(encoders.list, "abc") == std::vector<uint32_t>{256, 99});
}

TEST_CASE("bpe encoder: a piece of a million bytes takes no quadratic time") {
  ReferenceMerges merges;
  for (std::string part = "a"; part.size() < 4096; part += part) {
    merges.emplace_back(part, part);
  }
  merges.emplace_back("b", "a");
  const TinyVocabulary tiny(merges);
  const Encoders encoders(tiny);
  std::string mixed;
  Rng rng(3);
  for (int i = 0; i < 1 << 20; ++i) {
    mixed += static_cast<char>('a' + rng.below(2));
  }
  for (const std::string& piece : {std::string(1 << 20, 'a'), mixed}) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<uint32_t> ids = encode(encoders.list, piece);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::string joined;
    for (const uint32_t id : ids) {
      joined += tiny.vocabulary.bytes(id);
    }
    CHECK(joined == piece);
    // Quadratic work would be some 10^12 steps; the bound leaves room for sanitizers.
    CHECK(seconds.count() < 20);
  }
  CHECK(encode(encoders.list, std::string(1 << 20, 'a')).size() == (1 << 20) / 4096);
}
