// SPDX-License-Identifier: Apache-2.0
// Template, truncation and padding; the numbers are those of Hugging Face `tokenizers` 0.23.2.
#include "text/sequence_shape.h"

#include "base/error.h"
#include "base/json_file.h"
#include "support/catch.h"
#include "text/byte_level.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::UsageError;
using netcl::text::BpeTokenizer;
using netcl::text::ByteSpan;
using netcl::text::Encoding;
using netcl::text::SequenceShape;
using netcl::text::ShapeOptions;

namespace {

using Ids = std::vector<uint32_t>;

// Bytes as ids, <s> = 256 and </s> = 257 around a text.
BpeTokenizer tokenizer_with(const Json& truncation, const Json& padding) {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[netcl::text::to_printable(std::string(1, static_cast<char>(byte)))] = byte;
  }
  Json json = {{"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", Json::array()}}},
               {"pre_tokenizer",
                {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}}};
  json["truncation"] = truncation;
  json["padding"] = padding;
  json["added_tokens"] = Json::array();
  for (const char* content : {"<s>", "</s>"}) {
    json["added_tokens"].push_back({{"id", 256 + json["added_tokens"].size()},
                                    {"content", content},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  const auto special = [](const char* name) {
    return Json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  };
  json["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {special("<s>"), {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, special("</s>")}},
      {"pair", Json::array()},
      {"special_tokens",
       {{"<s>", {{"id", "<s>"}, {"ids", {256}}, {"tokens", {"<s>"}}}},
        {"</s>", {{"id", "</s>"}, {"ids", {257}}, {"tokens", {"</s>"}}}}}}};
  return netcl::text::parse_tokenizer_json(netcl::base::to_text(json), "shape.json");
}

Json truncation(uint64_t max_length, const char* direction = "Right", uint64_t stride = 0,
                const char* strategy = "LongestFirst") {
  return {{"direction", direction},
          {"max_length", max_length},
          {"strategy", strategy},
          {"stride", stride}};
}

Json padding(const Json& strategy, const char* direction, const Json& multiple) {
  return {{"strategy", strategy}, {"direction", direction}, {"pad_to_multiple_of", multiple},
          {"pad_id", 0},          {"pad_type_id", 0},       {"pad_token", "!"}};
}

Ids shaped(const BpeTokenizer& tokenizer, const ShapeOptions& options, const std::string& text,
           uint64_t longest = 0) {
  Encoding encoding = tokenizer.encode_with_spans(text);
  const SequenceShape shape(tokenizer, options);
  shape.apply(encoding, text.size());
  shape.pad(encoding, longest, text.size());
  CHECK(encoding.spans.size() == encoding.ids.size());
  return encoding.ids;
}

}  // namespace

TEST_CASE("sequence shape: truncation leaves room for the template") {
  const ShapeOptions both = {true, true, false, 0};
  const ShapeOptions bare = {false, true, false, 0};
  const BpeTokenizer right = tokenizer_with(truncation(4), nullptr);
  CHECK(shaped(right, both, "\1\2\3\4\5") == Ids{256, 1, 2, 257});
  CHECK(shaped(right, bare, "\1\2\3\4\5") == Ids{1, 2, 3, 4});
  CHECK(shaped(right, both, "\1\2") == Ids{256, 1, 2, 257});
  CHECK(shaped(right, both, "") == Ids{256, 257});
  CHECK(shaped(right, {true, false, false, 0}, "\1\2\3\4\5") == Ids{256, 1, 2, 3, 4, 5, 257});
  CHECK(shaped(right, {true, true, false, 1}, "\1\2\3\4\5") == Ids{256, 1, 257});
  const BpeTokenizer left = tokenizer_with(truncation(4, "Left", 1, "OnlyFirst"), nullptr);
  CHECK(shaped(left, both, "\1\2\3\4\5") == Ids{256, 4, 5, 257});
  CHECK(shaped(tokenizer_with(truncation(2), nullptr), both, "\1\2\3") == Ids{256, 257});
  CHECK(shaped(tokenizer_with(truncation(0), nullptr), bare, "\1\2\3").empty());
}

TEST_CASE("sequence shape: padding to a length, to the longest, to a multiple") {
  const ShapeOptions pad = {false, false, true, 0};
  const Json fixed = {{"Fixed", 3}};
  CHECK(shaped(tokenizer_with(nullptr, padding(fixed, "Right", nullptr)), pad, "\1") ==
        Ids{1, 0, 0});
  CHECK(shaped(tokenizer_with(nullptr, padding(fixed, "Left", nullptr)), pad, "\1") ==
        Ids{0, 0, 1});
  CHECK(shaped(tokenizer_with(nullptr, padding(fixed, "Right", 0)), pad, "\1\2\3\4") ==
        Ids{1, 2, 3, 4});
  CHECK(shaped(tokenizer_with(nullptr, padding(fixed, "Right", 4)), pad, "\1\2\3\4\5") ==
        Ids{1, 2, 3, 4, 5});
  CHECK(shaped(tokenizer_with(nullptr, padding(fixed, "Right", 4)), pad, "\1") == Ids{1, 0, 0, 0});
  const BpeTokenizer longest = tokenizer_with(nullptr, padding("BatchLongest", "Right", 4));
  CHECK(SequenceShape(longest, pad).pads_to_longest());
  CHECK(shaped(longest, pad, "\1", 5) == Ids{1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(shaped(longest, pad, "", 0).empty());
}

TEST_CASE("sequence shape: spans of what is put in are empty, at the ends of the text") {
  const BpeTokenizer tokenizer =
      tokenizer_with(truncation(5, "Left"), padding({{"Fixed", 6}}, "Left", nullptr));
  Encoding encoding = tokenizer.encode_with_spans("abcd");
  const SequenceShape shape(tokenizer, {true, true, true, 0});
  shape.apply(encoding, 4);
  shape.pad(encoding, 0, 4);
  CHECK(encoding.spans == std::vector<ByteSpan>{{0, 0}, {0, 0}, {1, 2}, {2, 3}, {3, 4}, {4, 4}});
}

TEST_CASE("sequence shape: what cannot be applied is refused by name") {
  const ShapeOptions cut = {true, true, false, 0};
  const auto refusal = [&](const Json& cut_field, const ShapeOptions& options) {
    return [=] { SequenceShape(tokenizer_with(cut_field, nullptr), options); };
  };
  CHECK_THROWS_AS(refusal(nullptr, cut)(), UsageError);
  CHECK_THROWS_AS(refusal(nullptr, {false, false, true, 0})(), UsageError);
  CHECK_THROWS_AS(refusal(truncation(8, "Right", 0, "OnlySecond"), cut)(), UsageError);
  CHECK_THROWS_WITH(refusal(truncation(1), cut)(), Catch::Contains("max_length 1"));
  CHECK_THROWS_AS(refusal(truncation(6, "Right", 4), cut)(), FormatError);
  CHECK_THROWS_WITH(refusal(truncation(6, "Right", 4), cut)(), Catch::Contains("stride 4"));
  CHECK_NOTHROW(refusal(truncation(6, "Right", 3), cut)());
  CHECK_THROWS_WITH(tokenizer_with(truncation(6, "Up"), nullptr), Catch::Contains("'Up'"));
  CHECK_THROWS_WITH(tokenizer_with(truncation(6, "Right", 0, "Most"), nullptr),
                    Catch::Contains("truncation: strategy 'Most'"));
  CHECK_THROWS_WITH(tokenizer_with(nullptr, padding("Some", "Right", nullptr)),
                    Catch::Contains("padding: strategy 'Some'"));
  Json bad_id = padding("BatchLongest", "Right", nullptr);
  bad_id["pad_id"] = 9999;
  const BpeTokenizer tokenizer = tokenizer_with(nullptr, bad_id);
  CHECK_THROWS_WITH(SequenceShape(tokenizer, {false, false, true, 0}),
                    Catch::Contains("padding.pad_id 9999"));
}

TEST_CASE("sequence shape: truncation and padding survive writing") {
  const Json cut = truncation(7, "Left", 2, "OnlyFirst");
  const Json fill = padding({{"Fixed", 9}}, "Left", 8);
  const Json written =
      netcl::base::parse_json(netcl::text::to_tokenizer_json(tokenizer_with(cut, fill)), "written");
  CHECK(written["truncation"] == cut);
  CHECK(written["padding"] == fill);
}
