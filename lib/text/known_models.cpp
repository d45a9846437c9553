// SPDX-License-Identifier: Apache-2.0
// Sources: tiktoken (openai_public.py), the tokenizer.py files of llama3 and llama4, the
// tokenizer.json files of Qwen 2.5, Qwen 3 and DeepSeek V3, the tekken file of 2024-07-18, Kimi
// K2's pattern as published with its rank file.
#include "text/known_models.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/error.h"
#include "text/tokenizer_file.h"

namespace netcl::text {

namespace {

using Specials = std::vector<AddedToken>;

constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kKimiK2 =
    R"([\p{Han}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The published file has CR and LF themselves in the third pattern, and unescaped ideographs in the
// second.
constexpr std::string_view kDeepSeekDigits = R"(\p{N}{1,3})";
constexpr std::string_view kDeepSeekCjk = "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+";
constexpr std::string_view kDeepSeekWords =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
    "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+";

void add(Specials& specials, std::string content, uint32_t id) {
  specials.push_back({.content = std::move(content), .id = id});
}

// "<prefix><number><end>" with ascending numbers for the ids first ... last.
void add_numbered(Specials& specials, const std::string& prefix, uint32_t number, uint32_t first,
                  uint32_t last, const std::string& end = "|>") {
  for (uint32_t id = first; id <= last; ++id) {
    std::string content = prefix;
    content.append(std::to_string(number++)).append(end);
    add(specials, std::move(content), id);
  }
}

Specials named(std::initializer_list<std::pair<const char*, uint32_t>> list) {
  Specials specials;
  for (const auto& [content, id] : list) {
    add(specials, content, id);
  }
  return specials;
}

Specials cl100k() {
  return named({{"<|endoftext|>", 100257},
                {"<|fim_prefix|>", 100258},
                {"<|fim_middle|>", 100259},
                {"<|fim_suffix|>", 100260},
                {"<|endofprompt|>", 100276}});
}

// 200018 is <|endofprompt|> as in o200k and <|reserved_200018|> as well.
Specials harmony() {
  Specials specials = named({{"<|startoftext|>", 199998},
                             {"<|endoftext|>", 199999},
                             {"<|return|>", 200002},
                             {"<|constrain|>", 200003},
                             {"<|channel|>", 200005},
                             {"<|start|>", 200006},
                             {"<|end|>", 200007},
                             {"<|message|>", 200008},
                             {"<|call|>", 200012},
                             {"<|endofprompt|>", 200018}});
  constexpr std::array<std::pair<uint32_t, uint32_t>, 4> kReserved = {
      {{200000, 200001}, {200004, 200004}, {200009, 200011}, {200013, 201087}}};
  for (const auto& [first, last] : kReserved) {
    add_numbered(specials, "<|reserved_", first, first, last);
  }
  return specials;
}

Specials llama3() {
  Specials specials = named({{"<|begin_of_text|>", 128000},
                             {"<|end_of_text|>", 128001},
                             {"<|start_header_id|>", 128006},
                             {"<|end_header_id|>", 128007},
                             {"<|eot_id|>", 128009}});
  const std::string reserved = "<|reserved_special_token_";
  add_numbered(specials, reserved, 0, 128002, 128005);
  add_numbered(specials, reserved, 4, 128008, 128008);
  add_numbered(specials, reserved, 5, 128010, 128255);
  return specials;
}

Specials llama4() {
  Specials specials = named({{"<|begin_of_text|>", 200000},
                             {"<|end_of_text|>", 200001},
                             {"<|fim_prefix|>", 200002},
                             {"<|fim_middle|>", 200003},
                             {"<|fim_suffix|>", 200004},
                             {"<|header_start|>", 200005},
                             {"<|header_end|>", 200006},
                             {"<|eom|>", 200007},
                             {"<|eot|>", 200008},
                             {"<|step|>", 200009},
                             {"<|python_start|>", 200016},
                             {"<|python_end|>", 200017},
                             {"<|finetune_right_pad|>", 200018},
                             {"<|image_start|>", 200080},
                             {"<|image_end|>", 200081},
                             {"<|tile_x_separator|>", 200084},
                             {"<|tile_y_separator|>", 200085},
                             {"<|image|>", 200090},
                             {"<|patch|>", 200092},
                             {"<|reasoning_thinking_start|>", 201142},
                             {"<|reasoning_thinking_end|>", 201143}});
  const std::string text = "<|text_post_train_reserved_special_token_";
  const std::string vision = "<|vision_reserved_special_token_";
  add_numbered(specials, text, 0, 200010, 200015);
  add_numbered(specials, text, 8, 200019, 200079);
  add_numbered(specials, vision, 0, 200082, 200083);
  add_numbered(specials, vision, 2, 200086, 200089);
  add_numbered(specials, vision, 6, 200091, 200091);
  add_numbered(specials, vision, 7, 200093, 201133);
  add_numbered(specials, "<|reasoning_reserved_special_token_", 0, 201134, 201141);
  add_numbered(specials, "<|reserved_special_token_", 0, 201144, 202047);
  return specials;
}

// Qwen 2.5; Qwen 2 has the first three. From <tool_call> on they are not special.
Specials qwen2() {
  Specials specials = named(
      {{"<|endoftext|>", 151643},        {"<|im_start|>", 151644},       {"<|im_end|>", 151645},
       {"<|object_ref_start|>", 151646}, {"<|object_ref_end|>", 151647}, {"<|box_start|>", 151648},
       {"<|box_end|>", 151649},          {"<|quad_start|>", 151650},     {"<|quad_end|>", 151651},
       {"<|vision_start|>", 151652},     {"<|vision_end|>", 151653},     {"<|vision_pad|>", 151654},
       {"<|image_pad|>", 151655},        {"<|video_pad|>", 151656},      {"<tool_call>", 151657},
       {"</tool_call>", 151658},         {"<|fim_prefix|>", 151659},     {"<|fim_middle|>", 151660},
       {"<|fim_suffix|>", 151661},       {"<|fim_pad|>", 151662},        {"<|repo_name|>", 151663},
       {"<|file_sep|>", 151664}});
  for (AddedToken& token : specials) {
    token.special = token.id < 151657;
  }
  return specials;
}

Specials qwen3() {
  Specials specials = qwen2();
  for (AddedToken& token : named({{"<tool_response>", 151665},
                                  {"</tool_response>", 151666},
                                  {"<think>", 151667},
                                  {"</think>", 151668}})) {
    token.special = false;
    specials.push_back(std::move(token));
  }
  return specials;
}

// "tool calls end" as DeepSeek writes it: U+FF5C for bars, U+2581 for spaces.
std::string deepseek_mark(std::string_view words) {
  std::string mark = "<\uFF5C";
  for (const char letter : words) {
    mark += letter == ' ' ? std::string("\u2581") : std::string(1, letter);
  }
  return mark + "\uFF5C>";
}

// Special by the flag are the place holders and those before them, and <|EOT|>.
Specials deepseek_v3() {
  Specials specials;
  uint32_t id = 0;
  for (const std::string_view words : {"begin of sentence", "end of sentence", " pad "}) {
    add(specials, deepseek_mark(words), id++);
  }
  constexpr uint32_t kFirstMark = 128800;
  for (id = 128000; id < kFirstMark; ++id) {
    add(specials, deepseek_mark("place holder no " + std::to_string(id - 128000)), id);
  }
  for (const std::string_view words :
       {"fim hole", "fim begin", "fim end", "User", "Assistant", "EOT", "tool calls begin",
        "tool calls end", "tool call begin", "tool call end", "tool outputs begin",
        "tool outputs end", "tool output begin", "tool output end", "tool sep"}) {
    add(specials, words == "EOT" ? "<|EOT|>" : deepseek_mark(words), id++);
  }
  for (AddedToken& token : specials) {
    token.normalized = token.id >= kFirstMark;
    token.special = !token.normalized || token.content == "<|EOT|>";
  }
  return specials;
}

using Maker = KnownModel (*)();

// In the order that help texts show.
constexpr std::array<std::pair<std::string_view, Maker>, 15> kModels = {{
    {"gpt2",
     [] {
       return KnownModel{"", {"gpt2"}, false, named({{"<|endoftext|>", 50256}})};
     }},
    {"r50k",
     [] {
       return KnownModel{"", {"gpt2"}, false, named({{"<|endoftext|>", 50256}})};
     }},
    {"p50k",
     [] {
       return KnownModel{"", {"gpt2"}, false, named({{"<|endoftext|>", 50256}})};
     }},
    {"p50k_edit",
     [] {
       return KnownModel{"",
                         {"gpt2"},
                         false,
                         named({{"<|endoftext|>", 50256},
                                {"<|fim_prefix|>", 50281},
                                {"<|fim_middle|>", 50282},
                                {"<|fim_suffix|>", 50283}})};
     }},
    {"cl100k",
     [] {
       return KnownModel{"", {"cl100k"}, false, cl100k()};
     }},
    {"o200k",
     [] {
       return KnownModel{
           "", {"o200k"}, false, named({{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}})};
     }},
    {"o200k_harmony",
     [] {
       return KnownModel{"", {"o200k"}, false, harmony()};
     }},
    {"llama3",
     [] {
       return KnownModel{"", {"llama3"}, false, llama3()};
     }},
    {"llama4",
     [] {
       return KnownModel{"", {"o200k"}, false, llama4()};
     }},
    {"qwen2",
     [] {
       return KnownModel{"", {"qwen2"}, true, qwen2()};
     }},
    {"qwen3",
     [] {
       return KnownModel{"", {"qwen2"}, true, qwen3()};
     }},
    {"qwen3.5",
     [] {
       return KnownModel{"", {kQwen35}, true, {}};
     }},
    {"deepseek-v3",
     [] {
       return KnownModel{"", {kDeepSeekDigits, kDeepSeekCjk, kDeepSeekWords}, false, deepseek_v3()};
     }},
    {"tekken",
     [] {
       return KnownModel{"", {kTekken}, false, {}};
     }},
    {"kimi-k2",
     [] {
       return KnownModel{"", {kKimiK2}, false, {}};
     }},
}};

}  // namespace

const std::vector<std::string_view>& known_model_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    list.reserve(kModels.size());
    for (const auto& [name, make] : kModels) {
      list.push_back(name);
    }
    return list;
  }();
  return names;
}

KnownModel get_known_model(std::string_view name) {
  constexpr std::string_view kSuffix = "_base";
  std::string_view plain = name;
  if (plain.ends_with(kSuffix)) {
    plain.remove_suffix(kSuffix.size());
  }
  const auto same = [](char a, char b) { return (a == '_' ? '-' : a) == (b == '_' ? '-' : b); };
  std::string allowed;
  for (const auto& [known, make] : kModels) {
    if (std::equal(known.begin(), known.end(), plain.begin(), plain.end(), same)) {
      KnownModel model = make();
      model.name = known;
      return model;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(known);
  }
  throw base::UsageError("pattern " + base::quote(name) + " is unknown; known: " + allowed +
                         "; other patterns are given as a regex");
}

PreTokenizer make_pre_tokenizer(const KnownModel& model) {
  const std::vector<std::string_view>& names = splitter_names();
  std::vector<PreTokenizerStep> steps;
  for (const std::string_view pattern : model.patterns) {
    const bool is_name = std::find(names.begin(), names.end(), pattern) != names.end();
    steps.push_back(
        make_split_step(is_name ? make_named_splitter(pattern) : make_regex_splitter(pattern)));
  }
  steps.push_back(make_byte_level_step(false, false));
  return PreTokenizer(std::move(steps));
}

Normalizer make_normalizer(const KnownModel& model) {
  if (!model.nfc) {
    return {};
  }
  NormalizerStep step;
  step.kind = NormalizerStep::Kind::kNfc;
  return Normalizer({step});
}

}  // namespace netcl::text
