// SPDX-License-Identifier: Apache-2.0
// vocab.json + merges.txt: reading, writing, damaged files, and the options that go with them.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "file_error.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_trainer.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::IoError;
using netcl::base::UsageError;
using netcl::base::write_file;
using netcl::tests::message_of;
using netcl::tests::replaced;
using netcl::tests::TempDir;
using netcl::text::BpeTokenizer;
using netcl::text::EncodeOptions;
using netcl::text::load_tokenizer_file;
using netcl::text::parse_vocab_merges;
using netcl::text::SpecialPolicy;
using netcl::text::to_vocab_merges;
using netcl::text::TokenizerFile;
using netcl::text::TokenizerFileOptions;
using netcl::text::TokenizerFormat;
using netcl::text::VocabMerges;

namespace {

using Ids = std::vector<uint32_t>;

BpeTokenizer trained(std::vector<std::string> specials = {"<s>"}) {
  netcl::text::TrainerOptions options;
  options.vocab_size = 300;
  options.specials = std::move(specials);
  return BpeTokenizer::train(
      std::vector<std::string>{"the cat and the hat and the bat \xC3\xA9\xC3\xA9 100 1000"},
      options);
}

TokenizerFileOptions cl100k_with(
    std::optional<std::vector<std::pair<std::string, uint32_t>>> specials) {
  TokenizerFileOptions options;
  options.pattern_name = "cl100k";
  options.specials = std::move(specials);
  return options;
}

BpeTokenizer parse(const VocabMerges& files, const TokenizerFileOptions& options) {
  return parse_vocab_merges(files.vocab_json, files.merges_txt, "v", "m", options);
}

EncodeOptions policy(SpecialPolicy special) {
  EncodeOptions options;
  options.special = special;
  return options;
}

}  // namespace

TEST_CASE("vocab and merges: what is written reads back with equal ids") {
  const BpeTokenizer tokenizer = trained();
  const VocabMerges files = to_vocab_merges(tokenizer);
  CHECK(files.merges_txt.starts_with("#version: 0.2\n"));
  CHECK(files.merges_txt.ends_with('\n'));
  CHECK_THAT(files.vocab_json, Catch::Contains("\"<s>\":0"));
  CHECK_THAT(files.merges_txt, Catch::Contains("\n\xC4\xA0 the\n"));  // U+0120 is a space
  const TokenizerFileOptions options = netcl::text::options_to_read_back(tokenizer, "merges");
  CHECK(options.pattern_name == "cl100k");
  REQUIRE(options.specials);
  CHECK(*options.specials == std::vector<std::pair<std::string, uint32_t>>{{"<s>", 0}});
  const BpeTokenizer again = parse(files, options);
  const std::string sample = "the cat  and 12345 hats\n\n\xFF\xC3\xA9 <s> <t>";
  for (const SpecialPolicy special :
       {SpecialPolicy::kPlain, SpecialPolicy::kAllow, SpecialPolicy::kNone}) {
    CHECK(again.encode(sample, policy(special)) == tokenizer.encode(sample, policy(special)));
  }
  CHECK(again.parts().merges == tokenizer.parts().merges);
  const VocabMerges second = to_vocab_merges(again);
  CHECK(second.vocab_json == files.vocab_json);
  CHECK(second.merges_txt == files.merges_txt);
}

TEST_CASE("vocab and merges: files, directories and names") {
  const TempDir folder;
  const VocabMerges files = to_vocab_merges(trained({}));
  const TokenizerFileOptions options = cl100k_with({{}});
  write_file(folder.file("vocab.json"), files.vocab_json);
  CHECK_THROWS_AS(load_tokenizer_file(folder.file("vocab.json"), options), IoError);
  write_file(folder.file("merges.txt"), files.merges_txt);
  for (const std::string& path : {folder.file("vocab.json"), folder.file("")}) {
    const TokenizerFile loaded = load_tokenizer_file(path, options);
    CHECK(loaded.format == TokenizerFormat::kVocabMerges);
    CHECK(loaded.tokenizer.vocab_size() == trained({}).vocab_size());
  }
  const std::string message =
      message_of<UsageError>([&] { load_tokenizer_file(folder.file("vocab.json")); });
  CHECK_THAT(message, Catch::Contains("a vocab.json does not carry its split pattern"));

  // Names with a prefix; another name has merges.txt beside it.
  write_file(folder.file("x-vocab.json"), files.vocab_json);
  CHECK_THROWS_AS(load_tokenizer_file(folder.file("x-vocab.json"), options), IoError);
  write_file(folder.file("x-merges.txt"), files.merges_txt);
  CHECK_NOTHROW(load_tokenizer_file(folder.file("x-vocab.json"), options));
  write_file(folder.file("encoder.json"), files.vocab_json);
  CHECK_NOTHROW(load_tokenizer_file(folder.file("encoder.json"), options));

  // A tokenizer.json wins in a directory.
  write_file(folder.file("tokenizer.json"), netcl::text::to_tokenizer_json(trained()));
  CHECK(load_tokenizer_file(folder.file("")).format == TokenizerFormat::kTokenizerJson);
  CHECK_THROWS_AS(load_tokenizer_file(folder.file(""), options), UsageError);
}

TEST_CASE("vocab and merges: a special token has the id of the vocabulary") {
  const VocabMerges files = to_vocab_merges(trained({}));
  const uint32_t end = static_cast<uint32_t>(trained({}).vocab_size());
  // Not in the vocabulary: any free id.
  CHECK(parse(files, cl100k_with({{{"<s>", end + 7}}})).find_added("<s>") == end + 7);
  CHECK_THAT(message_of<FormatError>([&] {
               parse(files, cl100k_with({{{"<s>", 5}}}));
             }),
             Catch::Contains("'<s>' should have the id 5, which the file gives to another token"));
  // In the vocabulary, as in GPT-2's own files.
  VocabMerges listed = files;
  listed.vocab_json = replaced(files.vocab_json, "{", "{\"<s>\":" + std::to_string(end) + ",");
  CHECK(parse(listed, cl100k_with({{{"<s>", end}}})).encode("<s>", policy(SpecialPolicy::kAllow)) ==
        Ids{end});
  CHECK_THAT(message_of<FormatError>([&] {
               parse(listed, cl100k_with({{{"<s>", end + 1}}}));
             }),
             Catch::Contains("which the file gives as " + std::to_string(end)));
  // Not named: it is text that nothing becomes.
  CHECK(parse(listed, cl100k_with({{}})).encode("<s>") ==
        parse(files, cl100k_with({{}})).encode("<s>"));
}

TEST_CASE("vocab and merges: lines of merges are two tokens and one space") {
  const VocabMerges files = to_vocab_merges(trained({}));
  const TokenizerFileOptions options = cl100k_with({{}});
  const auto with_line = [&](const std::string& line) {
    return VocabMerges{files.vocab_json, "#version: 0.2\n" + line + "\n#version again\n"};
  };
  const std::vector<std::pair<std::string, std::string>> table = {
      {"t", "m:2: 't' is not two tokens"},
      {"", "m:2: '' is not two tokens"},
      {" ", "m:2: token '' is not in v"},
      {"t h e", "m:2: 't h e' is not two tokens"},
      {"t  h", "m:2: 't  h' is not two tokens"},
      {" t h", "m:2: ' t h' is not two tokens"},
      {"t h ", "m:2: 't h ' is not two tokens"},
      {"t\th", "m:2: 't\\th' is not two tokens"},
      {"t \xE2\x82\xAC", "m:2: token '\xE2\x82\xAC' is not in v"},
      {"q z", "m:2: token 'qz' is not in v"},
      {"# version", "m:2: token 'version' is not in v"},
      {std::string("t\0 h", 4), "m:2: token 't\\x00' is not in v"},
      {"\xFF h", "m:2: token '\\xFF' is not in v"},
  };
  for (const auto& [line, wanted] : table) {
    const std::string message = message_of<FormatError>([&] { parse(with_line(line), options); });
    CHECK_THAT(message, Catch::Contains(wanted));
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK(parse(with_line("a t"), options).parts().merges.size() == 1);
  CHECK(parse(with_line("a t\r"), options).parts().merges.size() == 1);
  CHECK(parse({files.vocab_json, "a t"}, options).parts().merges.size() == 1);
  CHECK(parse({files.vocab_json, ""}, options).parts().merges.empty());
}

TEST_CASE("vocab and merges: a damaged vocab json is refused") {
  const VocabMerges files = to_vocab_merges(trained({}));
  const std::vector<std::array<std::string, 3>> table = {
      {"\"!\":0", "\"!\":1", "token '\"': id 1 is given twice"},
      {"\"\\\"\":1", "\"!\":1", "token '!' is given twice"},
      {"\"!\":0", "\"!\":-1", "token '!': expected an id, found a negative number"},
      {"\"!\":0", "\"!\":0.5", "token '!': expected an id, found a fraction"},
      {"\"!\":0", "\"!\":\"0\"", "token '!': expected an id, found a string"},
      {"\"!\":0", "\"!\":[0]", "token '!': expected an id, found an array"},
      {"\"!\":0", "\"!\":99999999", "token '!': id 99999999 is not below"},
      {"\"!\":0", "\"\":0", "id 0 is an empty token"},
      {"\"!\":0", "\"!!\":0", "no token for the byte 33"},
      {"}", "", "not valid JSON"},
      {"}", "}x", "not valid JSON"},
      {"{", "\xEF\xBB\xBF{", "byte order mark"},
  };
  for (const auto& [from, to, wanted] : table) {
    CAPTURE(from, to);
    // A '}' is a token too; the last one is the end of the object.
    VocabMerges damaged = files;
    const size_t at = from == "}" ? files.vocab_json.rfind('}') : files.vocab_json.find(from);
    REQUIRE(at != std::string::npos);
    damaged.vocab_json.replace(at, from.size(), to);
    const std::string message = message_of<FormatError>([&] { parse(damaged, cl100k_with({{}})); });
    CHECK_THAT(message, Catch::Contains(wanted));
    CHECK(message.find('\n') == std::string::npos);
  }
  for (const std::string text : {"", "[]", "7", "{}", "null", "\"x\""}) {
    CHECK_THROWS_AS(parse({text, "#version: 0.2\n"}, cl100k_with({{}})), FormatError);
  }
}

TEST_CASE(
    "vocab and merges: the name of a file whose damage hides its kind says what it should be") {
  const TempDir folder;
  const TokenizerFileOptions options = cl100k_with({{}});
  write_file(folder.file("merges.txt"), "");
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {R"({"a":"x"})", "token 'a': expected an id, found a string"},
           {R"({"a":{}})", "token 'a': expected an id, found an object"},
           {R"({"!":[1]})", "token '!': expected an id, found an array"},
           {R"({"!":0,"a":null})", "token 'a': expected an id, found null"},
           {"{", "not valid JSON"},
           {"[1]", "expected an object of tokens and ids, found an array"},
           {R"({"!":0 "a":1})", "not valid JSON"},
           {"{}", "no token for the byte 0"}}) {
    CAPTURE(text);
    write_file(folder.file("vocab.json"), text);
    for (const std::string& name : {folder.file("vocab.json"), folder.file("")}) {
      CHECK_THAT(message_of<FormatError>([&] { load_tokenizer_file(name, options); }),
                 Catch::Contains("vocab.json") && Catch::Contains(wanted));
    }
    // Under another name it may be any kind, and the options go with one only.
    write_file(folder.file("x.json"), R"({"a":{}})");
    CHECK_THROWS_AS(load_tokenizer_file(folder.file("x.json"), options), UsageError);
  }
  // What is there tells more than the name.
  write_file(folder.file("vocab.json"), netcl::text::to_tokenizer_json(trained()));
  CHECK(load_tokenizer_file(folder.file("vocab.json")).format == TokenizerFormat::kTokenizerJson);
  write_file(folder.file("tekken.json"), R"({"type":{}})");
  CHECK_THAT(
      message_of<UsageError>([&] { load_tokenizer_file(folder.file("tekken.json"), options); }),
      Catch::Contains("a tekken.json carries its own pattern"));
}

TEST_CASE("vocab and merges: no cut or changed byte crashes the reader") {
  netcl::base::Rng rng(5);
  const VocabMerges files = to_vocab_merges(trained({}));
  for (int round = 0; round < 300; ++round) {
    VocabMerges damaged = files;
    std::string& text = round % 2 == 0 ? damaged.vocab_json : damaged.merges_txt;
    if (rng.below(2) == 0) {
      text.resize(rng.below(text.size()));
    } else {
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    }
    try {
      parse(damaged, cl100k_with({{}})).encode("the cat and the hat");
    } catch (const netcl::base::Error&) {
    }
  }
  SUCCEED();
}
