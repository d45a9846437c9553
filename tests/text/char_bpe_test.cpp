// SPDX-License-Identifier: Apache-2.0
// Tokenizers on characters (Llama 2 style). The ids are those of Hugging Face `tokenizers` 0.23.2;
// scripts/compare_hf.py compares a real vocabulary.
#include <array>
#include <cstdio>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/json_file.h"
#include "base/rng.h"
#include "support/catch.h"
#include "text/char_bpe_encoder.h"
#include "text/piece_cache.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::Rng;
using netcl::text::BpeTokenizer;
using netcl::text::ByteSpan;
using netcl::text::CharBpeEncoder;
using netcl::text::CharModel;
using netcl::text::DecodeOptions;
using netcl::text::Merges;
using netcl::text::PieceCache;
using netcl::text::StreamDecoder;
using netcl::text::Vocabulary;

namespace {

using Ids = std::vector<uint32_t>;

constexpr const char* kBlank = "\xE2\x96\x81";  // U+2581, which stands for a space

// Ids: <unk> 0, a 1, b 2, blank 3, e acute 4, with byte tokens then <0x00> ... <0xFF>, then ab,
// blank a, blank ab, <unk>a, ba, abab.
Json small_model(const Json& fields = Json::object(), bool byte_tokens = false) {
  Json vocab = Json::object();
  const auto add = [&](const std::string& token) { vocab[token] = vocab.size(); };
  const std::string blank = kBlank;
  for (const std::string& token :
       {std::string("<unk>"), std::string("a"), std::string("b"), blank, std::string("\xC3\xA9")}) {
    add(token);
  }
  for (int byte = 0; byte < 256 && byte_tokens; ++byte) {
    const std::string digits = "0123456789ABCDEF";
    add(std::string("<0x") + digits[static_cast<size_t>(byte) / 16] +
        digits[static_cast<size_t>(byte) % 16] + ">");
  }
  for (const std::string& token : {std::string("ab"), blank + "a", blank + "ab",
                                   std::string("<unk>a"), std::string("ba"), std::string("abab")}) {
    add(token);
  }
  Json model = {{"type", "BPE"},
                {"unk_token", "<unk>"},
                {"fuse_unk", false},
                {"byte_fallback", false},
                {"ignore_merges", false}};
  for (const auto& [key, value] : fields.items()) {
    model[key] = value;
  }
  model["vocab"] = vocab;
  model["merges"] = Json::array();
  for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b"}, {blank, "a"}, {blank, "ab"}, {"b", "a"}, {"<unk>", "a"}}) {
    model["merges"].push_back(Json::array({left, right}));
  }
  const Json prepend = {{"type", "Prepend"}, {"prepend", blank}};
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", blank}};
  const Json back = {{"type", "Replace"}, {"pattern", {{"String", blank}}}, {"content", " "}};
  const Json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  return {{"version", "1.0"},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", {prepend, replace}}}},
          {"pre_tokenizer", nullptr},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders", {back, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}, strip}}}},
          {"model", model}};
}

BpeTokenizer read(const Json& json) {
  return netcl::text::parse_tokenizer_json(netcl::base::to_text(json), "m.json");
}

const std::vector<std::string> kTexts = {"",
                                         "ab",
                                         " ab",
                                         "ab ab",
                                         "\xC3\xA9"
                                         "a",
                                         "xyab",
                                         "xya",
                                         "a\xE4\xB8\xAD\xE6\x96\x87"
                                         "b",
                                         "bab",
                                         "abab",
                                         "xy",
                                         "a\nb"};

void check(const Json& json, const std::vector<Ids>& wanted) {
  const BpeTokenizer tokenizer = read(json);
  const BpeTokenizer again =
      netcl::text::parse_tokenizer_json(netcl::text::to_tokenizer_json(tokenizer), "written");
  REQUIRE(wanted.size() == kTexts.size());
  for (size_t i = 0; i < kTexts.size(); ++i) {
    CAPTURE(kTexts[i]);
    CHECK(tokenizer.encode(kTexts[i]) == wanted[i]);
    CHECK(again.encode(kTexts[i]) == wanted[i]);
    CHECK(again.decode(wanted[i]) == tokenizer.decode(wanted[i]));
  }
}

}  // namespace

TEST_CASE("char bpe: an unknown token for every unknown character") {
  const std::vector<Ids> wanted = {{},        {7},          {3, 7},    {7, 7},
                                   {3, 4, 1}, {3, 0, 0, 5}, {3, 0, 8}, {6, 0, 0, 2},
                                   {3, 2, 5}, {7, 5},       {3, 0, 0}, {6, 0, 2}};
  check(small_model(), wanted);
  check(small_model({{"ignore_merges", true}}), wanted);
  Json split = small_model({{"ignore_merges", true}});
  split["pre_tokenizer"] = {{"type", "Split"},
                            {"pattern", {{"String", kBlank}}},
                            {"behavior", "MergedWithNext"},
                            {"invert", false}};
  check(split, wanted);
}

TEST_CASE("char bpe: a run of unknown characters fused, or left out") {
  const std::vector<Ids> fused = {{},     {7},       {3, 7},    {7, 7}, {3, 4, 1}, {3, 0, 5},
                                  {3, 8}, {6, 0, 2}, {3, 2, 5}, {7, 5}, {3, 0},    {6, 0, 2}};
  check(small_model({{"fuse_unk", true}}), fused);
  // byte_fallback without any token for a byte changes nothing.
  check(small_model({{"fuse_unk", true}, {"byte_fallback", true}}), fused);
  check(small_model({{"unk_token", nullptr}}),
        {{}, {7}, {3, 7}, {7, 7}, {3, 4, 1}, {7}, {6}, {7}, {3, 2, 5}, {7, 5}, {3}, {7}});
}

TEST_CASE("char bpe: unknown characters as the tokens of their bytes") {
  const Json json = small_model({{"byte_fallback", true}}, true);
  check(json, {{},
               {263},
               {3, 263},
               {263, 263},
               {3, 4, 1},
               {3, 125, 126, 261},
               {3, 125, 126, 1},
               {262, 233, 189, 178, 235, 155, 140, 2},
               {3, 2, 261},
               {263, 261},
               {3, 125, 126},
               {262, 15, 2}});
  const BpeTokenizer tokenizer = read(json);
  for (const std::string& text : kTexts) {
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
    // One id at a time, whatever arrives with the first.
    StreamDecoder stream(tokenizer);
    std::string shown;
    for (int round = 0; round < 2; ++round) {
      for (const uint32_t id : tokenizer.encode(text)) {
        stream.push(Ids{id}, shown);
      }
      stream.finish(shown);
    }
    CHECK(shown == text + text);
  }
  DecodeOptions in_part;
  in_part.continues = true;
  CHECK(tokenizer.decode(Ids{263}, in_part) == " ab");
  CHECK(tokenizer.decode(Ids{3}) == "");
  CHECK(tokenizer.token_bytes(15) == "\n");
}

TEST_CASE("char bpe: spans are of the original") {
  const netcl::text::Encoding encoding =
      read(small_model({{"byte_fallback", true}}, true)).encode_with_spans("a\xC3\xA8 b");
  CHECK(encoding.ids == Ids{262, 200, 173, 3, 2});
  CHECK(encoding.spans == std::vector<ByteSpan>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
}

TEST_CASE("char bpe: invalid UTF-8 is refused with its place") {
  const BpeTokenizer tokenizer = read(small_model());
  CHECK_THROWS_WITH(tokenizer.encode("ab\xFF"), Catch::StartsWith("text@2: the byte"));
  CHECK_THROWS_AS(tokenizer.encode("\xE4\xB8"), FormatError);
}

TEST_CASE("char bpe: the length of a text does not make it quadratic") {
  netcl::base::Rng rng(5);
  std::string text;
  while (text.size() < 1000000) {
    text += "ab x"[rng.below(4)];
  }
  const BpeTokenizer tokenizer = read(small_model({{"byte_fallback", true}}, true));
  CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
}

namespace {

// A model of its own over a, b, U+2581 and e acute; x, a line feed and a character of three bytes
// are no tokens. Merges join any two tokens, those that stand for other characters too.
class RandomCharModel {
 public:
  explicit RandomCharModel(Rng& rng) {
    for (const std::string& token : {std::string("<unk>"), std::string("a"), std::string("b"),
                                     std::string(kBlank), std::string("\xC3\xA9")}) {
      add(token);
    }
    model_.byte_fallback = rng.below(2) == 0;
    for (int byte = 0; byte < 256 && model_.byte_fallback; ++byte) {
      std::array<char, 8> token{};
      std::snprintf(token.data(), token.size(), "<0x%02X>", static_cast<unsigned>(byte));
      add(token.data());
    }
    const std::vector<uint32_t> plain = {1, 2, 3, 4};
    std::vector<uint32_t> parts = plain;
    if (!model_.byte_fallback && rng.below(2) == 0) {
      model_.unknown_id = 0;
      model_.fuse_unknown = rng.below(2) == 0;
    }
    if (rng.below(4) == 0) {
      parts.push_back(0);
    }
    if (model_.byte_fallback && rng.below(4) == 0) {
      parts.push_back(ids_.at("<0x0A>"));
    }
    const bool crosses = rng.below(3) == 0;  // words too
    for (size_t i = 4 + rng.below(16); i > 0; --i) {
      const uint32_t left = parts[rng.below(parts.size())];
      const uint32_t right = parts[rng.below(parts.size())];
      if (tokens_[right].starts_with(kBlank) && tokens_[left] != kBlank && !crosses) {
        continue;
      }
      const std::string joined = tokens_[left] + tokens_[right];
      if (!ids_.contains(joined)) {
        add(joined);
        parts.push_back(ids_.at(joined));
      }
      merges_.push_back({left, right, ids_.at(joined)});
    }
    std::vector<netcl::text::VocabularyEntry> entries;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      entries.push_back({id, tokens_[id]});
    }
    vocabulary_ = Vocabulary(entries);
    encoder_.emplace(vocabulary_, model_, merges_, false, "random");
  }

  void check(const std::vector<std::string>& characters, PieceCache& cache) {
    std::string text;
    for (const std::string& character : characters) {
      text += character;
    }
    CAPTURE(text);
    const Ids wanted = reference(characters);
    CharBpeEncoder::Scratch scratch;
    for (int round = 0; round < 2; ++round) {  // the second finds what the first has added
      Ids ids;
      encoder_->encode(text, cache, scratch, ids);
      REQUIRE(ids == wanted);
    }
    Ids ids;
    std::vector<ByteSpan> spans;
    encoder_->encode(text, scratch, ids, spans);
    REQUIRE(ids == wanted);
    REQUIRE(spans.size() == ids.size());
    for (size_t i = 1; i < spans.size(); ++i) {
      REQUIRE(spans[i - 1].end <= spans[i].begin);
    }
  }

 private:
  void add(const std::string& token) {
    ids_.emplace(token, static_cast<uint32_t>(tokens_.size()));
    tokens_.push_back(token);
  }

  // By the definition: all symbols of the text, then one merge after the other.
  Ids reference(const std::vector<std::string>& characters) const {
    Ids ids;
    bool after_unknown = false;
    for (const std::string& character : characters) {
      const auto found = ids_.find(character);
      const bool is_unknown = found == ids_.end();
      if (!is_unknown) {
        ids.push_back(found->second);
      } else if (model_.byte_fallback) {
        for (const char byte : character) {
          ids.push_back(5 + static_cast<uint8_t>(byte));
        }
      } else if (model_.unknown_id && !(after_unknown && model_.fuse_unknown)) {
        ids.push_back(*model_.unknown_id);
      }
      after_unknown = is_unknown;
    }
    for (;;) {
      size_t best_rank = merges_.size();
      size_t best_at = 0;
      for (size_t at = 0; at + 1 < ids.size(); ++at) {
        for (size_t rank = merges_.size(); rank-- > 0;) {
          if (merges_[rank].left == ids[at] && merges_[rank].right == ids[at + 1]) {
            if (rank < best_rank) {
              best_rank = rank;
              best_at = at;
            }
            break;  // of two equal merges the later one counts
          }
        }
      }
      if (best_rank == merges_.size()) {
        return ids;
      }
      ids[best_at] = merges_[best_rank].result;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
    }
  }

  std::vector<std::string> tokens_;
  std::map<std::string, uint32_t> ids_;
  CharModel model_;
  Merges merges_;
  Vocabulary vocabulary_;
  std::optional<CharBpeEncoder> encoder_;
};

}  // namespace

TEST_CASE("char bpe: words alone come to the ids of the whole text") {
  Rng rng(21);
  for (int round = 0; round < 300; ++round) {
    RandomCharModel model(rng);
    PieceCache cache(1 << 20);
    for (int i = 0; i < 30; ++i) {
      std::vector<std::string> characters;
      for (size_t count = rng.below(i % 10 == 0 ? 200 : 14); count > 0; --count) {
        const std::vector<std::string> all = {"a",    "b", kBlank, "\xC3\xA9",    "a",
                                              kBlank, "x", "\n",   "\xE4\xB8\xAD"};
        characters.push_back(all[rng.below(all.size())]);
      }
      model.check(characters, cache);
    }
  }
}

TEST_CASE("char bpe: what is not supported is refused by name") {
  const auto refused = [](Json json, const std::string& words) {
    CHECK_THROWS_WITH(read(json), Catch::Contains(words));
  };
  Json json = small_model();
  json["decoder"] = nullptr;
  refused(json, "decoder: is missing");
  json["decoder"] = {{"type", "ByteLevel"}};
  refused(json, "decoder: type 'ByteLevel'");
  json = small_model();
  json["decoder"]["decoders"][3]["stop"] = 1;
  refused(json, "stop '1'");
  json["decoder"]["decoders"][3]["stop"] = 0;
  json["decoder"]["decoders"][3]["start"] = 2;
  refused(json, "start '2'");
  json["decoder"]["decoders"][3]["start"] = 1;
  json["decoder"]["decoders"][3]["content"] = kBlank;
  refused(json, "decoder[3]: content");
  json = small_model();
  std::swap(json["decoder"]["decoders"][0], json["decoder"]["decoders"][1]);
  refused(json, "decoder[1]: type 'Replace'");
  json = small_model();
  json["decoder"]["decoders"][0]["content"] = "";
  refused(json, "becomes nothing");
  refused(small_model({{"unk_token", "<none>"}}), "unk_token '<none>'");
  json = small_model({{"byte_fallback", true}}, true);
  json["model"]["vocab"].erase("<0x41>");
  json["model"]["vocab"]["other"] = 5 + 0x41;
  refused(json, "byte_fallback with 242 of the 243");
}
