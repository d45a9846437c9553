// SPDX-License-Identifier: Apache-2.0
// Real vocabularies read by the name of their pattern, and their files turned into other formats:
// the ids of the reference implementations before and after.
#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/json_file.h"
#include "support/catch.h"
#include "support/skip.h"
#include "text/base64.h"
#include "text/rank_merges.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"
#include "vocab_files.h"

using netcl::base::Json;
using netcl::tests::read_jsonl;
using netcl::tests::shared_dir;
using netcl::tests::text_of;
using netcl::tests::unpack;
using netcl::text::AddedToken;
using netcl::text::BpeTokenizer;
using netcl::text::EncodeOptions;
using netcl::text::options_to_read_back;
using netcl::text::parse_tekken_json;
using netcl::text::parse_tiktoken;
using netcl::text::parse_tokenizer_json;
using netcl::text::parse_vocab_merges;
using netcl::text::SpecialPolicy;
using netcl::text::to_tiktoken;
using netcl::text::to_tokenizer_json;
using netcl::text::to_vocab_merges;
using netcl::text::TokenizerFileOptions;
using netcl::text::VocabMerges;

namespace {

using Ids = std::vector<uint32_t>;

struct GoldenRow {
  std::string id;
  std::string text;
  Ids plain;
  Ids allowed;
};

// Texts and ids of golden/<name>.jsonl without those that depend on the Unicode version.
std::vector<GoldenRow> golden_rows(const std::string& name, bool is_rank_file) {
  const std::string path = shared_dir() + "/golden/unicode_dependent.json";
  const Json exceptions = netcl::base::parse_json(text_of(path), path)["cases"];
  std::vector<GoldenRow> rows;
  for (const Json& row : read_jsonl(shared_dir() + "/golden/" + name + ".jsonl")) {
    const std::string id = row["id"].get<std::string>();
    if (exceptions.contains(name) &&
        std::find(exceptions[name].begin(), exceptions[name].end(), id) != exceptions[name].end()) {
      continue;
    }
    const Json& ids = row["ids"];
    const auto or_ids = [&](const char* key) { return row.contains(key) ? row[key] : ids; };
    rows.push_back({id, row["text"].get<std::string>(),
                    (is_rank_file ? ids : or_ids("ids_plain")).get<Ids>(),
                    (is_rank_file ? or_ids("ids_allow_special") : ids).get<Ids>()});
  }
  return rows;
}

void check_rows(const BpeTokenizer& tokenizer, const std::vector<GoldenRow>& rows,
                uint32_t id_shift = 0) {
  EncodeOptions plain;
  plain.special = SpecialPolicy::kPlain;
  EncodeOptions allow;
  allow.special = SpecialPolicy::kAllow;
  std::string differ;
  for (const GoldenRow& row : rows) {
    const auto shifted = [&](Ids ids) {
      for (uint32_t& id : ids) {
        id += id_shift;
      }
      return ids;
    };
    if (tokenizer.encode(row.text, plain) != shifted(row.plain) ||
        (id_shift == 0 && tokenizer.encode(row.text, allow) != row.allowed)) {
      differ += row.id + " ";
    }
  }
  CHECK(rows.size() > 300);
  CHECK(differ.empty());
}

TokenizerFileOptions named(const std::string& pattern) {
  TokenizerFileOptions options;
  options.pattern_name = pattern;
  return options;
}

// The added tokens by content.
std::vector<AddedToken> sorted(std::vector<AddedToken> tokens) {
  std::sort(tokens.begin(), tokens.end(), [](const AddedToken& a, const AddedToken& b) {
    return std::tie(a.content, a.id) < std::tie(b.content, b.id);
  });
  return tokens;
}

// A .tiktoken file of the shared data by the name of its pattern: golden ids and the special tokens
// of the manifest. Then tokenizer.json and back.
void check_rank_file(const std::string& file, const std::string& golden, const std::string& pattern,
                     bool is_rank_golden = true, bool two_names_of_one_id = false) {
  const std::string path = unpack(file + ".tiktoken");
  if (path.empty()) {
    return;
  }
  INFO(golden << " as " << pattern);
  const std::string text = text_of(path);
  const BpeTokenizer tokenizer = parse_tiktoken(text, path, named(pattern));
  const std::vector<GoldenRow> rows = golden_rows(golden, is_rank_golden);
  check_rows(tokenizer, rows);
  if (is_rank_golden) {
    const std::string specials_path = shared_dir() + "/vocabs/specials/" + golden + ".json";
    const Json specials = netcl::base::parse_json(text_of(specials_path), specials_path);
    CHECK(tokenizer.parts().added_tokens.size() == specials.size());
    for (const AddedToken& token : tokenizer.parts().added_tokens) {
      CHECK(specials.value(token.content, UINT32_MAX) == token.id);
    }
  }
  // r50k and p50k are the same as gpt2 but for the vocabulary, and llama3 splits as cl100k.
  const TokenizerFileOptions back = options_to_read_back(tokenizer, "test");
  CHECK(to_tiktoken(tokenizer) == text);
  CHECK(sorted(parse_tiktoken(text, path, back).parts().added_tokens) ==
        sorted(tokenizer.parts().added_tokens));
  if (two_names_of_one_id) {
    CHECK_THROWS_AS(to_tokenizer_json(tokenizer), netcl::base::UsageError);
    return;
  }
  const BpeTokenizer json = parse_tokenizer_json(to_tokenizer_json(tokenizer), "json");
  check_rows(json, rows);
  CHECK(to_tiktoken(json) == text);
}

// A tokenizer.json as .tiktoken and back, read by the name that the options to read back give.
void check_json(const std::string& name, const std::string& pattern, const std::string& golden) {
  const std::string path = unpack(name + ".tokenizer.json");
  if (path.empty()) {
    return;
  }
  INFO(name);
  const BpeTokenizer tokenizer = parse_tokenizer_json(text_of(path), path);
  const TokenizerFileOptions back = options_to_read_back(tokenizer, "test");
  CHECK(back.pattern_name == pattern);
  const std::string ranks = to_tiktoken(tokenizer);
  const BpeTokenizer again = parse_tiktoken(ranks, "ranks", back);
  CHECK(again.parts().added_tokens.size() == tokenizer.parts().added_tokens.size());
  CHECK(again.id_limit() == tokenizer.id_limit());
  const BpeTokenizer json = parse_tokenizer_json(to_tokenizer_json(again), "json");
  CHECK(to_tiktoken(json) == ranks);
  CHECK(json.parts().added_tokens.size() == tokenizer.parts().added_tokens.size());
  if (golden.empty()) {
    return;
  }
  const std::vector<GoldenRow> rows = golden_rows(golden, false);
  check_rows(tokenizer, rows);
  check_rows(again, rows);
  check_rows(json, rows);
}

}  // namespace

TEST_CASE("golden convert: rank files by name, to tokenizer json and back") {
  check_rank_file("r50k_base", "r50k_base", "r50k");
  check_rank_file("p50k_base", "p50k_base", "p50k_base");
  check_rank_file("cl100k_base", "cl100k_base", "cl100k");
  check_rank_file("o200k_base", "o200k_base", "o200k");
}

TEST_CASE("golden convert: rank files of llama, tekken and kimi by name") {
  check_rank_file("llama3", "llama3", "llama3", false);
  check_rank_file("llama4", "llama4", "llama4");
  check_rank_file("tekken_240718", "tekken_240718", "tekken");
  check_rank_file("kimi_k2", "kimi_k2", "kimi_k2");
}

TEST_CASE("golden convert: o200k harmony has two names for one id") {
  check_rank_file("o200k_base", "o200k_harmony", "o200k_harmony", true, true);
}

TEST_CASE("golden convert: tokenizer json to ranks and back") {
  check_json("gpt2", "gpt2", "gpt2");
  check_json("llama3", "llama3", "llama3");
  check_json("llama3_1", "llama3", "llama3_1");
  check_json("gpt35turbo", "cl100k", "");
  check_json("gptoss", "o200k", "gptoss");
}

TEST_CASE("golden convert: normalizer and chain come back with the name") {
  check_json("qwen3", "qwen3", "qwen3");
  check_json("deepseek_v3", "deepseek-v3", "deepseek_v3");
}

TEST_CASE("golden convert: what no option brings back is refused") {
  for (const char* name : {"gpt_neox_20b", "modernbert", "claude"}) {
    const std::string path = unpack(std::string(name) + ".tokenizer.json");
    if (path.empty()) {
      return;
    }
    const BpeTokenizer tokenizer = parse_tokenizer_json(text_of(path), path);
    CHECK_THROWS_AS(to_tiktoken(tokenizer), netcl::base::UsageError);
    CHECK_THROWS_AS(to_vocab_merges(tokenizer), netcl::base::UsageError);
  }
}

TEST_CASE("golden convert: GPT-2's own vocab json and merges txt") {
  const std::string vocab_path = unpack("gpt2.vocab.json");
  const std::string merges_path = unpack("gpt2.merges.txt");
  const std::string json_path = unpack("gpt2.tokenizer.json");
  const std::string ranks_path = unpack("r50k_base.tiktoken");
  if (vocab_path.empty() || merges_path.empty() || json_path.empty() || ranks_path.empty()) {
    return;
  }
  const auto files = netcl::text::load_tokenizer_file(vocab_path, named("gpt2"));
  CHECK(files.format == netcl::text::TokenizerFormat::kVocabMerges);
  const std::vector<GoldenRow> rows = golden_rows("gpt2", false);
  check_rows(files.tokenizer, rows);
  const std::string merges = text_of(merges_path);
  CHECK(to_vocab_merges(files.tokenizer).merges_txt == merges);
  // From the other two formats exactly the same files come.
  const BpeTokenizer json = parse_tokenizer_json(text_of(json_path), json_path);
  const BpeTokenizer ranks = parse_tiktoken(text_of(ranks_path), ranks_path, named("r50k"));
  for (const BpeTokenizer* tokenizer : {&json, &ranks}) {
    const VocabMerges written = to_vocab_merges(*tokenizer);
    CHECK(written.merges_txt == merges);
    CHECK(written.vocab_json == to_vocab_merges(files.tokenizer).vocab_json);
    const BpeTokenizer again = parse_vocab_merges(written.vocab_json, written.merges_txt, "v", "m",
                                                  options_to_read_back(*tokenizer, "test"));
    check_rows(again, rows);
    check_rows(parse_tokenizer_json(to_tokenizer_json(again), "json"), rows);
  }
}

TEST_CASE("golden convert: cl100k and o200k as merges, llama3 not") {
  for (const auto& [file, pattern] :
       {std::pair{"cl100k_base", "cl100k"}, std::pair{"o200k_base", "o200k"}}) {
    const std::string path = unpack(std::string(file) + ".tiktoken");
    if (path.empty()) {
      return;
    }
    const BpeTokenizer tokenizer = parse_tiktoken(text_of(path), path, named(pattern));
    const VocabMerges written = to_vocab_merges(tokenizer);
    const BpeTokenizer again =
        parse_vocab_merges(written.vocab_json, written.merges_txt, "v", "m", named(pattern));
    check_rows(again, golden_rows(file, true));
    CHECK(to_tiktoken(again) == text_of(path));
  }
  const std::string path = unpack("llama3.tokenizer.json");
  const BpeTokenizer llama3 = parse_tokenizer_json(text_of(path), path);
  CHECK_THROWS_AS(to_vocab_merges(llama3), netcl::base::UsageError);
  CHECK(netcl::text::vocab_merges_difference(llama3).has_value());
  CHECK(netcl::text::unmergeable_tokens(llama3.parts(), llama3.parts().vocabulary).size() == 588);
}

TEST_CASE("golden convert: a tekken json has the ranks after its special tokens") {
  const std::string path = unpack("tekken_240718.tiktoken");
  if (path.empty()) {
    return;
  }
  constexpr uint32_t kSpecials = 1000;
  const std::string manifest_path = shared_dir() + "/vocabs/manifest.json";
  const Json manifest = netcl::base::parse_json(text_of(manifest_path), manifest_path);
  const BpeTokenizer ranks = parse_tiktoken(text_of(path), path, named("tekken"));
  Json file;
  file["config"] = Json{{"pattern", manifest["vocabs"]["tekken_240718"]["pattern"]},
                        {"num_vocab_tokens", ranks.id_limit() + 1},
                        {"default_vocab_size", ranks.id_limit() + kSpecials},
                        {"default_num_special_tokens", kSpecials},
                        {"version", "v3"}};
  file["vocab"] = Json::array();
  for (uint32_t id = 0; id <= ranks.id_limit(); ++id) {  // one rank too many, which does not count
    const std::string bytes(id < ranks.id_limit() ? ranks.token_bytes(id) : "one too many");
    file["vocab"].push_back(
        Json{{"rank", id}, {"token_bytes", netcl::text::to_base64(bytes)}, {"token_str", nullptr}});
  }
  const BpeTokenizer tekken = parse_tekken_json(netcl::base::to_text(file), "tekken.json");
  CHECK(tekken.id_limit() == 131072);
  CHECK(tekken.find_added("[INST]") == 3U);
  CHECK(tekken.find_added("<SPECIAL_999>") == 999U);
  const std::vector<GoldenRow> rows = golden_rows("tekken_240718", true);
  check_rows(tekken, rows, kSpecials);
  const BpeTokenizer json = parse_tokenizer_json(to_tokenizer_json(tekken), "json");
  check_rows(json, rows, kSpecials);
  CHECK(sorted(json.parts().added_tokens) == sorted(tekken.parts().added_tokens));
}
