// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_encoder.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "base/cpu.h"
#include "base/rng.h"
#include "support/catch.h"
#include "tiny_vocabulary.h"

using netcl::base::CpuLevel;
using netcl::base::limit_cpu_level;
using netcl::base::machine_cpu_levels;
using netcl::base::Rng;
using netcl::tests::TinyVocabulary;
using netcl::text::BpeEncoder;
using netcl::text::EncodeScratch;
using netcl::text::MergeRule;
using netcl::text::reference_encode_merges;
using netcl::text::reference_encode_ranks;
using netcl::text::ReferenceMerges;
using netcl::text::ShortPiece;

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

// The three rules in the encoders of one level of instructions.
struct Rules {
  explicit Rules(const TinyVocabulary& tiny)
      : list(tiny.vocabulary, MergeRule::kMergeList, tiny.id_merges, false),
        ignoring(tiny.vocabulary, MergeRule::kMergeList, tiny.id_merges, true),
        ranks(tiny.vocabulary, MergeRule::kByteRanks, {}, false) {}
  BpeEncoder list;
  BpeEncoder ignoring;
  BpeEncoder ranks;
};

// An encoder chooses its methods when it is made: for each level of the machine, and one that is
// ready to backtrack.
class Encoders {
 public:
  explicit Encoders(const TinyVocabulary& tiny) : tiny_(tiny) {
    for (const CpuLevel level : machine_cpu_levels()) {
      limit_cpu_level(level);
      all_.push_back(std::make_unique<Rules>(tiny));
    }
    all_.push_back(std::make_unique<Rules>(tiny));
    for (const BpeEncoder* encoder :
         {&all_.back()->list, &all_.back()->ignoring, &all_.back()->ranks}) {
      encoder->prepare_for_long_pieces();
    }
  }

  void check(const std::string& piece) const {
    CAPTURE(piece);
    const std::vector<uint32_t> list = reference_encode_merges(tiny_.tokens, tiny_.merges, piece);
    const std::vector<uint32_t> ignoring =
        reference_encode_merges(tiny_.tokens, tiny_.merges, piece, true);
    const std::vector<uint32_t> ranks = reference_encode_ranks(tiny_.tokens, piece);
    for (const std::unique_ptr<Rules>& rules : all_) {
      REQUIRE(encode(rules->list, piece) == list);
      REQUIRE(encode(rules->ignoring, piece) == ignoring);
      REQUIRE(encode(rules->ranks, piece) == ranks);
    }
  }

  // Pieces of 1 to ShortPiece::kLongest bytes, all at once.
  void check_together(const std::vector<std::string>& pieces) const {
    for (const std::unique_ptr<Rules>& rules : all_) {
      for (const BpeEncoder* encoder : {&rules->list, &rules->ignoring, &rules->ranks}) {
        std::vector<ShortPiece> together(pieces.size());
        for (size_t i = 0; i < pieces.size(); ++i) {
          together[i].bytes = pieces[i].data();
          together[i].size = static_cast<uint32_t>(pieces[i].size());
        }
        encoder->encode_short(together);
        for (size_t i = 0; i < pieces.size(); ++i) {
          CAPTURE(pieces[i]);
          const auto* ids = together[i].ids.data();
          REQUIRE(std::vector<uint32_t>(ids, ids + together[i].count) ==
                  encode(*encoder, pieces[i]));
        }
      }
    }
  }

  const Rules& rules() const { return *all_.back(); }

 private:
  const TinyVocabulary& tiny_;
  std::vector<std::unique_ptr<Rules>> all_;
};

// Random merges over some letters: any two tokens so far may be joined.
struct RandomMerges {
  std::vector<std::string> parts;
  ReferenceMerges merges;

  RandomMerges(Rng& rng, size_t letters, size_t count, size_t longest, bool one_a_token) {
    for (size_t i = 0; i < letters; ++i) {
      parts.emplace_back(1, static_cast<char>('a' + i));
    }
    std::set<std::string> made;
    for (size_t i = 0; i < count; ++i) {
      const std::string left = parts[rng.below(parts.size())];
      const std::string right = parts[rng.below(parts.size())];
      const bool is_new = made.insert(left + right).second;
      if (left.size() + right.size() <= longest && (is_new || !one_a_token)) {
        merges.emplace_back(left, right);
        parts.push_back(left + right);
      }
    }
  }
};

}  // namespace

TEST_CASE("bpe encoder: equals the reference on every short string over three letters") {
  for (const TinyVocabulary& tiny : tiny_vocabularies()) {
    const Encoders encoders(tiny);
    for_all_strings(8, [&](const std::string& piece) { encoders.check(piece); });
  }
}

TEST_CASE("bpe encoder: equals the reference on random walks of tokens") {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    const RandomMerges random(rng, 2 + rng.below(3), 4 + rng.below(40), 12, false);
    const TinyVocabulary tiny(random.merges);
    const Encoders encoders(tiny);
    for (int i = 0; i < 12; ++i) {
      std::string piece;
      const size_t target = i < 8 ? 1 + rng.below(60) : 80 + rng.below(200);
      while (piece.size() < target) {
        piece += random.parts[rng.below(random.parts.size())];
      }
      encoders.check(piece);
    }
  }
}

// As lists that were made from ranks: for every token all its merges in a row, some then taken away
// or moved, so that no merge, the wrong ones or the later one of two equal ones remain.
TEST_CASE("bpe encoder: equals the reference on lists with several merges a token") {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    const RandomMerges random(rng, 1 + rng.below(3), 4 + rng.below(30), 12, true);
    const std::vector<std::string>& parts = random.parts;
    ReferenceMerges merges;
    for (const auto& [left, right] : random.merges) {
      const size_t first = merges.size();
      const std::string token = left + right;
      for (const std::string& part : parts) {
        if (part.size() < token.size() && token.starts_with(part) && rng.below(8) != 0) {
          merges.emplace_back(part, token.substr(part.size()));
        }
      }
      std::erase_if(merges, [&](const auto& merge) {
        return std::find(parts.begin(), parts.end(), merge.second) == parts.end();
      });
      for (size_t i = first; i < merges.size(); ++i) {
        std::swap(merges[i], merges[first + rng.below(merges.size() - first)]);
      }
      if (merges.size() > first && rng.below(6) == 0) {
        merges.push_back(merges[first]);
      }
    }
    for (size_t swaps = rng.below(4); swaps > 0 && merges.size() > 1; --swaps) {
      std::swap(merges[rng.below(merges.size())], merges[rng.below(merges.size())]);
    }
    const TinyVocabulary tiny(merges, parts);
    const Encoders encoders(tiny);
    for (int i = 0; i < 20; ++i) {
      std::string piece;
      for (const size_t target = 1 + rng.below(i < 16 ? 40 : 200); piece.size() < target;) {
        piece += parts[rng.below(parts.size())];
      }
      encoders.check(piece);
    }
    for (const std::string& part : parts) {
      encoders.check(part);
    }
  }
}

TEST_CASE("bpe encoder: many short pieces at once come to the same as each alone") {
  Rng rng(4);
  for (int round = 0; round < 40; ++round) {
    const RandomMerges random(rng, 1 + rng.below(4), 4 + rng.below(80), 16, round % 2 == 0);
    const TinyVocabulary tiny(random.merges);
    const Encoders encoders(tiny);
    for (const size_t count : {0, 1, 2, 3, 4, 5, 31, 32, 33, 100}) {
      std::vector<std::string> pieces(count);
      for (std::string& piece : pieces) {
        const size_t size = 1 + rng.below(ShortPiece::kLongest);
        while (piece.size() < size) {
          piece += rng.below(9) == 0 ? std::string(1, static_cast<char>(rng.below(256)))
                                     : random.parts[rng.below(random.parts.size())];
        }
        piece.resize(size);
      }
      encoders.check_together(pieces);
    }
  }
}

TEST_CASE("bpe encoder: long pieces equal the reference, runs and periods too") {
  Rng rng(3);
  for (int round = 0; round < 150; ++round) {
    // Half of the lists have one merge a token, as a trainer writes them.
    const RandomMerges random(rng, 1 + rng.below(3), 3 + rng.below(60), 40, round % 2 != 0);
    const std::vector<std::string>& parts = random.parts;
    const TinyVocabulary tiny(random.merges);
    const Encoders encoders(tiny);
    for (int i = 0; i < 6; ++i) {
      const size_t target = i < 2 ? 17 + rng.below(80) : 97 + rng.below(250);
      const std::string period = parts[rng.below(parts.size())] + parts[rng.below(parts.size())];
      std::string piece;
      while (piece.size() < target) {
        piece += i % 2 == 0 || rng.below(20) == 0 ? parts[rng.below(parts.size())] : period;
      }
      encoders.check(piece);
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
  for (const size_t length :
       {1U, 2U, 15U, 16U, 17U, 31U, 32U, 33U, 95U, 96U, 97U, 98U, 200U, 500U}) {
    for (int i = 0; i < 6; ++i) {
      std::string piece;
      for (size_t k = 0; k < length; ++k) {
        piece += static_cast<char>(rng.below(256));
      }
      encoders.check(piece);
    }
  }
}

TEST_CASE("bpe encoder: every token of a trained-like vocabulary gives itself under byte ranks") {
  for (const TinyVocabulary& tiny : tiny_vocabularies()) {
    const Encoders encoders(tiny);
    for (const auto& [bytes, id] : tiny.tokens) {
      REQUIRE(encode(encoders.rules().ranks, bytes) == std::vector<uint32_t>{id});
      REQUIRE(encode(encoders.rules().ignoring, bytes) == std::vector<uint32_t>{id});
    }
  }
}

TEST_CASE("bpe encoder: ignore_merges takes a whole piece only") {
  const TinyVocabulary tiny(ReferenceMerges{{"a", "b"}, {"b", "c"}}, {"abc"});
  const Encoders encoders(tiny);
  CHECK(encode(encoders.rules().ignoring, "abc") == std::vector<uint32_t>{258});
  CHECK(encode(encoders.rules().ignoring, "abcd") == std::vector<uint32_t>{256, 99, 100});
  CHECK(encode(encoders.rules().ignoring, "xabc") == std::vector<uint32_t>{120, 256, 99});
  CHECK(encode(encoders.rules().list, "abc") == std::vector<uint32_t>{256, 99});
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
    const std::vector<uint32_t> ids = encode(encoders.rules().list, piece);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::string joined;
    for (const uint32_t id : ids) {
      joined += tiny.vocabulary.bytes(id);
    }
    CHECK(joined == piece);
    // Quadratic work would be some 10^12 steps; the bound leaves room for sanitizers.
    CHECK(seconds.count() < 20);
  }
  CHECK(encode(encoders.rules().list, std::string(1 << 20, 'a')).size() == (1 << 20) / 4096);
}
