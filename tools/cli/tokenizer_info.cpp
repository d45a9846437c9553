// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenizer_info.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "cli/id_format.h"
#include "text/rank_merges.h"
#include "text/tokenizer_parts.h"

namespace netcl::cli {

namespace {

using base::Json;

Json pre_tokenizer_json(const text::PreTokenizer& pre_tokenizer) {
  Json steps = Json::array();
  for (const text::PreTokenizerStep& step : pre_tokenizer.steps()) {
    steps.push_back(base::parse_json(step.definition, "pre_tokenizer"));
  }
  return steps;
}

// Name and text of each regular expression that splits, in order.
Json patterns_json(const text::PreTokenizer& pre_tokenizer) {
  Json patterns = Json::array();
  for (const text::PreTokenizerStep& step : pre_tokenizer.steps()) {
    if (step.splitter != nullptr) {
      const std::string_view name = step.splitter->name();
      patterns.push_back(Json{{"name", name.empty() ? Json() : Json(std::string(name))},
                              {"text", step.splitter->pattern()}});
    }
  }
  return patterns;
}

Json added_tokens_json(std::vector<text::AddedToken> tokens) {
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  Json list = Json::array();
  for (const text::AddedToken& token : tokens) {
    list.push_back(Json{{"id", token.id},
                        {"content", token.content},
                        {"special", token.special},
                        {"single_word", token.single_word},
                        {"lstrip", token.lstrip},
                        {"rstrip", token.rstrip},
                        {"normalized", token.normalized}});
  }
  return list;
}

// [[first, last], ...] of the ids below the limit that are no token.
Json holes_json(const text::BpeTokenizer& tokenizer) {
  Json holes = Json::array();
  for (uint32_t id = 0; id < tokenizer.id_limit(); ++id) {
    if (tokenizer.contains(id)) {
      continue;
    }
    const uint32_t first = id;
    while (id + 1 < tokenizer.id_limit() && !tokenizer.contains(id + 1)) {
      ++id;
    }
    holes.push_back(Json::array({first, id}));
  }
  return holes;
}

Json longest_token_json(const text::Vocabulary& vocabulary) {
  uint32_t longest = 0;
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    if (vocabulary.bytes(id).size() > vocabulary.bytes(longest).size()) {
      longest = id;
    }
  }
  const std::string_view bytes = vocabulary.bytes(longest);
  return Json{{"id", longest},
              {"bytes", bytes.size()},
              {"token", base::parse_json(piece_json(bytes), "token")}};
}

// The vocabulary without the added tokens that a file lists in it too.
text::Vocabulary ordinary_tokens(const text::TokenizerParts& parts) {
  std::unordered_set<uint32_t> added;
  for (const text::AddedToken& token : parts.added_tokens) {
    added.insert(token.id);
  }
  std::vector<text::VocabularyEntry> entries;
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    if (parts.vocabulary.contains(id) && !added.contains(id)) {
      entries.push_back({id, parts.vocabulary.bytes(id)});
    }
  }
  return text::Vocabulary(entries);
}

// Ids of the ordinary tokens whose bytes alone become other ids.
std::vector<uint32_t> unreachable_tokens(const text::BpeTokenizer& tokenizer,
                                         const text::Vocabulary& vocabulary,
                                         base::ThreadPool& pool) {
  constexpr uint32_t kChunk = 4096;
  std::vector<std::vector<uint32_t>> found((vocabulary.id_limit() + kChunk - 1) / kChunk);
  pool.parallel_for(found.size(), [&](size_t chunk, size_t) {
    text::EncodeOptions options;
    options.special = text::SpecialPolicy::kNone;
    const uint32_t begin = static_cast<uint32_t>(chunk) * kChunk;
    const uint32_t end = std::min(begin + kChunk, vocabulary.id_limit());
    for (uint32_t id = begin; id < end; ++id) {
      if (vocabulary.contains(id) &&
          tokenizer.encode(vocabulary.bytes(id), options) != std::vector<uint32_t>{id}) {
        found[chunk].push_back(id);
      }
    }
  });
  std::vector<uint32_t> all;
  for (const std::vector<uint32_t>& part : found) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::string tokenizer_info_json(const text::TokenizerFile& file, base::ThreadPool& pool) {
  const text::BpeTokenizer& tokenizer = file.tokenizer;
  const text::TokenizerParts& parts = tokenizer.parts();
  const bool by_ranks = parts.rule == text::MergeRule::kByteRanks;
  const text::Vocabulary ordinary = ordinary_tokens(parts);
  const std::vector<uint32_t> unmergeable = text::unmergeable_tokens(parts, ordinary);
  // A tokenizer on characters puts a mark before every text, so its tokens are judged without that.
  const std::vector<uint32_t> unreachable =
      parts.characters ? unmergeable : unreachable_tokens(tokenizer, ordinary, pool);
  Json json;
  json["format"] = std::string(text::format_name(file.format));
  json["vocab_size"] = tokenizer.vocab_size();
  json["id_limit"] = tokenizer.id_limit();
  json["holes"] = holes_json(tokenizer);
  json["model"] = by_ranks ? "byte ranks" : "merges";
  json["merges"] = by_ranks ? Json() : Json(parts.merges.size());
  json["ignore_merges"] = by_ranks ? Json() : Json(parts.ignore_merges);
  json["ordinary_tokens"] = ordinary.size();
  json["reachable_tokens"] = ordinary.size() - unreachable.size();
  json["unreachable_tokens"] = unreachable.size();
  json["first_unreachable"] = unreachable.empty() ? Json() : Json(unreachable[0]);
  json["unmergeable_tokens"] = unmergeable.size();
  json["decode_only_tokens"] = parts.decode_only.size();
  json["longest_token"] = longest_token_json(ordinary);
  json["patterns"] = patterns_json(parts.pre_tokenizer);
  json["pre_tokenizer"] = pre_tokenizer_json(parts.pre_tokenizer);
  json["normalizer"] = base::parse_json(text::normalizer_text(tokenizer), "normalizer");
  json["template"] = {{"before", parts.template_prefix}, {"after", parts.template_suffix}};
  json["added_tokens"] = added_tokens_json(parts.added_tokens);
  return base::to_text(json, 2) + "\n";
}

}  // namespace netcl::cli
