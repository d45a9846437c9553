// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/rng.h"
#include "file_error.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/base64.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::tests::message_of;
using netcl::tests::replaced;
using netcl::tests::TempDir;
using netcl::text::BpeTokenizer;
using netcl::text::parse_tekken_json;
using netcl::text::SpecialPolicy;

namespace {

using Ids = std::vector<uint32_t>;

// 256 bytes, "ab", "abc" and one token more than counts; ids begin at 10.
Json small_file() {
  Json file;
  file["config"] = Json{{"pattern", "\\S+|\\s+"},
                        {"num_vocab_tokens", 500},
                        {"default_vocab_size", 268},
                        {"default_num_special_tokens", 10},
                        {"version", "v3"}};
  file["vocab"] = Json::array();
  const auto add = [&](const std::string& bytes, const Json& text) {
    file["vocab"].push_back(Json{{"rank", file["vocab"].size()},
                                 {"token_bytes", netcl::text::to_base64(bytes)},
                                 {"token_str", text}});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)),
        byte < 0x80 ? Json(std::string(1, static_cast<char>(byte))) : Json());
  }
  add("ab", "ab");
  add("abc", "abc");
  add("abcd", "abcd");
  file["special_tokens"] =
      Json::array({Json{{"rank", 0}, {"token_str", "<unk>"}, {"is_control", true}},
                   Json{{"rank", 1}, {"token_str", "<s>"}, {"is_control", true}},
                   Json{{"rank", 2}, {"token_str", "[X]"}, {"is_control", false}}});
  return file;
}

std::string small_text() {
  return netcl::base::to_text(small_file());
}

Ids encode(const BpeTokenizer& tokenizer, const std::string& text, SpecialPolicy special) {
  netcl::text::EncodeOptions options;
  options.special = special;
  return tokenizer.encode(text, options);
}

}  // namespace

TEST_CASE("tekken: ids are ranks after the special tokens, and later ranks do not count") {
  const BpeTokenizer tokenizer = parse_tekken_json(small_text(), "f");
  CHECK(tokenizer.encode("abcd a") == Ids{10 + 257, 10 + 'd', 10 + ' ', 10 + 'a'});
  CHECK(tokenizer.id_limit() == 268);
  CHECK(tokenizer.vocab_size() == 268);
  CHECK(tokenizer.find_added("<s>") == 1U);
  CHECK(tokenizer.find_added("<SPECIAL_9>") == 9U);
  CHECK(tokenizer.find_added("<SPECIAL_2>") == std::nullopt);
  CHECK(tokenizer.is_special(2));
  CHECK(encode(tokenizer, "a<s>", SpecialPolicy::kAllow) == Ids{10 + 'a', 1});
  CHECK(encode(tokenizer, "<s>", SpecialPolicy::kPlain) == Ids{10 + '<', 10 + 's', 10 + '>'});
  CHECK_THROWS_AS(tokenizer.encode("<s>"), FormatError);
}

TEST_CASE("tekken: the kind of file is told from its members in any order") {
  const TempDir folder;
  const std::string path = folder.file("any.json");
  const Json file = small_file();
  for (const char* first : {"config", "vocab", "special_tokens"}) {
    Json turned = {{first, file[first]}};
    turned.update(file);
    netcl::base::write_file(path, netcl::base::to_text(turned));
    CHECK(netcl::text::load_tokenizer_file(path).format == netcl::text::TokenizerFormat::kTekken);
  }
  Json typed = {{"version", 1}, {"type", "Tekken"}, {"image", Json::object()}};
  typed.update(file);
  netcl::base::write_file(path, " \n" + netcl::base::to_text(typed, 1));
  CHECK(netcl::text::load_tokenizer_file(path).format == netcl::text::TokenizerFormat::kTekken);
  netcl::text::TokenizerFileOptions named;
  named.pattern_name = "tekken";
  CHECK_THROWS_AS(netcl::text::load_tokenizer(path, named), netcl::base::UsageError);
}

TEST_CASE("tekken: old files without special tokens have the fixed ones") {
  Json file = small_file();
  file.erase("special_tokens");
  file["config"]["default_num_special_tokens"] = 22;
  file["config"]["default_vocab_size"] = 280;
  const BpeTokenizer tokenizer = parse_tekken_json(netcl::base::to_text(file), "f");
  CHECK(tokenizer.find_added("[INST]") == 3U);
  CHECK(tokenizer.find_added("[TOOL_CONTENT]") == 19U);
  CHECK(tokenizer.find_added("<SPECIAL_21>") == 21U);
  file["config"]["version"] = "v11";
  CHECK_THAT(message_of<FormatError>([&] { parse_tekken_json(netcl::base::to_text(file), "f"); }),
             Catch::Contains("field 'special_tokens' is missing"));
}

TEST_CASE("tekken: damaged files are refused at the field") {
  const std::vector<std::array<std::string, 3>> table = {
      {"\"version\":\"v3\"", "\"version\":\"3\"", "version"},
      {"\"version\":\"v3\"", "\"version\":\"vx\"", "version"},
      {"\"version\":\"v3\"", "\"version\":3", "version"},
      {"\"config\":{", "\"config\":{\"surprise\":1,", "surprise"},
      {"\"config\":", "\"configs\":", "configs"},
      {"\"pattern\":\"\\\\S+|\\\\s+\"", "\"pattern\":7", "pattern"},
      {"\"pattern\":\"\\\\S+|\\\\s+\"", "\"pattern\":\"(\"", "pattern@0"},
      {"\"pattern\":\"\\\\S+|\\\\s+\"", "\"pattern\":\"\\\\S{1,3}+|.\"", "pattern"},
      {"\"default_vocab_size\":268", "\"default_vocab_size\":10", "default_vocab_size 10"},
      {"\"default_vocab_size\":268", "\"default_vocab_size\":270", "vocab has 259 entries"},
      {"\"default_vocab_size\":268", "\"default_vocab_size\":-1", "default_vocab_size"},
      {"\"default_vocab_size\":268", "\"default_vocab_size\":4294967564", "default_vocab_size"},
      {"\"default_vocab_size\":268,", "", "default_vocab_size"},
      {"\"default_num_special_tokens\":10", "\"default_num_special_tokens\":2", "3 special tokens"},
      {"\"num_vocab_tokens\":500", "\"num_vocab_tokens\":\"500\"", "num_vocab_tokens"},
      {"\"rank\":1,\"token_str\":\"<s>\"", "\"rank\":7,\"token_str\":\"<s>\"",
       "special_tokens[1]: rank 7"},
      {"\"token_str\":\"<s>\"", "\"token_str\":\"<unk>\"", "'<unk>' is given twice"},
      {"\"token_str\":\"<s>\"", "\"token_str\":\"\"", "'' is empty"},
      {"\"token_str\":\"<s>\"", "\"token_str\":null", "special_tokens[1]"},
      {"\"is_control\":true", "\"is_control\":1", "is_control"},
      {"\"is_control\":true", "\"is_contrl\":true", "is_contrl"},
      {"\"rank\":256", "\"rank\":255", "vocab[256]: rank 255"},
      {"\"token_bytes\":\"YWI=\"", "\"token_bytes\":\"YWI\"", "vocab[256]: token_bytes 'YWI'"},
      {"\"token_bytes\":\"YWI=\"", "\"token_bytes\":\"\"", "vocab[256]: token_bytes ''"},
      {"\"token_bytes\":\"YWI=\"", "\"token_bytes\":\"YQ==\"", "has the rank 97 already"},
      {"\"token_bytes\":\"YWI=\"", "\"token_bytes\":null", "vocab[256]"},
      {"\"token_bytes\":\"AA==\"", "\"token_bytes\":\"YWJjZGU=\"", "no token for the byte 0"},
      {"\"token_str\":\"ab\"", "\"token_str\":5", "token_str"},
      {"\"token_str\":\"ab\"", "\"tokenstr\":\"ab\"", "tokenstr"},
      {"\"vocab\":[{", "\"vocab\":[7,{", "vocab[0]"},
  };
  for (const auto& [from, to, wanted] : table) {
    CAPTURE(from, to);
    const std::string text = replaced(small_text(), from, to);
    const std::string message = message_of<FormatError>([&] { parse_tekken_json(text, "f"); });
    CHECK_THAT(message, Catch::Contains(wanted));
    CHECK_THAT(message, Catch::StartsWith("f"));
    CHECK(message.find('\n') == std::string::npos);
  }
  for (const std::string text :
       {"", "{}", "[]", "{\"config\":{}}", "{\"vocab\":{},\"config\":{}}"}) {
    CHECK_THROWS_AS(parse_tekken_json(text, "f"), FormatError);
  }
  netcl::base::Rng rng(6);
  const std::string good = small_text();
  for (int round = 0; round < 200; ++round) {
    std::string text = good;
    if (round % 2 == 0) {
      text.resize(rng.below(text.size()));
    } else {
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    }
    try {
      encode(parse_tekken_json(text, "f"), "abc abcd", SpecialPolicy::kAllow);
    } catch (const netcl::base::Error&) {
    }
  }
}
