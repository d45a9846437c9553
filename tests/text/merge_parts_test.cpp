// SPDX-License-Identifier: Apache-2.0
// What the merge phase is made of: lists of positions, records of pairs, joined tokens, the layout
// of words and the text of symbols; and the tables of counts before it.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "text/joined_tokens.h"
#include "text/pair_records.h"
#include "text/position_lists.h"
#include "text/pre_splitter.h"
#include "text/symbol_text.h"
#include "text/word_counts.h"
#include "text/word_layout.h"

using netcl::base::Rng;
using netcl::text::JoinedTokens;
using netcl::text::PairRecords;
using netcl::text::PositionLists;
using netcl::text::SymbolText;
using netcl::text::WordCounts;
using netcl::text::WordLayout;
using netcl::text::WordVisitor;
using netcl::text::WordWalk;

TEST_CASE("position lists: any ascending numbers come back and take the units foretold") {
  Rng rng(1);
  PositionLists lists;
  struct List {
    std::vector<uint32_t> numbers;
    uint64_t begin, units;
  };
  std::vector<List> all;
  for (int round = 0; round < 300; ++round) {
    std::vector<uint32_t> numbers = {UINT32_MAX, 0x7FFF,     0x8000,
                                     0x3FFFFFFF, 0x40000000, 0x40007FFF};
    for (uint64_t i = 0; i < rng.below(50); ++i) {
      numbers.push_back(static_cast<uint32_t>(rng.below(uint64_t{1} << (1 + rng.below(32)))));
    }
    numbers.resize(round % 3 == 0 ? rng.below(3) : numbers.size());
    std::sort(numbers.begin(), numbers.end());
    uint64_t units = 0;
    uint32_t last = 0;
    for (const uint32_t number : numbers) {
      units += PositionLists::units_of(number - std::exchange(last, number));
    }
    const uint64_t begin = lists.allot(units);
    uint16_t* at = lists.data() + begin;
    last = 0;
    for (const uint32_t number : numbers) {
      at = PositionLists::write(at, number - std::exchange(last, number));
    }
    REQUIRE(at == lists.data() + begin + units);
    all.push_back({numbers, begin, units});
  }
  for (const List& list : all) {
    const uint16_t* at = lists.data() + list.begin;
    uint32_t number = 0;
    for (const uint32_t wanted : list.numbers) {
      uint32_t difference = 0;
      at = PositionLists::read(at, difference);
      number += difference;
      REQUIRE(number == wanted);
    }
    REQUIRE(at == lists.data() + list.begin + list.units);
  }
}

TEST_CASE("pair records: equal a map through any order of inserting and erasing") {
  Rng rng(2);
  PairRecords records;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected;
  for (int step = 0; step < 60000; ++step) {
    const uint32_t left = static_cast<uint32_t>(rng.below(40));
    const uint32_t right = static_cast<uint32_t>(rng.below(step < 30000 ? 40 : 4));
    const uint32_t index = records.find(left, right);
    const auto known = expected.find({left, right});
    REQUIRE((index != PairRecords::kNone) == (known != expected.end()));
    if (index == PairRecords::kNone) {
      const uint64_t count = 1 + rng.below(1000);
      records.insert({left, right, count});
      expected[{left, right}] = count;
    } else {
      REQUIRE(records[index].count == known->second);
      if (rng.below(2) == 0) {
        records.erase(index);
        REQUIRE(records[index].count == 0);
        expected.erase(known);
      }
    }
    REQUIRE(records.size() == expected.size());
  }
  for (const auto& [pair, count] : expected) {
    REQUIRE(records[records.find(pair.first, pair.second)].count == count);
  }
  records.clear();
  CHECK(records.find(1, 1) == PairRecords::kNone);
}

TEST_CASE("joined tokens: bytes decide and however they are joined") {
  JoinedTokens tokens;
  for (const char* letter : {"a", "b", "c"}) {
    tokens.add(letter);
  }
  const uint32_t ab = tokens.join(0, 1).index;
  const uint32_t bc = tokens.join(1, 2).index;
  const auto abc = tokens.join(ab, 2);
  const auto again = tokens.join(0, bc);
  CHECK(abc.is_new);
  CHECK_FALSE(again.is_new);
  CHECK(again.index == abc.index);
  CHECK(tokens.bytes(abc.index) == "abc");
  CHECK(tokens.byte_length(abc.index) == 3);
  CHECK(tokens.all_bytes() == std::vector<std::string>{"a", "b", "c", "ab", "bc", "abc"});
  uint32_t run = 0;
  for (int i = 0; i < 62; ++i) {
    run = tokens.join(run, run).index;
  }
  CHECK(tokens.byte_length(run) == uint64_t{1} << 62);

  Rng rng(3);
  JoinedTokens random;
  std::map<std::string, uint32_t> expected = {{"a", 0}, {"bb", 1}, {"abb", 2}};
  for (const char* first : {"a", "bb", "abb"}) {
    random.add(first);
  }
  for (int i = 0; i < 3000; ++i) {
    const uint32_t most = std::min<uint32_t>(random.size(), 40);
    const uint32_t left = static_cast<uint32_t>(rng.below(most));
    const uint32_t right = static_cast<uint32_t>(rng.below(most));
    const std::string bytes = random.bytes(left) + random.bytes(right);
    const auto joined = random.join(left, right);
    const auto [place, is_new] = expected.emplace(bytes, joined.index);
    REQUIRE(is_new == joined.is_new);
    REQUIRE(place->second == joined.index);
    REQUIRE(random.bytes(joined.index) == bytes);
  }
}

TEST_CASE("symbol text: words of a count lie together and every slot has the count of its word") {
  Rng rng(4);
  for (int round = 0; round < 100; ++round) {
    std::map<std::string, uint64_t> words;
    for (uint64_t i = 0; i < rng.below(60); ++i) {
      std::string word;
      for (uint64_t k = 0; k < 1 + rng.below(20); ++k) {
        word += static_cast<char>('a' + rng.below(6));
      }
      words[word] += rng.below(3) == 0 ? rng.below(200000) : rng.below(4);
    }
    const WordWalk walk = [&](const WordVisitor& visit) {
      for (const auto& [word, count] : words) {
        visit(word, count);
      }
    };
    const WordLayout layout(walk);
    std::array<uint32_t, 256> symbols{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
      symbols[byte] = 255 - byte;
    }
    SymbolText<uint16_t> text(layout, walk, symbols, 300);
    std::map<std::string, uint64_t> found;
    typename SymbolText<uint16_t>::Weights weights(text);
    uint64_t last_weight = UINT64_MAX;
    for (uint32_t at = 1; at < text.slot_count(); ++at) {
      std::string word;
      const uint64_t weight = weights.at(at);
      REQUIRE(weight <= last_weight);
      last_weight = weight;
      for (; text.slots()[at] != text.separator(); ++at) {
        REQUIRE(weights.at(at) == weight);
        word += static_cast<char>(255 - text.slots()[at]);
      }
      REQUIRE(found.emplace(word, weight).second);
    }
    uint64_t tokens = layout.one_byte_count();
    for (const auto& [word, count] : words) {
      const bool has_slots = word.size() > 1 && count > 0;
      REQUIRE(found.contains(word) == has_slots);
      REQUIRE((!has_slots || found[word] == count));
      tokens += has_slots ? word.size() * count : 0;
    }
    bool some_pair = false;
    REQUIRE(layout.one_byte_count() + text.count_tokens(some_pair) == tokens);
    REQUIRE(some_pair == !found.empty());
  }
}

TEST_CASE("word counts: equal a map for words of every length and content") {
  Rng rng(6);
  std::map<std::string, uint64_t> expected;
  WordCounts words;
  for (int i = 0; i < 60000; ++i) {
    std::string word;
    for (uint64_t k = 0; k < 1 + rng.below(i % 3 == 0 ? 40 : 17); ++k) {
      word += static_cast<char>(rng.below(i % 2 == 0 ? 2 : 256));
    }
    const uint64_t count = rng.below(8) == 0 ? rng.below(uint64_t{1} << 40) : 1;
    words.add(word, count);
    expected[word] += count;
  }
  std::map<std::string, uint64_t> found;
  words.for_each(
      [&](std::string_view word, uint64_t count) { REQUIRE(found.emplace(word, count).second); });
  CHECK(found == expected);
  CHECK(words.size() == expected.size());
}

TEST_CASE("word counts: pieces counted together are those counted one by one") {
  Rng rng(7);
  const auto splitter = netcl::text::make_named_splitter("gpt2");
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (uint64_t k = 0; k < rng.below(4000); ++k) {
      const std::string letters = "aab \n.1";
      text += rng.below(40) == 0 ? std::string(rng.below(40), 'z')
                                 : std::string(1, letters[rng.below(letters.size())]);
    }
    const std::vector<char> exact(text.begin(), text.end());  // nothing to read behind the end
    const std::string_view view(exact.data(), exact.size());
    WordCounts together;
    WordCounts single;
    std::vector<size_t> ends(1 + rng.below(WordCounts::kMostPieces));
    for (size_t begin = 0; begin < view.size();) {
      const size_t count = splitter->next_ends(view, begin, ends);
      together.add_pieces(view, begin, std::span<const size_t>(ends).first(count));
      for (size_t i = 0; i < count; ++i) {
        single.add(view.substr(begin, ends[i] - begin), 1);
        begin = ends[i];
      }
    }
    std::map<std::string, uint64_t> expected;
    single.for_each(
        [&](std::string_view word, uint64_t count) { expected[std::string(word)] = count; });
    REQUIRE(together.size() == expected.size());
    REQUIRE(together.total() == single.total());
    REQUIRE(together.total_bytes() == view.size());
    together.for_each([&](std::string_view word, uint64_t count) {
      REQUIRE(expected.at(std::string(word)) == count);
    });
  }
}
