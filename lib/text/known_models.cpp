// SPDX-License-Identifier: Apache-2.0
#include "text/known_models.h"

#include "base/error.h"
#include "text/tokenizer_file.h"

namespace netcl::text {

namespace {

using Specials = std::vector<std::pair<std::string, uint32_t>>;

// Adds "<prefix><number>|>" with ascending numbers and ids, leaving out ids that have a name.
void fill(Specials& specials, const std::string& prefix, uint32_t number, uint32_t first,
          uint32_t last, bool number_is_id) {
  const Specials named = specials;
  for (uint32_t id = first; id <= last; ++id) {
    bool taken = false;
    for (const auto& [name, taken_id] : named) {
      taken = taken || taken_id == id;
    }
    if (!taken || (number_is_id && id == 200018)) {  // the id with two names, see harmony()
      specials.emplace_back(prefix + std::to_string(number_is_id ? id : number++) + "|>", id);
    }
  }
}

Specials cl100k() {
  return {{"<|endoftext|>", 100257},
          {"<|fim_prefix|>", 100258},
          {"<|fim_middle|>", 100259},
          {"<|fim_suffix|>", 100260},
          {"<|endofprompt|>", 100276}};
}

// 200018 is <|endofprompt|> as in o200k and <|reserved_200018|> as well.
Specials harmony() {
  Specials specials = {{"<|startoftext|>", 199998}, {"<|endoftext|>", 199999},
                       {"<|return|>", 200002},      {"<|constrain|>", 200003},
                       {"<|channel|>", 200005},     {"<|start|>", 200006},
                       {"<|end|>", 200007},         {"<|message|>", 200008},
                       {"<|call|>", 200012},        {"<|endofprompt|>", 200018}};
  fill(specials, "<|reserved_", 0, 200000, 201087, true);
  return specials;
}

Specials llama3() {
  Specials specials = {{"<|begin_of_text|>", 128000},
                       {"<|end_of_text|>", 128001},
                       {"<|start_header_id|>", 128006},
                       {"<|end_header_id|>", 128007},
                       {"<|eot_id|>", 128009}};
  fill(specials, "<|reserved_special_token_", 0, 128002, 128255, false);
  return specials;
}

}  // namespace

const std::vector<std::string_view>& known_model_names() {
  static const std::vector<std::string_view> names = {
      "gpt2", "r50k", "p50k", "p50k_edit", "cl100k", "o200k", "o200k_harmony", "llama3"};
  return names;
}

KnownModel get_known_model(std::string_view name) {
  constexpr std::string_view kSuffix = "_base";
  std::string_view plain = name;
  if (plain.ends_with(kSuffix)) {
    plain.remove_suffix(kSuffix.size());
  }
  if (plain == "gpt2" || plain == "r50k" || plain == "p50k") {
    return {plain, "gpt2", {{"<|endoftext|>", 50256}}};
  }
  if (plain == "p50k_edit") {
    return {plain,
            "gpt2",
            {{"<|endoftext|>", 50256},
             {"<|fim_prefix|>", 50281},
             {"<|fim_middle|>", 50282},
             {"<|fim_suffix|>", 50283}}};
  }
  if (plain == "cl100k") {
    return {plain, "cl100k", cl100k()};
  }
  if (plain == "o200k") {
    return {plain, "o200k", {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}};
  }
  if (plain == "o200k_harmony") {
    return {plain, "o200k", harmony()};
  }
  if (plain == "llama3") {
    return {plain, "llama3", llama3()};
  }
  std::string known;
  for (const std::string_view one : known_model_names()) {
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  throw base::UsageError("pattern " + base::quote(name) +
                         " of a .tiktoken file is unknown; known: " + known +
                         " (or give a regex and a specials file)");
}

}  // namespace netcl::text
