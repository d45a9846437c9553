// SPDX-License-Identifier: Apache-2.0
#include "text/chat_check.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace netcl::text {

namespace {

using base::FormatError;
using base::Json;

// The field, null where it is missing or null.
const Json* find(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// "system, user and assistant"
std::string in_words(std::span<const std::string_view> names) {
  std::string words;
  for (size_t i = 0; i < names.size(); ++i) {
    words.append(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ").append(names[i]);
  }
  return words;
}

void check_role(const Json& message, const ChatPreset& preset, const std::string& where) {
  const Json* role = find(message, "role");
  if (role == nullptr) {
    throw FormatError(where + ": has no role");
  }
  if (!role->is_string()) {
    throw FormatError(where + ".role: expected a string, found " + role->type_name());
  }
  const auto& name = role->get_ref<const std::string&>();
  if (std::find(preset.roles.begin(), preset.roles.end(), name) == preset.roles.end()) {
    throw FormatError(where + ": unknown role " + base::quote(name) + "; " +
                      std::string(preset.name) + " knows " + in_words(preset.roles));
  }
}

void check_part(const Json& part, const std::string& where) {
  if (!part.is_object()) {
    throw FormatError(where + ": expected an object, found " + part.type_name());
  }
  const Json* type = find(part, "type");
  if (type == nullptr || !type->is_string()) {
    throw FormatError(where + ": has no type");
  }
  if (*type != "text") {
    throw FormatError(where + ": a content part of type " +
                      base::quote(type->get_ref<const std::string&>()) + "; only text is known");
  }
  const Json* text = find(part, "text");
  if (text == nullptr || !text->is_string()) {
    throw FormatError(where + ".text: expected a string, found " +
                      (text == nullptr ? "nothing" : text->type_name()));
  }
}

void check_content(const Json& message, const ChatPreset& preset, const std::string& where) {
  const Json* content = find(message, "content");
  if (content == nullptr) {
    for (const char* instead : {"tool_calls", "reasoning_content", "thinking"}) {
      if (find(message, instead) != nullptr) {
        return;
      }
    }
    throw FormatError(where + ": has no content");
  }
  if (content->is_array()) {
    for (size_t i = 0; i < content->size(); ++i) {
      check_part((*content)[i], where + ".content[" + std::to_string(i) + "]");
    }
  } else if (!content->is_string() && !(content->is_object() && preset.has_object_outputs &&
                                        *find(message, "role") == "tool")) {
    throw FormatError(where + ".content: expected a string or a list of parts, found " +
                      content->type_name());
  }
}

void check_calls(const Json& message, const std::string& where) {
  const Json* calls = find(message, "tool_calls");
  if (calls == nullptr) {
    return;
  }
  if (!calls->is_array()) {
    throw FormatError(where + ".tool_calls: expected a list, found " + calls->type_name());
  }
  if (!calls->empty() && *find(message, "role") != "assistant") {
    throw FormatError(where + ": only the assistant has tool calls");
  }
  for (size_t i = 0; i < calls->size(); ++i) {
    const Json& call = (*calls)[i];
    const std::string place = where + ".tool_calls[" + std::to_string(i) + "]";
    const Json* function = call.is_object() ? find(call, "function") : nullptr;
    function = function == nullptr ? &call : function;
    if (!function->is_object()) {
      throw FormatError(place + ": expected an object, found " + function->type_name());
    }
    const Json* name = find(*function, "name");
    if (name == nullptr || !name->is_string()) {
      throw FormatError(place + ": has no name");
    }
    const Json* arguments = find(*function, "arguments");
    if (arguments == nullptr || (!arguments->is_string() && !arguments->is_object())) {
      throw FormatError(place + ": its arguments must be an object, or its text");
    }
  }
}

}  // namespace

void check_preset_messages(const Json& messages, const ChatPreset& preset) {
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string where = "messages[" + std::to_string(i) + "]";
    check_role(messages[i], preset, where);
    check_content(messages[i], preset, where);
    check_calls(messages[i], where);
    for (const char* field : {"reasoning_content", "thinking"}) {
      const Json* reasoning = find(messages[i], field);
      if (reasoning != nullptr && !reasoning->is_string()) {
        throw FormatError(where + "." + field + ": expected a string, found " +
                          reasoning->type_name());
      }
    }
  }
}

}  // namespace netcl::text
