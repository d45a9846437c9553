// SPDX-License-Identifier: Apache-2.0
// The search for added tokens against a plain one, and its time on hostile input.
#include "text/added_tokens.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "base/rng.h"
#include "support/catch.h"
#include "text/unicode.h"

using netcl::text::AddedMatch;
using netcl::text::AddedToken;
using netcl::text::AddedTokenMatcher;
using netcl::text::decode_utf8;
using netcl::text::is_space;

namespace {

// What find() must do, one place after the other, with a map in place of an automaton. Words are
// made of ASCII letters here.
std::vector<AddedMatch> plain_search(const std::vector<AddedToken>& tokens, const std::string& text,
                                     const std::vector<bool>& ignored) {
  std::map<std::string, uint32_t> by_content;
  std::set<size_t, std::greater<>> lengths;  // longest first
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    by_content.emplace(tokens[i].content, i);
    lengths.insert(tokens[i].content.size());
  }
  const auto is_word = [&](size_t at) { return std::isalpha(static_cast<uint8_t>(text[at])) != 0; };
  const auto space_ends_at = [&](size_t end) {
    const size_t length = end >= 2 && text.substr(end - 2, 2) == "\xC2\xA0" ? 2 : 1;
    return is_space(decode_utf8(text, end - length).code_point) ? length : size_t{0};
  };
  std::vector<AddedMatch> matches;
  size_t taken = 0;
  for (size_t at = 0; at < text.size();) {
    auto found = by_content.end();
    for (const size_t length : lengths) {
      if (found == by_content.end() && length <= text.size() - at) {
        found = by_content.find(text.substr(at, length));
      }
    }
    if (found == by_content.end()) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens[found->second];
    AddedMatch match = {at, at + token.content.size(), at, found->second};
    at = match.end;
    const bool touches_word = (match.begin > 0 && is_word(match.begin - 1)) ||
                              (match.end < text.size() && is_word(match.end));
    if (ignored[found->second] || (token.single_word && touches_word)) {
      continue;
    }
    while (token.lstrip && match.begin > taken && space_ends_at(match.begin) > 0) {
      match.begin -= space_ends_at(match.begin);
    }
    while (token.rstrip && match.end < text.size() &&
           is_space(decode_utf8(text, match.end).code_point)) {
      match.end += decode_utf8(text, match.end).byte_count;
    }
    if (token.lstrip && match.end <= taken) {
      continue;
    }
    match.begin = std::max(match.begin, std::min(taken, match.content_begin));
    taken = match.end;
    matches.push_back(match);
  }
  return matches;
}

std::vector<AddedMatch> search(const std::vector<AddedToken>& tokens, const std::string& text,
                               const std::vector<bool>& ignored) {
  std::vector<std::string> contents;
  for (const AddedToken& token : tokens) {
    contents.push_back(token.content);
  }
  std::vector<AddedMatch> matches;
  AddedTokenMatcher(tokens, contents).find(text, ignored, matches);
  return matches;
}

bool same(const std::vector<AddedMatch>& a, const std::vector<AddedMatch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const AddedMatch& x, const AddedMatch& y) {
                      return x.begin == y.begin && x.end == y.end &&
                             x.content_begin == y.content_begin && x.token == y.token;
                    });
}

std::string random_text(netcl::base::Rng& rng, size_t size) {
  const std::vector<std::string> units = {"a", "b", "a", " ", "<", "\n", "\xC2\xA0"};
  std::string text;
  while (text.size() < size) {
    text += units[rng.next() % units.size()];
  }
  return text;
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("added tokens: random sets of tokens are found as by a plain search") {
  netcl::base::Rng rng(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<AddedToken> tokens(1 + rng.next() % 12);
    std::vector<bool> ignored;
    for (AddedToken& token : tokens) {
      token.content = random_text(rng, 1 + rng.next() % (round % 5 == 0 ? 30 : 5));
      token.single_word = rng.next() % 4 == 0;
      token.lstrip = rng.next() % 4 == 0;
      token.rstrip = rng.next() % 4 == 0;
      ignored.push_back(rng.next() % 6 == 0);
    }
    std::string text;
    while (text.size() < 200) {
      text += rng.next() % 2 == 0 ? random_text(rng, rng.next() % 8)
                                  : tokens[rng.next() % tokens.size()].content;
    }
    CAPTURE(round, text);
    if (!same(search(tokens, text, ignored), plain_search(tokens, text, ignored))) {
      FAIL("matches differ");
    }
  }
}

TEST_CASE("added tokens: tokens that lie across the blocks of the search") {
  netcl::base::Rng rng(8);
  for (const size_t length : {3u, 70u, 1000u}) {
    std::vector<AddedToken> tokens(2);
    tokens[0].content = "<" + std::string(length, 'x') + ">";
    tokens[1].content = "x>";
    for (int round = 0; round < 20; ++round) {
      std::string text(150000, 'x');
      for (size_t at = (size_t{1} << 16) - length - 3; at < text.size();
           at += length + 3 + rng.next() % 50000) {
        text.replace(at, tokens[0].content.size(), tokens[0].content);
      }
      CAPTURE(length, round);
      if (!same(search(tokens, text, {false, false}), plain_search(tokens, text, {false, false}))) {
        FAIL("matches differ");
      }
    }
  }
}

TEST_CASE("added tokens: nothing to look for, empty and equal contents") {
  std::vector<AddedMatch> matches;
  AddedTokenMatcher().find("abc", {}, matches);
  CHECK(matches.empty());
  std::vector<AddedToken> tokens(3);
  AddedTokenMatcher(tokens, {"", "ab", "ab"}).find("xabab", {}, matches);
  REQUIRE(matches.size() == 2);
  CHECK(matches[1].begin == 3);
  CHECK(matches[1].token == 1);
}

// Bounds are some twenty times what was measured; a search that is not linear misses them by far.
TEST_CASE("added tokens: time is linear in the text whatever the tokens") {
  const std::string text(1 << 20, 'a');
  std::vector<AddedToken> tokens(3);
  tokens[0].content = std::string(1000, 'a') + "b";
  tokens[1].content = std::string(1000, 'a');
  tokens[2].content = "a";
  CHECK(seconds([&] { CHECK(search(tokens, text, {}).size() == 1048 + 576); }) < 1.0);
  tokens.resize(1);
  CHECK(seconds([&] { CHECK(search(tokens, text, {false}).empty()); }) < 1.0);
  tokens[0].content = "b" + std::string(1000, 'a');
  CHECK(seconds([&] { CHECK(search(tokens, text, {false}).empty()); }) < 1.0);
  tokens[0].content = " ";
  tokens[0].rstrip = true;
  const std::string spaces(1 << 20, ' ');
  CHECK(seconds([&] { CHECK(search(tokens, spaces, {}).size() == spaces.size()); }) < 1.0);
}

TEST_CASE("added tokens: a hundred thousand tokens are put together quickly") {
  std::vector<AddedToken> tokens(100000);
  std::vector<std::string> contents;
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i].content = "<|reserved_special_token_" + std::to_string(i) + "|>";
    contents.push_back(tokens[i].content);
  }
  AddedTokenMatcher matcher;
  CHECK(seconds([&] { matcher = AddedTokenMatcher(tokens, contents); }) < 5.0);
  std::vector<AddedMatch> matches;
  matcher.find("a<|reserved_special_token_99999|>b<|reserved_special_token_9", {}, matches);
  REQUIRE(matches.size() == 1);
  CHECK(matches[0].token == 99999);
  CHECK(matches[0].end == 33);
}
