// SPDX-License-Identifier: Apache-2.0
// Single steps of tokenizer.json against values of Hugging Face `tokenizers` 0.23.2.
#include "support/catch.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/unicode_scripts.h"

using netcl::text::ByteSpan;
using netcl::text::NormalizedText;
using netcl::text::Normalizer;
using netcl::text::Piece;

namespace {

std::string replaced(const std::string& regex, const std::string& content,
                     const std::string& text) {
  return Normalizer({netcl::text::make_replace_regex_step(regex, content)}).normalize(text);
}

std::vector<std::string> script_pieces(const std::string& text) {
  std::vector<Piece> pieces;
  netcl::text::make_script_splitter()->split(text, pieces);
  std::vector<std::string> texts;
  for (const Piece& piece : pieces) {
    texts.push_back(text.substr(piece.begin, piece.end - piece.begin));
  }
  return texts;
}

}  // namespace

TEST_CASE("hf steps: replace with a regular expression") {
  CHECK(replaced("x*", "-", "abxc") == "-a-b-c-");
  CHECK(replaced("x*", "-", "x") == "-");
  CHECK(replaced("x*", "-", "") == "");
  CHECK(replaced("^", ">", "a\nb") == ">a\n>b");
  CHECK(replaced("(a)(b)", "$2$1", "abab") == "$2$1$2$1");
  CHECK(replaced("(?=a)", "_", "aa") == "_a_a");
  CHECK(replaced("a|(?=b)", "_", "abab") == "_b_b");
  CHECK(replaced("\\s+", "", " a \n b ") == "ab");
  CHECK(replaced("[^a]", "?",
                 "a\xFF\x80"
                 "a\xE4\xB8\xAD") == "a??a?");
  CHECK_THROWS_WITH(netcl::text::make_replace_regex_step("(a)\\1", ""),
                    Catch::Contains("pattern@3"));
}

TEST_CASE("hf steps: the way back through a replaced match") {
  const Normalizer normalizer({netcl::text::make_replace_regex_step("\\s+", "_")});
  NormalizedText text;
  REQUIRE(normalizer.apply("ab \t cd ", text));
  CHECK(text.text() == "ab_cd_");
  CHECK(text.original(0, 2) == ByteSpan{0, 2});
  CHECK(text.original(2, 3) == ByteSpan{2, 5});
  CHECK(text.original(3, 5) == ByteSpan{5, 7});
  CHECK(text.original(1, 6) == ByteSpan{1, 8});
}

TEST_CASE("hf steps: unicode scripts") {
  using Texts = std::vector<std::string>;
  CHECK(script_pieces("").empty());
  CHECK(script_pieces("   ").empty());
  CHECK(script_pieces("  lead ") == Texts{"lead "});
  CHECK(script_pieces("Apples are \xE3\x82\x8A\xE3\x82\x93 \xE6\x9E\x97\xE3\x83\xBC.") ==
        Texts{"Apples are ", "\xE3\x82\x8A\xE3\x82\x93 \xE6\x9E\x97\xE3\x83\xBC", "."});
  // U+0378 has no script and is looked through; U+0301 is Inherited, a script like another.
  CHECK(script_pieces("a\xCD\xB8"
                      "b") == Texts{"a\xCD\xB8"
                                    "b"});
  CHECK(script_pieces("e\xCC\x81") == Texts{"e", "\xCC\x81"});
  // U+A9CF became Common after 9.0, U+1F9FF was unassigned.
  CHECK(script_pieces("1\xFF\xF0\x9F\xA7\xBF"
                      "a") == Texts{"1\xFF\xF0\x9F\xA7\xBF", "a"});
}

TEST_CASE("hf steps: script ranges are ascending and disjoint") {
  namespace scripts = netcl::text::scripts;
  for (size_t i = 1; i < scripts::kRangeCount; ++i) {
    CHECK(scripts::kRanges[i - 1].last < scripts::kRanges[i].first);
  }
  CHECK(netcl::text::unicode_script(0x10FFFF) == 0);
  CHECK(netcl::text::unicode_script(0x4E2D) == scripts::kHan);
  CHECK(netcl::text::unicode_script(0x3042) == scripts::kHiragana);
  CHECK(netcl::text::unicode_script(0x30A2) == scripts::kKatakana);
}
