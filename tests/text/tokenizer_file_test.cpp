// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_file.h"

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "file_error.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/base64.h"
#include "text/bpe_trainer.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::IoError;
using netcl::base::Rng;
using netcl::base::UsageError;
using netcl::tests::message_of;
using netcl::tests::replaced;
using netcl::tests::TempDir;
using netcl::text::BpeTokenizer;
using netcl::text::parse_tiktoken;
using netcl::text::parse_tokenizer_json;
using netcl::text::to_base64;
using netcl::text::to_tiktoken;
using netcl::text::to_tokenizer_json;
using netcl::text::TokenizerFileOptions;
using netcl::text::TrainerOptions;

namespace {

BpeTokenizer trained(const std::string& pattern = "cl100k", bool specials = true) {
  TrainerOptions options;
  options.vocab_size = 300;
  options.pattern = pattern;
  if (specials) {
    options.specials = {"<s>"};
  }
  return BpeTokenizer::train(
      std::vector<std::string>{"the cat and the hat and the bat \xC3\xA9\xC3\xA9 100 1000"},
      options);
}

TokenizerFileOptions with_regex(const std::string& specials = "") {
  TokenizerFileOptions options;
  options.pattern_regex = "\\S+|\\s+";
  options.specials_path = specials;
  return options;
}

std::string byte_lines() {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {
    text += to_base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(byte) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("tokenizer file: a written tokenizer json reads back with equal ids") {
  const std::string sample = "the cat  and 12345 hats\n\n\xFF\xC3\xA9 <t>";
  for (const std::string pattern : {"gpt2", "cl100k", "o200k", "none"}) {
    const BpeTokenizer tokenizer = trained(pattern);
    const std::string text = to_tokenizer_json(tokenizer);
    const BpeTokenizer again = parse_tokenizer_json(text, "again");
    CHECK(again.encode(sample) == tokenizer.encode(sample));
    CHECK(again.parts().merges == tokenizer.parts().merges);
    CHECK(again.find_added("<s>") == 0U);
    CHECK(to_tokenizer_json(again) == text);
  }
}

TEST_CASE("tokenizer file: a written tiktoken file reads back with equal ids") {
  const TempDir folder;
  const BpeTokenizer tokenizer = trained();
  netcl::base::write_file(folder.file("v.tiktoken"), to_tiktoken(tokenizer));
  netcl::base::write_file(folder.file("s.json"), "{\"<s>\": 0}");
  TokenizerFileOptions options;
  options.pattern_name = "cl100k";
  options.specials_path = folder.file("s.json");
  const BpeTokenizer again = netcl::text::load_tokenizer(folder.file("v.tiktoken"), options);
  const std::string sample = "the cat  and 12345 hats\n\n\xFF\xC3\xA9 thethe";
  CHECK(again.encode(sample) == tokenizer.encode(sample));
  CHECK(again.find_added("<s>") == 0U);
  CHECK(to_tiktoken(again) == to_tiktoken(tokenizer));
  CHECK(parse_tokenizer_json(to_tokenizer_json(again), "json").encode(sample) ==
        tokenizer.encode(sample));
}

TEST_CASE("tokenizer file: directories and mixed up options") {
  const TempDir folder;
  CHECK_THROWS_AS(netcl::text::load_tokenizer(folder.file("")), IoError);
  netcl::base::write_file(folder.file("tokenizer.json"), to_tokenizer_json(trained()));
  CHECK(netcl::text::load_tokenizer(folder.file("")).vocab_size() == trained().vocab_size());
  TokenizerFileOptions named;
  named.pattern_name = "cl100k";
  CHECK_THROWS_AS(netcl::text::load_tokenizer(folder.file("tokenizer.json"), named), UsageError);
  CHECK_THROWS_AS(netcl::text::load_tokenizer(folder.file("absent")), IoError);
  netcl::base::write_file(folder.file("v.tiktoken"), byte_lines());
  CHECK_THROWS_AS(netcl::text::load_tokenizer(folder.file("v.tiktoken")), UsageError);
  named.pattern_name = "gpt99";
  CHECK_THROWS_AS(netcl::text::load_tokenizer(folder.file("v.tiktoken"), named), UsageError);
  named = with_regex();
  named.pattern_name = "gpt2";
  CHECK_THROWS_AS(netcl::text::load_tokenizer(folder.file("v.tiktoken"), named), UsageError);
}

TEST_CASE("tokenizer file: known model names bring split and special tokens") {
  // Ids from 3 on: deepseek-v3 has special tokens before.
  std::string lines;
  for (int byte = 0; byte < 256; ++byte) {
    lines +=
        to_base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(byte + 3) + "\n";
  }
  for (const std::string_view name : netcl::text::known_model_names()) {
    TokenizerFileOptions options;
    options.pattern_name = name;
    const BpeTokenizer tokenizer = parse_tiktoken(lines, "bytes", options);
    CHECK(tokenizer.encode("ab 1") == std::vector<uint32_t>{100, 101, 35, 52});
    const bool pattern_alone = name == "tekken" || name == "kimi-k2" || name == "qwen3.5";
    CHECK(tokenizer.parts().added_tokens.empty() == pattern_alone);
  }
  TokenizerFileOptions harmony;
  harmony.pattern_name = "o200k_harmony";
  const BpeTokenizer tokenizer = parse_tiktoken(byte_lines(), "bytes", harmony);
  CHECK(tokenizer.parts().added_tokens.size() == 1091);
  CHECK(tokenizer.find_added("<|endofprompt|>") == 200018U);
  CHECK(tokenizer.find_added("<|reserved_200018|>") == 200018U);
  CHECK(tokenizer.find_added("<|call|>") == 200012U);
  CHECK(tokenizer.id_limit() == 201088);
  CHECK_THROWS_AS(to_tokenizer_json(tokenizer), UsageError);
}

TEST_CASE("tokenizer file: damaged tiktoken files are refused at the line") {
  const std::string good = byte_lines();
  const std::vector<std::pair<std::string, std::string>> table = {
      {good + "YWI 256\n", "f:257"},     // padding missing
      {good + "YW?= 256\n", "f:257"},    // foreign character
      {good + "YWJ= 256\n", "f:257"},    // bits that no byte uses
      {good + "==== 256\n", "f:257"},    // padding alone
      {good + " 256\n", "f:257"},        // no token
      {good + "YWI=256\n", "f:257"},     // no space
      {good + "YWI= \n", "f:257"},       // no rank
      {good + "YWI= x\n", "f:257"},      // rank is no number
      {good + "YWI= -1\n", "f:257"},     // negative
      {good + "YWI= 256 7\n", "f:257"},  // three parts
      {good + "YWI= 99999999999999999999\n", "f:257"},
      {good + "YWI= 4294967297\n", "f:257"},
      {good + "YWI= 255\n", "f:257"},  // rank twice
      {good + "YQ== 256\n", "f:257"},  // token twice
      {good + "YWI= 256\nYWI= 257\n", "f:258"},
      {good.substr(good.find('\n') + 1), "no token for the byte 0"},
      {good.substr(0, good.size() - 3), "f:256"},
      {"", "no tokens"},
      {"\n\n", "no tokens"},
      {std::string("\x1F\x8B\x08\x00", 4), "f:1"},
      {good + to_base64(std::string(1 << 17, 'x')) + " 256\n", "f:257"},
  };
  for (const auto& [text, place] : table) {
    const std::string message =
        message_of<FormatError>([&] { parse_tiktoken(text, "f", with_regex()); });
    CHECK_THAT(message, Catch::Contains(place));
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK_NOTHROW(parse_tiktoken(replaced(good, "\n", "\r\n\n") + "YWI= 300", "f", with_regex()));
}

TEST_CASE("tokenizer file: damaged specials files are refused") {
  const TempDir folder;
  const std::string path = folder.file("s.json");
  for (const std::string text :
       {"[]", "{\"<s>\": -1}", "{\"<s>\": 1.5}", "{\"<s>\": \"1\"}", "{\"\": 300}", "{\"<s>\": 5}",
        "{\"<s>\": 99999999999}", "{", "", "{\"<s>\": 300, \"<s>\": 301}"}) {
    netcl::base::write_file(path, text);
    CHECK_THROWS_AS(parse_tiktoken(byte_lines(), "f", with_regex(path)), FormatError);
  }
}

TEST_CASE("tokenizer file: damaged or unsupported tokenizer json is refused by name") {
  const std::string good = to_tokenizer_json(trained());
  REQUIRE_NOTHROW(parse_tokenizer_json(good, "f"));
  // "@" in the table is the first merge of the file.
  const size_t first_merge = good.find("[\"", good.find("\"merges\":["));
  const std::string merge = good.substr(first_merge, good.find(']', first_merge) + 1 - first_merge);
  const std::vector<std::array<std::string, 3>> table = {
      {"\"version\":\"1.0\"", "\"version\":\"2.0\"", "version"},
      {"\"truncation\":null", "\"what\":null", "what"},
      {"\"type\":\"BPE\"", "\"type\":\"Unigram\"", "Unigram"},
      {"\"dropout\":null", "\"dropout\":0.1", "dropout"},
      {"\"byte_fallback\":false", "\"byte_fallback\":true", "byte_fallback"},
      {"\"byte_fallback\":false", "\"byte_fallback\":1", "byte_fallback"},
      {"\"end_of_word_suffix\":null", "\"end_of_word_suffix\":\"</w>\"", "end_of_word_suffix"},
      {"\"continuing_subword_prefix\":null", "\"continuing_subword_prefix\":\"##\"",
       "continuing_subword_prefix"},
      {"\"fuse_unk\":false", "\"surprise\":false", "surprise"},
      {"\"normalizer\":null", "\"normalizer\":{\"type\":\"Precompiled\"}", "Precompiled"},
      {"\"normalizer\":null", "\"normalizer\":{\"type\":\"NFC\",\"x\":1}", "'x'"},
      {"\"normalizer\":null", "\"normalizer\":[]", "normalizer"},
      {"\"decoder\":{\"type\":\"ByteLevel\"", "\"decoder\":{\"type\":\"Fuse\"", "Fuse"},
      {"\"post_processor\":{\"type\":\"ByteLevel\"", "\"post_processor\":{\"type\":\"Magic\"",
       "Magic"},
      {"\"behavior\":\"Isolated\"", "\"behavior\":\"Sideways\"", "Sideways"},
      {"\"invert\":false", "\"invert\":0", "invert"},
      {"{\"Regex\":", "{\"Text\":", "Text"},
      {"\"lstrip\":false", "\"lstripe\":false", "lstripe"},
      {"\"special\":true", "\"special\":null", "special"},
      {"\"content\":\"<s>\"", "\"content\":\"\"", "added_tokens[0]"},
      {"\"id\":0", "\"id\":-1", "id"},
      {"\"!\":1", "\"!\":2", "given twice"},
      {"\"!\":1", "\"!\":-1", "model.vocab"},
      {"\"!\":1", "\"!\":1.5", "model.vocab"},
      {"\"!\":1", "\"!\":\"1\"", "model.vocab"},
      {"\"!\":1", "\"!\":[1]", "model.vocab"},
      {"\"!\":1", "\"!\":{}", "model.vocab"},
      {"\"!\":1", "\"!\":99999999", "model.vocab"},
      {"\"!\":1", "\"!\":18446744073709551616", ": the integer 18446744073709551616 has more than"},
      {"\"id\":0", "\"id\":-9223372036854775809", ": the integer -9223372036854775809 has more"},
      {"\"!\":1", "\"\":1", "empty token"},
      {"\"!\":1", "\"!!\":1", "no token for the byte 33"},
      {"@", "[\"t\"]", "model.merges["},
      {"@", "[\"t\",\"h\",\"e\"]", "model.merges["},
      {"@", "[\"t\",1]", "model.merges["},
      {"@", "\"t h e\"", "model.merges["},
      {"@", "\"th\"", "model.merges["},
      {"@", "{}", "model.merges["},
      {"@", "7", "model.merges["},
      {"@", "[\"t\",\"\\u20ac\"]", "not in the vocabulary"},
      {"@", "[\"q\",\"z\"]", "not in the vocabulary"},
      {"\"merges\":[", "\"merged\":[", "merge"},
      {"\"vocab\":{", "\"vocab\":{},\"vocab\":{", "duplicate"},
  };
  for (const auto& [from, to, named] : table) {
    CAPTURE(from, to);
    const std::string text = replaced(good, from == "@" ? merge : from, to);
    const std::string message = message_of<FormatError>([&] { parse_tokenizer_json(text, "f"); });
    CHECK_THAT(message, Catch::Contains(named));
    CHECK(message.find('\n') == std::string::npos);
  }
  // The place stands once.
  const std::string replace = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"},\"content\":[]}";
  for (const auto& [from, to, wanted] : std::vector<std::array<std::string, 3>>{
           {"\"invert\":false", "\"invert\":[]",
            "f: pre_tokenizer[0]: field 'invert': expected true or false, found array"},
           {"\"normalizer\":null",
            "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}," + replace +
                "]}",
            "f: normalizer[1]: field 'content': expected a string, found array"}}) {
    CHECK(message_of<FormatError>([&] { parse_tokenizer_json(replaced(good, from, to), "f"); }) ==
          wanted);
  }
  for (const std::string text : {"", "{", "{}", "[]", "null", "{\"model\":{}}", "{\"model\":7}",
                                 "\xEF\xBB\xBF{}", "{\"model\":{\"vocab\":[],\"merges\":{}}}"}) {
    CHECK_THROWS_AS(parse_tokenizer_json(text, "f"), FormatError);
  }
  CHECK_THROWS_AS(parse_tokenizer_json(good + std::string(1, '\0'), "f"), FormatError);
  CHECK_THROWS_AS(parse_tokenizer_json("{\"a\":" + std::string(10000, '['), "f"), FormatError);
}

TEST_CASE("tokenizer file: no cut or changed byte crashes the readers") {
  Rng rng(3);
  const std::string json = to_tokenizer_json(trained());
  const std::string ranks = to_tiktoken(trained("cl100k", false));
  for (int round = 0; round < 400; ++round) {
    const bool is_json = round % 2 == 0;
    std::string text = is_json ? json : ranks;
    if (rng.below(2) == 0) {
      text.resize(rng.below(text.size()));
    } else {
      for (uint64_t i = 0; i < 1 + rng.below(4); ++i) {
        text[rng.below(text.size())] = static_cast<char>(rng.below(256));
      }
    }
    try {
      const BpeTokenizer tokenizer =
          is_json ? parse_tokenizer_json(text, "f") : parse_tiktoken(text, "f", with_regex());
      netcl::text::EncodeOptions allow;
      allow.special = netcl::text::SpecialPolicy::kAllow;
      tokenizer.encode("the cat and the hat", allow);
    } catch (const netcl::base::Error&) {
    }
  }
  SUCCEED();
}
