// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_compare.h"

#include <functional>
#include <utility>

#include "support/catch.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"
#include "tiny_vocabulary.h"

using netcl::base::ThreadPool;
using netcl::tests::TinyVocabulary;
using netcl::text::BpeTokenizer;
using netcl::text::first_difference;
using netcl::text::NamedText;
using netcl::text::TokenizerParts;

namespace {

TokenizerParts parts_of(const netcl::text::ReferenceMerges& merges,
                        const std::vector<std::string>& extra = {}) {
  const TinyVocabulary tiny(merges, extra);
  TokenizerParts parts;
  parts.vocabulary = tiny.vocabulary;
  parts.merges = tiny.id_merges;
  parts.pre_tokenizer = netcl::text::PreTokenizer({netcl::text::make_byte_level_step(false, true)});
  parts.added_tokens = {{.content = "<s>", .id = 300}, {.content = "<t>", .id = 301}};
  return parts;
}

const netcl::text::ReferenceMerges kMerges = {{"a", "b"}, {"b", "c"}, {"h", "e"}, {"q", "z"}};

// The difference between a tokenizer and one with changed parts.
std::string changed(const std::function<void(TokenizerParts&)>& change,
                    const std::vector<NamedText>& texts = {}, bool with_template = true) {
  TokenizerParts after = parts_of(kMerges, {"abc"});
  change(after);
  ThreadPool pool(2);
  return first_difference(BpeTokenizer(parts_of(kMerges, {"abc"})), BpeTokenizer(std::move(after)),
                          texts, with_template, pool)
      .value_or("equal");
}

}  // namespace

TEST_CASE("tokenizer compare: equal tokenizers") {
  CHECK(changed([](TokenizerParts&) {}) == "equal");
  CHECK(changed([](TokenizerParts& parts) { parts.where = "elsewhere"; }) == "equal");
  // Without a normalizer it does not matter when a token is looked for.
  CHECK(changed([](TokenizerParts& parts) {
          for (auto& token : parts.added_tokens) {
            token.normalized = true;
          }
        }) == "equal");
  CHECK(changed([](TokenizerParts& parts) { parts.template_prefix = {300}; }, {}, false) ==
        "equal");
}

TEST_CASE("tokenizer compare: every part that differs is found and named") {
  CHECK(changed([](TokenizerParts& parts) {
          parts.decode_only = {{299, "x"}};
        }) == "id 299 is no token, and then 'x'");
  CHECK(changed([](TokenizerParts& parts) { parts.added_tokens.pop_back(); }) ==
        "id 301 is '<t>', and then no token");
  CHECK(changed([](TokenizerParts& parts) { parts.added_tokens[1].special = false; }) ==
        "id 301 '<t>' is special, and then not");
  CHECK(changed([](TokenizerParts& parts) { parts.added_tokens[1].lstrip = true; }) ==
        "the added token '<t>' has another id or other flags");
  CHECK(changed([](TokenizerParts& parts) {
          parts.added_tokens.push_back({.content = "<r>", .id = 300});
        }) == "the added token '<r>' is new");
  CHECK(changed([](TokenizerParts& parts) { parts.merges.erase(parts.merges.begin() + 2); }) ==
        "token 258 'he' (special tokens: allow) encodes from byte 0 to 258, and then to 104 101");
  CHECK(changed([](TokenizerParts& parts) { parts.ignore_merges = true; }) ==
        "token 260 'abc' (special tokens: allow) encodes from byte 0 to 256 99, and then to 260");
  CHECK_THAT(
      changed([](TokenizerParts& parts) {
        parts.pre_tokenizer =
            netcl::text::PreTokenizer({netcl::text::make_byte_level_step(true, true)});
      }),
      Catch::StartsWith(R"(token 0 '\x00' (special tokens: allow) encodes from byte 0 to 0, )"));
  CHECK_THAT(
      changed([](TokenizerParts& parts) { parts.template_suffix = {300}; }),
      Catch::StartsWith("empty text (special tokens: plain) encodes from byte 0 to nothing"));
}

TEST_CASE("tokenizer compare: what no token shows is found in a text") {
  // Only the order of two merges that overlap in no token.
  const auto swap = [](TokenizerParts& parts) { std::swap(parts.merges[2], parts.merges[3]); };
  CHECK(changed(swap) == "equal");
  const auto swap_first = [](TokenizerParts& parts) {
    std::swap(parts.merges[0], parts.merges[1]);
  };
  CHECK_THAT(changed(swap_first),
             Catch::StartsWith("token 260 'abc' (special tokens: allow) encodes from byte 0"));
  // A pattern that cuts one word: no sample has it, the text given has.
  const auto cut_word = [](TokenizerParts& parts) {
    parts.pre_tokenizer = netcl::text::PreTokenizer(
        {netcl::text::make_split_step("zzhezzq", true, netcl::text::SplitBehavior::kRemoved, false),
         netcl::text::make_byte_level_step(false, true)});
  };
  CHECK(changed(cut_word) == "equal");
  CHECK(changed(cut_word, {{"mine.txt", "1 zzhezzq"}}) ==
        "mine.txt (special tokens: plain) encodes from byte 2 to 122 122 258 122 122 113, and then "
        "to nothing");
}

TEST_CASE("tokenizer compare: the first difference does not depend on threads") {
  const BpeTokenizer before(parts_of(kMerges));
  TokenizerParts parts = parts_of(kMerges);
  parts.merges.clear();
  const BpeTokenizer after(std::move(parts));
  ThreadPool one(1);
  ThreadPool many(5);
  const auto wanted = first_difference(before, after, {}, true, one);
  REQUIRE(wanted.has_value());
  CHECK_THAT(*wanted, Catch::StartsWith("token 256 'ab'"));
  for (int i = 0; i < 5; ++i) {
    CHECK(first_difference(before, after, {}, true, many) == wanted);
  }
}

TEST_CASE("tokenizer compare: the built-in texts hold what they promise") {
  std::string all;
  for (const NamedText& text : netcl::text::comparison_texts()) {
    all += text.text;
  }
  for (int byte = 0; byte < 256; ++byte) {
    CHECK(all.find(static_cast<char>(byte)) != std::string::npos);
  }
  size_t ill_formed = 0;
  std::vector<bool> planes(17);
  for (size_t at = 0; at < all.size();) {
    const netcl::text::DecodedChar c = netcl::text::decode_utf8(all, at);
    ill_formed += c.well_formed ? 0 : 1;
    planes[c.well_formed ? c.code_point >> 16 : 0] = true;
    at += c.byte_count;
  }
  CHECK(ill_formed > 128);
  CHECK(planes[1]);
  CHECK(planes[2]);
}
