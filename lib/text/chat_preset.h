// SPDX-License-Identifier: Apache-2.0
// The chat formats that the toolkit brings itself: templates of data/chat, built into the library,
// with the special tokens that go with them.
#ifndef NETCL_TEXT_CHAT_PRESET_H_
#define NETCL_TEXT_CHAT_PRESET_H_

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace netcl::text {

// The roles that models were trained with.
inline constexpr std::array<std::string_view, 9> kKnownRoles = {
    "system", "developer", "user",    "assistant",  "model",
    "tool",   "function",  "ipython", "observation"};

struct ChatPreset {
  std::string_view name;       // "qwen"
  std::string_view file;       // data/chat/<file>.jinja: two names may share one
  std::string_view bos_token;  // empty: the format has none
  std::string_view eos_token;
  std::span<const std::string_view> roles;  // that its format knows
  bool has_object_outputs = false;          // a tool message may have an object as its content
};

// All presets, in the order in which --help lists them.
std::span<const ChatPreset> chat_presets();

// Null for an unknown name.
const ChatPreset* find_chat_preset(std::string_view name);

// "chatml, llama2, ...", for messages.
std::string chat_preset_names();

// The text of data/chat/<name>.jinja; empty for an unknown name. In a generated source.
std::string_view embedded_chat_template(std::string_view name);

}  // namespace netcl::text

#endif  // NETCL_TEXT_CHAT_PRESET_H_
