// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.h"

#include "base/error.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "support/catch.h"
#include "text/bpe_trainer.h"
#include "text/byte_level.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"
#include "vocab_files.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::Rng;
using netcl::base::UsageError;
using netcl::tests::load_vocabulary;
using netcl::text::AddedToken;
using netcl::text::BpeTokenizer;
using netcl::text::ByteSpan;
using netcl::text::EncodeOptions;
using netcl::text::Encoding;
using netcl::text::Merge;
using netcl::text::SpecialPolicy;
using netcl::text::StreamDecoder;
using netcl::text::TrainerOptions;
using netcl::text::Utf8Errors;

namespace {

using Ids = std::vector<uint32_t>;

EncodeOptions policy(SpecialPolicy special, std::vector<std::string> allowed = {}) {
  EncodeOptions options;
  options.special = special;
  options.allowed = std::move(allowed);
  return options;
}

// A tokenizer.json whose bytes have their values as ids and whose merges count from 256. `fields`
// are members that stand in place of the default ones.
std::string json_file(const std::vector<std::pair<std::string, std::string>>& merges,
                      const std::vector<std::string>& extra, const Json& fields,
                      bool merges_as_strings = false) {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[netcl::text::to_printable(std::string(1, static_cast<char>(byte)))] = byte;
  }
  Json list = Json::array();
  for (const auto& [left, right] : merges) {
    vocab[left + right] = vocab.size();
    list.push_back(merges_as_strings ? Json(left + " " + right) : Json::array({left, right}));
  }
  for (const std::string& token : extra) {
    vocab[token] = vocab.size();
  }
  Json json = {{"version", "1.0"},
               {"added_tokens", Json::array()},
               {"normalizer", nullptr},
               {"pre_tokenizer", Json{{"type", "ByteLevel"},
                                      {"add_prefix_space", false},
                                      {"trim_offsets", true},
                                      {"use_regex", true}}},
               {"post_processor", nullptr},
               {"decoder", Json{{"type", "ByteLevel"}}},
               {"model", Json{{"type", "BPE"}, {"vocab", vocab}, {"merges", list}}}};
  for (const auto& [key, value] : fields.items()) {
    if (key == "ignore_merges") {
      json["model"][key] = value;
    } else {
      json[key] = value;
    }
  }
  return json.dump();
}

BpeTokenizer parse(const std::string& text) {
  return netcl::text::parse_tokenizer_json(text, "test");
}

Json added(const std::string& content, int id, const std::vector<std::string>& flags) {
  Json token = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", false}};
  for (const std::string& flag : flags) {
    token[flag] = true;
  }
  return token;
}

Json with_added(std::vector<Json> tokens, Json normalizer = nullptr) {
  return Json{{"added_tokens", Json(tokens)}, {"normalizer", std::move(normalizer)}};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

}  // namespace

TEST_CASE("tokenizer: the chapter's sample trains on two sentences and restores the text") {
  const std::vector<std::string> texts = {"Hello world!", "Attention is all you need."};
  const BpeTokenizer tokenizer = BpeTokenizer::train(texts, TrainerOptions());
  const Ids ids = tokenizer.encode("Hello world!");
  CHECK(ids.size() == 3);
  CHECK(tokenizer.decode(ids) == "Hello world!");
  size_t next = 0;
  const BpeTokenizer again = BpeTokenizer::train_from_iterator(
      [&]() -> std::optional<std::string_view> {
        return next < texts.size() ? std::optional<std::string_view>(texts[next++]) : std::nullopt;
      },
      TrainerOptions());
  CHECK(again.encode("Hello world!") == ids);
}

TEST_CASE("tokenizer: arbitrary bytes come back") {
  Rng rng(1);
  for (const std::string pattern : {"gpt2", "cl100k", "o200k", "llama3", "qwen2", "none"}) {
    TrainerOptions options;
    options.pattern = pattern;
    options.vocab_size = 300;
    const BpeTokenizer tokenizer = BpeTokenizer::train(
        std::vector<std::string>{"the cat and the hat and the bat 1234 \xC3\xA9\xC3\xA9"}, options);
    for (int round = 0; round < 60; ++round) {
      std::string text;
      for (uint64_t i = 0; i < rng.below(300); ++i) {
        const uint64_t kind = rng.below(4);
        text += kind == 0   ? std::string("the ")
                : kind == 1 ? std::string("\xC3\xA9")
                            : std::string(1, static_cast<char>(rng.below(256)));
      }
      const Encoding encoding = tokenizer.encode_with_spans(text);
      REQUIRE(tokenizer.decode(encoding.ids) == text);
      REQUIRE(tokenizer.count(text) == encoding.ids.size());
      uint64_t at = 0;
      for (size_t i = 0; i < encoding.ids.size(); ++i) {
        REQUIRE(encoding.spans[i].begin == at);
        at = encoding.spans[i].end;
        REQUIRE(text.substr(encoding.spans[i].begin, at - encoding.spans[i].begin) ==
                tokenizer.token_bytes(encoding.ids[i]));
      }
      REQUIRE(at == text.size());
    }
  }
}

TEST_CASE("tokenizer: special tokens under the four policies") {
  const BpeTokenizer tokenizer =
      parse(json_file({}, {}, with_added({added("<s>", 256, {"special"}), added("<t>", 257, {})})));
  const std::string text = "a<s>b<t>";
  const Ids as_ids = {97, 256, 98, 257};
  const Ids plain = {97, 60, 115, 62, 98, 257};
  CHECK(tokenizer.encode(text, policy(SpecialPolicy::kAllow)) == as_ids);
  CHECK(tokenizer.encode(text, policy(SpecialPolicy::kPlain)) == plain);
  CHECK(tokenizer.encode(text, policy(SpecialPolicy::kPlain, {"<s>"})) == as_ids);
  CHECK(tokenizer.encode(text, policy(SpecialPolicy::kRefuse, {"<s>"})) == as_ids);
  CHECK(tokenizer.encode(text, policy(SpecialPolicy::kNone)) ==
        Ids{97, 60, 115, 62, 98, 60, 116, 62});
  const std::string message = message_of([&] { tokenizer.encode(text); });
  CHECK(message.find("text@1:") == 0);
  CHECK(message.find("'<s>'") != std::string::npos);
  EncodeOptions placed;
  placed.where = "corpus.txt";
  placed.where_offset = 100;
  CHECK(message_of([&] { tokenizer.encode(text, placed); }).find("corpus.txt@101:") == 0);
  CHECK_THROWS_AS(tokenizer.encode("x", policy(SpecialPolicy::kRefuse, {"<u>"})), UsageError);
  CHECK_THROWS_AS(tokenizer.encode("x", policy(SpecialPolicy::kNone, {"<s>"})), UsageError);
  CHECK(tokenizer.encode("a<t>") == Ids{97, 257});
  CHECK(tokenizer.decode(as_ids) == text);
  CHECK(tokenizer.decode(as_ids, {.skip_special = true}) == "ab<t>");
}

TEST_CASE("tokenizer: ignore_merges takes a pre-token that is a token") {
  const std::vector<std::pair<std::string, std::string>> merges = {{"a", "b"}, {"b", "c"}};
  const BpeTokenizer ignoring = parse(json_file(merges, {"abc"}, Json{{"ignore_merges", true}}));
  CHECK(ignoring.encode("abc") == Ids{258});
  CHECK(ignoring.encode("abcd") == Ids{256, 99, 100});
  CHECK(ignoring.encode("xabc") == Ids{120, 256, 99});
  const BpeTokenizer merging = parse(json_file(merges, {"abc"}, Json{{"ignore_merges", false}}));
  CHECK(merging.encode("abc") == Ids{256, 99});
}

TEST_CASE("tokenizer: merges in both forms") {
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"t", "h"}, {"th", "e"}, {"\xC4\xA0", "the"}};
  for (const bool as_strings : {false, true}) {
    const BpeTokenizer tokenizer = parse(json_file(merges, {}, Json::object(), as_strings));
    CHECK(tokenizer.encode("the the") == Ids{257, 258});
    CHECK(tokenizer.encode("then  the") == Ids{257, 110, 32, 258});
  }
  CHECK_NOTHROW(parse(json_file({{"a ", "b"}}, {"a "}, Json::object())));
  CHECK(message_of([] {
          parse(json_file({{"a ", "b"}}, {"a "}, Json::object(), true));
        }).find("model.merges[0]") != std::string::npos);
}

TEST_CASE("tokenizer: a chain of pre-tokenizers after the byte level step") {
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"1", "2"},  {"12", "3"}, {"123", "4"}, {"4", "5"},       {"3", "4"},
      {"34", "5"}, {"=", "="},  {"x", "="},   {"\xC4\xA0", "1"}};
  const Json chain = Json::parse(R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[
    {"type":"Punctuation","behavior":"Contiguous"},
    {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},
    {"type":"Digits","individual_digits":false},
    {"type":"Split","pattern":{"Regex":"[0-9]{3}"},"behavior":"Isolated","invert":false}]}})");
  const BpeTokenizer chained = parse(json_file(merges, {}, chain));
  CHECK(chained.encode("x==12345") == Ids{120, 262, 257, 259});
  CHECK(chained.encode(" 12345") == Ids{32, 257, 259});
  CHECK(chained.encode("x= 1234") == Ids{120, 61, 32, 257, 52});
  const BpeTokenizer alone = parse(json_file(merges, {}, Json::object()));
  CHECK(alone.encode("x==12345") == Ids{120, 262, 258, 53});
  CHECK(alone.encode(" 12345") == Ids{32, 258, 53});
  CHECK(alone.encode("x= 1234") == Ids{120, 61, 32, 258});
}

TEST_CASE("tokenizer: flags of added tokens") {
  const BpeTokenizer word =
      parse(json_file({}, {}, with_added({added("cat", 256, {"single_word"})})));
  CHECK(word.encode("a cat b") == Ids{97, 32, 256, 32, 98});
  for (const std::string text : {"concat", "catalog", "cat_", "cat\xC3\xA9"}) {
    const Ids ids = word.encode(text);
    CHECK(std::count(ids.begin(), ids.end(), 256U) == 0);
  }
  CHECK(word.encode("cat.") == Ids{256, 46});
  const BpeTokenizer left = parse(json_file({}, {}, with_added({added("[M]", 256, {"lstrip"})})));
  CHECK(left.encode("a  [M] b") == Ids{97, 256, 32, 98});
  CHECK(left.encode("a\n\t[M]  b") == Ids{97, 256, 32, 32, 98});
  CHECK(left.encode_with_spans("a  [M] b").spans[1] == ByteSpan{1, 6});
  const BpeTokenizer right = parse(json_file({}, {}, with_added({added("[M]", 256, {"rstrip"})})));
  CHECK(right.encode("a  [M] \n b") == Ids{97, 32, 32, 256, 98});
  const BpeTokenizer normalized =
      parse(json_file({}, {},
                      with_added({added("Yes", 256, {"normalized"}), added("NoP", 257, {})},
                                 Json{{"type", "Lowercase"}})));
  CHECK(normalized.encode("yes Yes YES nop NoP") ==
        Ids{256, 32, 256, 32, 256, 32, 110, 111, 112, 32, 257});
}

TEST_CASE("tokenizer: ids that decoding does not know are named") {
  const BpeTokenizer tokenizer = parse(json_file({}, {"zz"}, Json::object()));
  const Ids ids = {97, 300};
  const std::string message = message_of([&] { tokenizer.decode(ids); });
  CHECK(message.find("id 300 at position 1") != std::string::npos);
  CHECK(tokenizer.token_bytes(300).empty());
  CHECK(tokenizer.token_bytes(UINT32_MAX).empty());
}

TEST_CASE("tokenizer: streams hold back unfinished characters at every cut") {
  const BpeTokenizer tokenizer = parse(json_file({}, {}, Json::object()));
  const std::string text =
      "a\xF0\x9F\x99\x82"
      "b\xE0\xA4\xA8\xFF\xC3\xA9\xF0\x9F";
  const Ids ids = tokenizer.encode(text);
  for (const Utf8Errors errors : {Utf8Errors::kRaw, Utf8Errors::kReplace}) {
    std::string at_once;
    StreamDecoder one(tokenizer, {}, errors);
    one.push(ids, at_once);
    one.finish(at_once);
    CHECK(at_once == (errors == Utf8Errors::kRaw
                          ? text
                          : "a\xF0\x9F\x99\x82"
                            "b\xE0\xA4\xA8\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD"));
    for (size_t cut = 0; cut <= ids.size(); ++cut) {
      StreamDecoder decoder(tokenizer, {}, errors);
      std::string out;
      decoder.push(std::span(ids).first(cut), out);
      decoder.push(std::span(ids).subspan(cut), out);
      decoder.finish(out);
      REQUIRE(out == at_once);
    }
  }
  StreamDecoder decoder(tokenizer);
  std::string out;
  decoder.push(std::span(ids).first(4), out);
  CHECK(out == "a");
  decoder.push(std::span(ids).subspan(4, 1), out);
  CHECK(out == "a\xF0\x9F\x99\x82");
  StreamDecoder strict(tokenizer, {}, Utf8Errors::kStrict);
  CHECK(message_of([&] { strict.push(ids, out); }).find("byte 9") != std::string::npos);
}

TEST_CASE("tokenizer: a limit ends at a character") {
  const BpeTokenizer tokenizer = parse(json_file({}, {}, Json::object()));
  const Ids ids = tokenizer.encode(
      "a\xF0\x9F\x99\x82"
      "b\xFF\xC3");
  const std::vector<size_t> wanted = {0, 1, 1, 1, 1, 5, 6, 7, 8, 8};
  for (size_t limit = 0; limit < wanted.size(); ++limit) {
    CHECK(tokenizer.prefix_at_character(ids, limit) == wanted[limit]);
  }
}

TEST_CASE("tokenizer: the four normal forms and spans of what they rewrote") {
  const BpeTokenizer nfc = parse(json_file({}, {}, Json{{"normalizer", Json{{"type", "NFC"}}}}));
  const Encoding encoding = nfc.encode_with_spans("xe\xCC\x81y");
  CHECK(encoding.ids == Ids{120, 0xC3, 0xA9, 121});
  CHECK(encoding.spans == std::vector<ByteSpan>{{0, 1}, {1, 4}, {1, 4}, {4, 5}});
  const BpeTokenizer nfkd = parse(json_file({}, {}, Json{{"normalizer", Json{{"type", "NFKD"}}}}));
  CHECK(nfkd.decode(nfkd.encode("\xEF\xAC\x81\xC3\xA9")) == "fie\xCC\x81");
  CHECK(nfkd.decode(nfkd.encode("\xFF\xCC")) == "\xFF\xCC");
  std::string marks = "a";
  for (int i = 0; i < 200000; ++i) {
    marks += i % 2 == 0 ? "\xCC\x81" : "\xCC\xA3";
  }
  CHECK(nfc.encode(marks).size() > 200000);
}

TEST_CASE("tokenizer: known answers of real vocabularies") {
  const auto cl100k = load_vocabulary("cl100k_base");
  const auto gpt2 = load_vocabulary("r50k_base");
  const auto o200k = load_vocabulary("o200k_base");
  if (!cl100k || !gpt2 || !o200k) {
    return;
  }
  struct Row {
    std::string text;
    Ids cl100k;
    Ids gpt2;
    Ids o200k;
  };
  const std::vector<Row> rows = {
      {"a\n\nb", {64, 271, 65}, {64, 198, 198, 65}, {64, 279, 65}},
      {"x \n y", {87, 720, 379}, {87, 220, 198, 331}, {87, 793, 342}},
      {"  \n\n  z", {19124, 220, 1167}, {220, 220, 628, 220, 1976}, {11691, 220, 579}},
      {"end \n\n\n", {408, 15073}, {437, 220, 628, 198}, {419, 25980}},
      {"p   q", {79, 256, 2874}, {79, 220, 220, 10662}, {79, 256, 2335}},
      {"a//\n\nb /", {64, 6454, 65, 611}, {64, 1003, 198, 198, 65, 1220}, {64, 55245, 65, 820}},
      {"DON'T don't I'LL",
       {85741, 17773, 1541, 956, 358, 6, 4178},
       {},
       {134882, 51532, 4128, 3413, 7454}},
      {"e\xCC\x81x n\xCC\x83", {68, 54939, 87, 308, 136, 225}, {}, {68, 13430, 87, 297, 52279}},
      {std::string("ab\0cd", 5), {370, 188, 4484}, {397, 188, 10210}, {}},
      {"l1\r\nl2\r\n", {75, 16, 319, 75, 17, 319}, {75, 16, 201, 198, 75, 17, 201, 198}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(cl100k->encode(row.text) == row.cl100k);
    CHECK((row.gpt2.empty() || gpt2->encode(row.text) == row.gpt2));
    CHECK((row.o200k.empty() || o200k->encode(row.text) == row.o200k));
    CHECK(cl100k->decode(row.cl100k) == row.text);
  }
  const std::string notes = "notes <|endoftext|> end";
  CHECK(cl100k->encode(notes, policy(SpecialPolicy::kPlain)) ==
        Ids{18790, 83739, 8862, 728, 428, 91, 29, 842});
  CHECK(cl100k->encode(notes, policy(SpecialPolicy::kAllow)) == Ids{18790, 220, 100257, 842});
  CHECK(gpt2->encode(notes, policy(SpecialPolicy::kAllow)) == Ids{17815, 220, 50256, 886});
  CHECK_THROWS_AS(cl100k->encode(notes), FormatError);
  CHECK_THROWS_AS(cl100k->encode(notes, policy(SpecialPolicy::kRefuse, {"<|fim_prefix|>"})),
                  FormatError);
  for (const uint32_t gap : {100256U, 100261U, 200000U}) {
    CHECK_THROWS_AS(cl100k->decode(Ids{gap}), FormatError);
  }
  CHECK(cl100k->decode(Ids{100257}) == "<|endoftext|>");
  CHECK(cl100k->encode(std::string(100000, 'a')).size() == 12500);
  CHECK(cl100k->encode(std::string(100000, '=')).size() == 1563);
  CHECK(cl100k->encode(std::string(99999, '7')).size() == 33333);
  CHECK(cl100k->encode(std::string(1000, ' ')).size() == 9);
  CHECK(cl100k->encode(std::string(1000, ' ') + "x").size() == 10);
  CHECK(cl100k->encode(std::string(4001, ' ')).size() == 32);
  CHECK(cl100k->encode(std::string(4001, ' ') + "x").size() == 33);
  CHECK(cl100k->decode(cl100k->encode(std::string(1000000, ' '))).size() == 1000000);
  CHECK(cl100k->decode(cl100k->encode(std::string(1000000, '^'))).size() == 1000000);
}

TEST_CASE("tokenizer: every entry of a real vocabulary decodes to its bytes and back") {
  const auto tokenizer = load_vocabulary("r50k_base");
  if (!tokenizer) {
    return;
  }
  for (uint32_t id = 0; id + 1 < tokenizer->id_limit(); ++id) {
    REQUIRE(tokenizer->find_token(tokenizer->token_bytes(id)) == id);
  }
}

TEST_CASE("tokenizer: a byte that the vocabulary lacks is refused with its place") {
  Json json = netcl::base::parse_json(json_file({}, {}, Json::object()), "t.json");
  Json& vocab = json["model"]["vocab"];
  vocab.erase(netcl::text::to_printable("\xFF"));
  vocab["spare"] = 255;
  const BpeTokenizer tokenizer =
      netcl::text::parse_tokenizer_json(netcl::base::to_text(json), "t.json");
  CHECK(tokenizer.encode("a\xFE") == Ids{'a', 0xFE});
  CHECK_THROWS_WITH(tokenizer.encode("ab\xFF"), Catch::StartsWith("text@2:"));
}

TEST_CASE("tokenizer: the length of pieces and of normalized text is bounded") {
  EncodeOptions options;
  options.max_piece = 64;
  const std::string word(64, 'x');
  const BpeTokenizer plain =
      netcl::text::parse_tokenizer_json(json_file({}, {}, Json::object()), "t.json");
  CHECK(plain.encode("a " + word.substr(1), options).size() == 65);
  CHECK_THROWS_WITH(plain.encode("a " + word, options),
                    Catch::StartsWith("text@1: a piece of 65 bytes"));
  CHECK_THROWS_WITH(plain.encode_with_spans("a " + word, options),
                    Catch::StartsWith("text@1: a piece of 65 bytes"));
  netcl::base::ThreadPool pool(2);
  const std::string lines = [] {
    std::string text;
    for (int i = 0; i < 1 << 17; ++i) {
      text += "some words of text\n";
    }
    return text;
  }();
  CHECK_THROWS_WITH(plain.encode(lines + word + "yy\n" + lines + word + "yy", options, pool),
                    Catch::StartsWith("text@" + std::to_string(lines.size()) + ": a piece of 66"));
  options.max_piece = 63;
  CHECK_THROWS_AS(plain.encode("a", options), UsageError);

  // One a becomes a hundred b: the result is what is too long, at the second a.
  options.max_piece = 150;
  Json replace = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}};
  replace["content"] = std::string(100, 'b');
  const BpeTokenizer longer =
      netcl::text::parse_tokenizer_json(json_file({}, {}, {{"normalizer", replace}}), "t.json");
  CHECK(longer.encode("xa", options).size() == 101);
  CHECK_THROWS_WITH(longer.encode("xaya", options), Catch::StartsWith("text@3: what the norm"));
  CHECK_THROWS_WITH(longer.encode(std::string(151, 'x'), options),
                    Catch::StartsWith("text@0: text for the normalizer"));
  replace["pattern"] = {{"Regex", "a"}};
  const Json twice = {{"type", "Sequence"},
                      {"normalizers", {{{"type", "Prepend"}, {"prepend", "__"}}, replace}}};
  const BpeTokenizer chain =
      netcl::text::parse_tokenizer_json(json_file({}, {}, {{"normalizer", twice}}), "t.json");
  CHECK_THROWS_WITH(chain.encode("xaya", options), Catch::StartsWith("text@3: what the norm"));
}
