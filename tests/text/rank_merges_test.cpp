// SPDX-License-Identifier: Apache-2.0
#include "text/rank_merges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/rng.h"
#include "support/catch.h"
#include "text/bpe_reference.h"
#include "tiny_vocabulary.h"

using netcl::base::Rng;
using netcl::tests::TinyVocabulary;
using netcl::text::BpeEncoder;
using netcl::text::difference_to_plain_merges;
using netcl::text::difference_to_ranks;
using netcl::text::Merge;
using netcl::text::MergeRule;
using netcl::text::Merges;
using netcl::text::merges_of_ranks;
using netcl::text::RankMerges;
using netcl::text::TokenizerParts;
using netcl::text::Vocabulary;
using netcl::text::VocabularyEntry;

namespace {

using Ids = std::vector<uint32_t>;

std::string random_text(Rng& rng, uint64_t letters, uint64_t longest) {
  std::string text;
  for (uint64_t i = 0; i < 1 + rng.below(longest); ++i) {
    text += static_cast<char>('a' + rng.below(letters));
  }
  return text;
}

// The 256 bytes and random strings, in random order of their ids: many tokens are of tokens with
// higher ids, and many are never the result of merges.
Vocabulary random_vocabulary(Rng& rng) {
  std::set<std::string> tokens;
  for (int i = 0; i < 12; ++i) {
    const std::string token = random_text(rng, 2, 7);
    if (token.size() > 1) {
      tokens.insert(token);
    }
  }
  std::vector<std::string> order(tokens.begin(), tokens.end());
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[rng.below(i)]);
  }
  std::vector<std::string> all;
  for (int byte = 0; byte < 256; ++byte) {
    all.emplace_back(1, static_cast<char>(byte));
  }
  all.insert(all.end(), order.begin(), order.end());
  std::vector<VocabularyEntry> entries;
  for (uint32_t id = 0; id < all.size(); ++id) {
    entries.push_back({id, all[id]});
  }
  return Vocabulary(entries);
}

// Every split of every token into two tokens, by result.
Merges all_splits(const Vocabulary& vocabulary) {
  Merges merges;
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    const std::string_view bytes = vocabulary.bytes(id);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      const auto left = vocabulary.find(bytes.substr(0, cut));
      const auto right = vocabulary.find(bytes.substr(cut));
      if (left && right) {
        merges.push_back({*left, *right, id});
      }
    }
  }
  return merges;
}

Ids encode(const BpeEncoder& encoder, const std::string& text) {
  netcl::text::EncodeScratch scratch;
  Ids ids;
  encoder.encode(text, scratch, ids);
  return ids;
}

}  // namespace

TEST_CASE("rank merges: the list merges as the ranks do") {
  Rng rng(11);
  size_t with_whole_pieces = 0;
  for (int round = 0; round < 300; ++round) {
    const Vocabulary vocabulary = random_vocabulary(rng);
    const RankMerges ranks = merges_of_ranks(vocabulary);
    const bool whole = !ranks.whole_pieces.empty();
    with_whole_pieces += whole ? 1 : 0;
    netcl::text::ReferenceVocabulary tokens;
    for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
      tokens.emplace(vocabulary.bytes(id), id);
    }
    const BpeEncoder list(vocabulary, MergeRule::kMergeList, ranks.merges, whole);
    const BpeEncoder longer(vocabulary, MergeRule::kMergeList, all_splits(vocabulary), true);
    for (int i = 0; i < 60; ++i) {
      const std::string text = random_text(rng, i % 2 == 0 ? 1 : 3, i % 10 == 0 ? 200 : 30);
      const Ids ids = netcl::text::reference_encode_ranks(tokens, text);
      CHECK(encode(list, text) == ids);
      CHECK(encode(longer, text) == ids);
    }
    // What the list says of a token is so.
    const BpeEncoder plain(vocabulary, MergeRule::kMergeList, ranks.merges, false);
    for (const Merge& merge : ranks.merges) {
      CHECK(encode(plain, std::string(vocabulary.bytes(merge.result))) == Ids{merge.result});
    }
    for (const uint32_t id : ranks.whole_pieces) {
      CHECK(encode(plain, std::string(vocabulary.bytes(id))) != Ids{id});
    }
  }
  CHECK(with_whole_pieces > 50);
  CHECK(with_whole_pieces < 300);
}

TEST_CASE("rank merges: a merge list that is not refused has the ids of the ranks") {
  Rng rng(12);
  size_t equal = 0;
  for (int round = 0; round < 1500; ++round) {
    TokenizerParts parts;
    parts.vocabulary = random_vocabulary(rng);
    parts.ignore_merges = rng.below(2) == 0;
    parts.merges =
        round % 3 == 0 ? all_splits(parts.vocabulary) : merges_of_ranks(parts.vocabulary).merges;
    // Some lists lose a merge or have two out of order.
    if (!parts.merges.empty() && rng.below(2) == 0) {
      const size_t at = rng.below(parts.merges.size());
      if (rng.below(2) == 0) {
        parts.merges.erase(parts.merges.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        std::swap(parts.merges[at], parts.merges[rng.below(parts.merges.size())]);
      }
    }
    const bool refused = difference_to_ranks(parts, parts.vocabulary).has_value();
    const BpeEncoder list(parts.vocabulary, parts.rule, parts.merges, parts.ignore_merges);
    const BpeEncoder ranks(parts.vocabulary, MergeRule::kByteRanks, {}, false);
    const BpeEncoder plain(parts.vocabulary, parts.rule, parts.merges, false);
    const bool merges_refused = difference_to_plain_merges(parts).has_value();
    equal += refused ? 0 : 1;
    for (int i = 0; i < 30 && !(refused && merges_refused); ++i) {
      const std::string text = random_text(rng, 2, 25);
      const Ids ids = encode(list, text);
      CHECK((refused || encode(ranks, text) == ids));
      CHECK((merges_refused || encode(plain, text) == ids));
    }
  }
  CHECK(equal > 200);
  CHECK(equal < 1400);
}

TEST_CASE("rank merges: what differs is named by its token") {
  const auto parts_of = [](const TinyVocabulary& tiny, bool ignore_merges) {
    TokenizerParts parts;
    parts.vocabulary = tiny.vocabulary;
    parts.merges = tiny.id_merges;
    parts.ignore_merges = ignore_merges;
    return parts;
  };
  const TinyVocabulary with_word({{"a", "b"}, {"b", "c"}}, {"abc"});
  const TokenizerParts by_merges = parts_of(with_word, false);
  const TokenizerParts by_pieces = parts_of(with_word, true);
  // abc is made by no merge, but a + bc or ab + c would be joined by ranks.
  CHECK(difference_to_ranks(by_merges, by_merges.vocabulary).value() ==
        "token 258 'abc' would be made of 'ab' and 'c', which are not merged");
  CHECK(difference_to_ranks(by_pieces, by_pieces.vocabulary).has_value());
  CHECK_FALSE(difference_to_plain_merges(by_merges).has_value());
  CHECK(difference_to_plain_merges(by_pieces).value() ==
        "token 258 'abc' is never the result of merges, only a whole piece");

  TokenizerParts ranks = by_merges;
  ranks.rule = MergeRule::kByteRanks;
  ranks.merges.clear();
  CHECK_FALSE(difference_to_ranks(ranks, ranks.vocabulary).has_value());
  CHECK_FALSE(difference_to_plain_merges(ranks).has_value());

  TokenizerParts swapped =
      parts_of(TinyVocabulary(netcl::text::ReferenceMerges{{"a", "b"}, {"c", "d"}}), false);
  std::swap(swapped.merges[0], swapped.merges[1]);
  CHECK(difference_to_ranks(swapped, swapped.vocabulary).value() ==
        "token 257 'cd' is merged earlier than a token with a lower id");

  // An added token that merges make cannot be left out; one that stands in the list alone can.
  TokenizerParts added = by_merges;
  std::string reason;
  added.added_tokens = {{.content = "abc", .id = 258}};
  REQUIRE(netcl::text::vocabulary_without_added(added, reason));
  CHECK_FALSE(netcl::text::vocabulary_without_added(added, reason)->contains(258));
  added.added_tokens = {{.content = "ab", .id = 256}};
  CHECK_FALSE(netcl::text::vocabulary_without_added(added, reason));
  CHECK(reason == "token 256 'ab' is an added token and takes part in merges");
}

TEST_CASE("rank merges: long tokens take little time") {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(1, static_cast<char>(byte));
  }
  for (size_t size = 2; size <= size_t{1} << 16; size *= 2) {
    tokens.emplace_back(size, 'a');
  }
  std::vector<VocabularyEntry> entries;
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    entries.push_back({id, tokens[id]});
  }
  const RankMerges ranks = merges_of_ranks(Vocabulary(entries));
  CHECK(ranks.merges.size() == 16);
  CHECK(ranks.whole_pieces.empty());
}
