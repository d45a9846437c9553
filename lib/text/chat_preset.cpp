// SPDX-License-Identifier: Apache-2.0
#include "text/chat_preset.h"

#include <algorithm>
#include <array>

namespace netcl::text {

namespace {

// U+FF5C is the bar and U+2581 the low line of DeepSeek's tokens.
constexpr std::string_view kDeepSeekBos =
    "<\xEF\xBD\x9C"
    "begin\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>";
constexpr std::string_view kDeepSeekEos =
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>";

constexpr std::array<std::string_view, 3> kTurns = {"system", "user", "assistant"};
constexpr std::array<std::string_view, 4> kTools = {"system", "user", "assistant", "tool"};
constexpr std::array<std::string_view, 5> kHarmony = {"system", "developer", "user", "assistant",
                                                      "tool"};

// ChatML and Llama 3 put the role into their text as it is.
constexpr std::array kPresets = std::to_array<ChatPreset>({
    {"chatml", "chatml", "", "<|im_end|>", kKnownRoles},
    {"llama2", "llama2", "<s>", "</s>", kTurns},
    {"llama3", "llama3", "<|begin_of_text|>", "<|eot_id|>", kKnownRoles},
    {"mistral", "mistral", "<s>", "</s>", kTools},
    {"gemma", "gemma", "<bos>", "<eos>", kTurns},
    {"qwen", "qwen", "", "<|im_end|>", kTools},
    {"deepseek", "deepseek", kDeepSeekBos, kDeepSeekEos, kTools},
    {"phi", "phi", "<s>", "<|endoftext|>", kTurns},
    {"gpt-oss", "gpt-oss", "<|startoftext|>", "<|return|>", kHarmony, true},
    {"harmony", "gpt-oss", "<|startoftext|>", "<|return|>", kHarmony, true},
});

}  // namespace

std::span<const ChatPreset> chat_presets() {
  return kPresets;
}

const ChatPreset* find_chat_preset(std::string_view name) {
  const auto* const found =
      std::find_if(kPresets.begin(), kPresets.end(),
                   [&](const ChatPreset& preset) { return preset.name == name; });
  return found == kPresets.end() ? nullptr : found;
}

std::string chat_preset_names() {
  std::string names;
  for (const ChatPreset& preset : kPresets) {
    names.append(names.empty() ? "" : ", ").append(preset.name);
  }
  return names;
}

}  // namespace netcl::text
