// SPDX-License-Identifier: Apache-2.0
// The reader of tokenizer.json against base::parse_json(), which takes any JSON.
#include "text/hf_json.h"

#include <array>
#include <set>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::parse_json;
using netcl::base::Rng;
using netcl::text::HfJson;
using netcl::text::parse_hf_json;
using netcl::text::parse_vocab_json;

namespace {

// The tree that the lists came from.
Json whole_tree(const HfJson& json) {
  Json tree = json.tree;
  if (json.has_vocab) {
    Json& vocab = tree["model"]["vocab"] = Json::object();
    for (const auto& [token, id] : json.vocab) {
      vocab[std::string(token)] = id;
    }
  }
  if (json.has_merges) {
    Json& merges = tree["model"]["merges"] = Json::array();
    for (const auto& [left, right] : json.merges) {
      merges.push_back({std::string(left), std::string(right)});
    }
  }
  return tree;
}

// As objects without an order: the lists stand at another place.
bool same(const Json& one, const Json& other) {
  return nlohmann::json::parse(one.dump()) == nlohmann::json::parse(other.dump());
}

bool has_token_twice(const HfJson& json) {
  std::set<std::string_view> tokens;
  for (const auto& [token, id] : json.vocab) {
    tokens.insert(token);
  }
  return tokens.size() != json.vocab.size();
}

// Both take the text and see the same, or neither takes it.
void check_same(const std::string& text) {
  CAPTURE(text);
  Json expected;
  bool is_json = true;
  try {
    expected = parse_json(text, "f");
  } catch (const FormatError&) {
    is_json = false;
  }
  try {
    const HfJson found = parse_hf_json(text, "f");
    if (has_token_twice(found)) {  // left to the vocabulary, which says it better
      REQUIRE(!is_json);
      return;
    }
    REQUIRE(is_json);
    REQUIRE(same(whole_tree(found), expected));
  } catch (const FormatError& error) {
    // Lists that are JSON, but no lists of a tokenizer.
    const std::string message = error.what();
    REQUIRE((!is_json || message.find("model.") != std::string::npos));
  }
}

}  // namespace

TEST_CASE("hf json: every kind of value, and what is no JSON, as the other reader has it") {
  for (const char* text :
       {"",
        " ",
        "{",
        "{}",
        "[]",
        "null",
        "true",
        "tru",
        "0",
        "-0",
        "-7",
        "01",
        "1.5",
        "1e5",
        "1e400",
        "18446744073709551615",
        "9223372036854775808",
        "-9223372036854775808",
        "+1",
        ".5",
        "1.",
        "\"\"",
        "\"a\\u0000b\"",
        "\"\\ud83d\\ude42\"",
        "\"\\ud83d!\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ude42\\ud83d\"",
        "\"\\udc00\"",
        "\"\\uD8",
        "\"\\x\"",
        "\"\t\"",
        "\"\x7F\"",
        "\"\xC3\xA9\"",
        "\"\xC3\"",
        "\"\xED\xA0\x80\"",
        "\"\xF4\x90\x80\x80\"",
        "'a'",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "[1,]",
        "[1 2]",
        "{}{}",
        "{} x",
        "/**/{}",
        "{\"a\":{\"b\":[{},[]]}}",
        "{\"a\":1,\"a\":1}",
        "{\"a\":{\"b\":1,\"b\":2}}",
        "\xEF\xBB\xBF{}",
        "\xEF\xBB\xBF",
        R"({"model":null})",
        R"({"model":[]})",
        R"({"model":{"vocab":null,"merges":null}})",
        R"({"model":{"vocab":[["a",0.5]],"merges":{}}})",
        R"({"vocab":{"a":"b"},"merges":[1]})",
        R"({"model":{"model":{"vocab":{"a":"b"},"merges":[1]}}})",
        R"({"model":{"vocab":{"a":1},"merges":[["a","b"],["c","d"]]},"x":[1,-1,2.5,"s",false]})",
        R"({"model":{"vocab":{"a":1},"merges":[],"vocab":{"a":1}}})",
        R"({"model":{},"model":{}})"}) {
    check_same(text);
  }
  check_same(std::string("{}\0", 3));
  check_same(std::string("{\0}", 3));
}

TEST_CASE("hf json: nesting up to 512 levels") {
  for (const size_t depth : {1U, 511U, 512U, 513U, 514U, 515U, 100'000U}) {
    CAPTURE(depth);
    for (const auto& [open, close] : {std::array{"[", "]"}, std::array{"{\"a\":", "}"}}) {
      std::string text;
      std::string ends;
      for (size_t i = 0; i < depth; ++i) {
        text += open;
        ends += close;
      }
      text += "0" + ends;
      if (depth <= 512) {
        CHECK(same(parse_hf_json(text, "f").tree, parse_json(text, "f")));
      } else {
        CHECK_THROWS_WITH(parse_hf_json(text, "f"), Catch::Contains("nested deeper than 512"));
      }
    }
  }
}

TEST_CASE("hf json: changed bytes are taken or refused as the other reader has it") {
  const std::string good =
      R"({"version":"1.0","added_tokens":[{"id":0,"content":"<s>\u00e9\n"}],"model":{"type":"BPE",)"
      R"("vocab":{"a":0,"b":1,"\"":2,"ab":3,"\u20ac":4},"merges":[["a","b"],["\u0061","\ud83d\ude42"]],)"
      R"("unk":null,"flags":[true,false,-3,1.25e3,[[]],{}]}})";
  check_same(good);
  Rng rng(11);
  const std::string letters = "{}[]\",:\\u0d8e19-+.tfn \x80\xC3\xED";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      const size_t at = rng.below(text.size());
      const char letter = letters[rng.below(letters.size())];
      switch (rng.below(3)) {
        case 0:
          text[at] = letter;
          break;
        case 1:
          text.insert(at, 1, letter);
          break;
        default:
          text.erase(at, 1 + rng.below(4));
          break;
      }
    }
    check_same(text);
  }
}

TEST_CASE("hf json: merges as strings are cut at their space") {
  const HfJson json = parse_hf_json(R"({"model":{"merges":["#version: 0.2","a b","ab c"]}})", "f");
  REQUIRE(json.merges.size() == 2);
  CHECK(json.merges[1].first == "ab");
  CHECK(json.merges[1].second == "c");
}

TEST_CASE("hf json: the strings outlive the text and the copy") {
  HfJson kept;
  {
    const std::string text = R"({"model":{"vocab":{"token":7},"merges":[["left","right"]]}})";
    const HfJson json = parse_hf_json(text, "f");
    kept = json;
  }
  CHECK(kept.vocab.at(0).first == "token");
  CHECK(kept.merges.at(0).second == "right");
  CHECK(parse_vocab_json(R"({"a":1,"b":0})", "f").vocab.size() == 2);
}
