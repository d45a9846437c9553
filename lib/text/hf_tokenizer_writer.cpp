// SPDX-License-Identifier: Apache-2.0
// Writer of tokenizer.json in the form that Hugging Face `tokenizers` 0.23 writes and reads.
#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"
#include "text/byte_level.h"
#include "text/hf_model.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

using base::Json;
using base::quote;
using base::to_text;
using base::UsageError;

namespace {

[[noreturn]] void cannot(const TokenizerParts& parts, const std::string& why) {
  throw UsageError(parts.where + ": cannot be written as tokenizer.json: " + why);
}

// Hugging Face gives an added token the id of the vocabulary where its content stands there, else
// the size of the vocabulary and so on in the order of the list. Where that would not give the ids
// of `added`, all of them go into the vocabulary.
void place_added_tokens(const TokenizerParts& parts, const std::vector<AddedToken>& added,
                        std::map<uint32_t, std::string>& keys) {
  std::map<std::string_view, uint32_t> ids;
  for (const auto& [id, key] : keys) {
    ids.emplace(key, id);
  }
  uint32_t next = static_cast<uint32_t>(keys.size());
  bool follow = true;
  for (const AddedToken& token : added) {
    const auto found = ids.find(token.content);
    if (found != ids.end() && found->second != token.id) {
      cannot(parts, "the added token " + quote(token.content) + " is written like the token " +
                        std::to_string(found->second));
    }
    follow = follow && (found != ids.end() || token.id == next);
    next += found == ids.end() ? 1 : 0;
  }
  if (follow) {
    return;
  }
  for (const AddedToken& token : added) {
    const auto [place, is_new] = keys.emplace(token.id, token.content);
    if (!is_new && place->second != token.content) {
      cannot(parts, "the id " + std::to_string(token.id) + " stands for both " +
                        quote(place->second) + " and " + quote(token.content));
    }
  }
}

Json normalizer_json(const Normalizer& normalizer) {
  using Kind = NormalizerStep::Kind;
  Json steps = Json::array();
  for (const NormalizerStep& step : normalizer.steps()) {
    switch (step.kind) {
      case Kind::kNfc:
        steps.push_back(Json{{"type", "NFC"}});
        break;
      case Kind::kNfd:
        steps.push_back(Json{{"type", "NFD"}});
        break;
      case Kind::kNfkc:
        steps.push_back(Json{{"type", "NFKC"}});
        break;
      case Kind::kNfkd:
        steps.push_back(Json{{"type", "NFKD"}});
        break;
      case Kind::kLowercase:
        steps.push_back(Json{{"type", "Lowercase"}});
        break;
      case Kind::kStripAccents:
        steps.push_back(Json{{"type", "StripAccents"}});
        break;
      case Kind::kStrip:
        steps.push_back(
            Json{{"type", "Strip"}, {"strip_left", step.left}, {"strip_right", step.right}});
        break;
      case Kind::kPrepend:
        steps.push_back(Json{{"type", "Prepend"}, {"prepend", step.content}});
        break;
      case Kind::kReplace:
      case Kind::kReplaceRegex:
        steps.push_back(Json{
            {"type", "Replace"},
            {"pattern", Json{{step.kind == Kind::kReplace ? "String" : "Regex", step.pattern}}},
            {"content", step.content}});
        break;
    }
  }
  if (steps.empty()) {
    return nullptr;
  }
  return steps.size() == 1 ? steps[0] : Json{{"type", "Sequence"}, {"normalizers", steps}};
}

Json pre_tokenizer_json(const PreTokenizer& pre_tokenizer) {
  Json steps = Json::array();
  for (const PreTokenizerStep& step : pre_tokenizer.steps()) {
    steps.push_back(base::parse_json(step.definition, "pre_tokenizer"));
  }
  if (steps.empty()) {
    return nullptr;
  }
  return steps.size() == 1 ? steps[0] : Json{{"type", "Sequence"}, {"pretokenizers", steps}};
}

Json byte_level_json(bool trim_offsets) {
  return Json{{"type", "ByteLevel"},
              {"add_prefix_space", true},
              {"trim_offsets", trim_offsets},
              {"use_regex", true}};
}

Json post_processor_json(const TokenizerParts& parts, const BpeTokenizer& tokenizer) {
  if (parts.template_prefix.empty() && parts.template_suffix.empty()) {
    return parts.characters ? Json() : byte_level_json(false);
  }
  Json special_tokens = Json::object();
  const auto piece = [&](uint32_t id, int type_id) {
    const std::string name(parts.vocabulary.contains(id) ? parts.vocabulary.bytes(id)
                                                         : tokenizer.token_bytes(id));
    special_tokens[name] =
        Json{{"id", name}, {"ids", Json::array({id})}, {"tokens", Json::array({name})}};
    return Json{{"SpecialToken", Json{{"id", name}, {"type_id", type_id}}}};
  };
  Json single = Json::array();
  Json pair = Json::array();
  for (const char* sequence : {"A", "B"}) {
    const int type_id = *sequence - 'A';
    const Json text = {{"Sequence", Json{{"id", sequence}, {"type_id", type_id}}}};
    for (const uint32_t id : parts.template_prefix) {
      pair.push_back(piece(id, type_id));
    }
    pair.push_back(text);
    for (const uint32_t id : parts.template_suffix) {
      pair.push_back(piece(id, type_id));
    }
    if (type_id == 0) {
      single = pair;
    }
  }
  Json filled = {{"type", "TemplateProcessing"},
                 {"single", single},
                 {"pair", pair},
                 {"special_tokens", special_tokens}};
  if (parts.characters) {
    return filled;
  }
  return Json{{"type", "Sequence"}, {"processors", Json::array({byte_level_json(false), filled})}};
}

Json decoder_json(const TokenizerParts& parts) {
  if (!parts.characters) {
    return byte_level_json(true);
  }
  const CharModel& model = *parts.characters;
  Json steps = Json::array();
  for (const auto& [pattern, content] : model.replacements) {
    steps.push_back(
        Json{{"type", "Replace"}, {"pattern", Json{{"String", pattern}}}, {"content", content}});
  }
  if (model.byte_tokens) {
    steps.push_back(Json{{"type", "ByteFallback"}});
  }
  steps.push_back(Json{{"type", "Fuse"}});
  if (model.strip_first != 0) {
    steps.push_back(Json{{"type", "Strip"},
                         {"content", std::string(1, model.strip_first)},
                         {"start", 1},
                         {"stop", 0}});
  }
  return Json{{"type", "Sequence"}, {"decoders", steps}};
}

Json truncation_json(const std::optional<Truncation>& truncation) {
  using Strategy = Truncation::Strategy;
  if (!truncation) {
    return nullptr;
  }
  return Json{{"direction", truncation->at_left ? "Left" : "Right"},
              {"max_length", truncation->max_length},
              {"strategy", truncation->strategy == Strategy::kLongestFirst ? "LongestFirst"
                           : truncation->strategy == Strategy::kOnlyFirst  ? "OnlyFirst"
                                                                           : "OnlySecond"},
              {"stride", truncation->stride}};
}

Json padding_json(const std::optional<Padding>& padding) {
  if (!padding) {
    return nullptr;
  }
  Json json;
  json["strategy"] =
      padding->fixed_length ? Json{{"Fixed", *padding->fixed_length}} : Json("BatchLongest");
  json["direction"] = padding->at_left ? "Left" : "Right";
  json["pad_to_multiple_of"] = padding->multiple == 0 ? Json() : Json(padding->multiple);
  json["pad_id"] = padding->pad_id;
  json["pad_type_id"] = padding->pad_type_id;
  json["pad_token"] = padding->pad_token;
  return json;
}

Json added_token_json(const AddedToken& token) {
  return Json{
      {"id", token.id},          {"content", token.content}, {"single_word", token.single_word},
      {"lstrip", token.lstrip},  {"rstrip", token.rstrip},   {"normalized", token.normalized},
      {"special", token.special}};
}

// The two big members are written piece by piece: a tree of them would take many times their size.
void append_model(const TokenizerParts& parts, const std::map<uint32_t, std::string>& keys,
                  std::string& text) {
  const MergeList list = merge_list(parts);
  const CharModel characters = parts.characters.value_or(CharModel());
  text += R"({"type":"BPE","dropout":null,"unk_token":)";
  text += characters.unknown_id
              ? to_text(Json(key_of(parts, parts.vocabulary.bytes(*characters.unknown_id))))
              : "null";
  text += R"(,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":)";
  text += characters.fuse_unknown ? "true" : "false";
  text += R"(,"byte_fallback":)";
  text += characters.byte_fallback ? "true" : "false";
  text += R"(,"ignore_merges":)";
  text += list.ignore_merges ? "true" : "false";
  text += ",\n\"vocab\":";
  text += vocabulary_json(keys);
  text += ",\n\"merges\":[";
  // Tokens may be long: room for all, so that the text is not there twice while it grows. A byte
  // takes up to two. What is not needed is not touched.
  size_t room = text.size();
  for (const Merge& merge : list.merges) {
    constexpr size_t kBesides = 16;
    room += kBesides + 2 * (parts.vocabulary.bytes(merge.left).size() +
                            parts.vocabulary.bytes(merge.right).size());
  }
  text.reserve(room);
  const char* comma = "\n";
  for (const Merge& merge : list.merges) {
    text += comma;
    text += '[';
    text += to_text(key_of(parts, parts.vocabulary.bytes(merge.left)));
    text += ',';
    text += to_text(key_of(parts, parts.vocabulary.bytes(merge.right)));
    text += ']';
    comma = ",\n";
  }
  text += "]}";
}

}  // namespace

std::string normalizer_text(const BpeTokenizer& tokenizer) {
  return to_text(normalizer_json(tokenizer.parts().normalizer));
}

std::string to_tokenizer_json(const BpeTokenizer& tokenizer) {
  const TokenizerParts& parts = tokenizer.parts();
  std::vector<AddedToken> added = parts.added_tokens;
  std::stable_sort(added.begin(), added.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::map<uint32_t, std::string> keys = vocabulary_keys(parts);
  place_added_tokens(parts, added, keys);

  std::string text = "{\"version\":\"1.0\",\n\"truncation\":";
  text += to_text(truncation_json(parts.truncation));
  text += ",\n\"padding\":" + to_text(padding_json(parts.padding)) + ",\n";
  text += "\"added_tokens\":[";
  const char* comma = "\n";
  for (const AddedToken& token : added) {
    text += comma + to_text(added_token_json(token));
    comma = ",\n";
  }
  text += "],\n\"normalizer\":" + to_text(normalizer_json(parts.normalizer));
  text += ",\n\"pre_tokenizer\":" + to_text(pre_tokenizer_json(parts.pre_tokenizer));
  text += ",\n\"post_processor\":" + to_text(post_processor_json(parts, tokenizer));
  text += ",\n\"decoder\":" + to_text(decoder_json(parts));
  text += ",\n\"model\":";
  append_model(parts, keys, text);
  text += "}\n";
  return text;
}

}  // namespace netcl::text
