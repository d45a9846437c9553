// SPDX-License-Identifier: Apache-2.0
#include "text/chat_format.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/chat_check.h"
#include "text/chat_continue.h"
#include "text/chat_preset.h"

namespace netcl::text {

namespace {

using base::FormatError;
using base::Json;

constexpr std::array<std::string_view, 4> kOwnVariables = {"messages", "tools", "documents",
                                                           "add_generation_prompt"};

bool trusts_field(std::string_view field, std::string_view text) {
  return field == "role" && is_known_role(text);
}

// A token is a string, or an object that holds it as its content.
const Json* token_text(const Json& token) {
  if (token.is_object()) {
    const auto content = token.find("content");
    return content != token.end() && content->is_string() ? &*content : nullptr;
  }
  return token.is_string() ? &token : nullptr;
}

void check_messages(const Json& messages) {
  if (!messages.is_array()) {
    throw FormatError(std::string("messages: expected a list, found ") + messages.type_name());
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_object()) {
      throw FormatError("messages[" + std::to_string(i) + "]: expected an object, found " +
                        messages[i].type_name());
    }
  }
}

void check_list(const Json& list, const char* name) {
  if (!list.is_null() && !list.is_array()) {
    throw FormatError(std::string(name) + ": expected a list, found " + list.type_name());
  }
}

}  // namespace

bool is_known_role(std::string_view role) {
  return std::find(kKnownRoles.begin(), kKnownRoles.end(), role) != kKnownRoles.end();
}

ChatFormat::ChatFormat(std::string_view source, const std::string& name,
                       SpecialTokens special_tokens)
    : special_tokens_(std::move(special_tokens)), where_(name) {
  templates_.emplace_back("", JinjaTemplate(source, name));
}

ChatFormat::SpecialTokens ChatFormat::special_tokens_of(const Json& config,
                                                        const std::string& where) {
  if (!config.is_object()) {
    throw FormatError(where + ": expected an object, found " + config.type_name());
  }
  Json tokens = Json::object();
  for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    const auto token = config.find(name);
    if (token == config.end() || token->is_null()) {
      continue;
    }
    const Json* text = token_text(*token);
    if (text == nullptr) {
      throw FormatError(where + ": field '" + name + "': expected a string or an added token");
    }
    tokens[name] = *text;
  }
  const auto more = config.find("additional_special_tokens");
  if (more != config.end() && more->is_array()) {
    Json list = Json::array();
    for (const Json& token : *more) {
      if (const Json* text = token_text(token)) {
        list.push_back(*text);
      }
    }
    tokens["additional_special_tokens"] = list;
  }
  return tokens;
}

ChatFormat ChatFormat::from_preset(std::string_view name, SpecialTokens special_tokens) {
  const ChatPreset* preset = find_chat_preset(name);
  if (preset == nullptr) {
    throw FormatError("unknown preset " + base::quote(name) + "; known are " + chat_preset_names());
  }
  ChatFormat format(embedded_chat_template(preset->file), "preset " + std::string(name),
                    std::move(special_tokens));
  format.preset_ = preset;
  return format;
}

ChatFormat ChatFormat::from_preset(std::string_view name) {
  Json tokens = Json::object();
  if (const ChatPreset* preset = find_chat_preset(name)) {
    if (!preset->bos_token.empty()) {
      tokens["bos_token"] = preset->bos_token;
    }
    tokens["eos_token"] = preset->eos_token;
  }
  return from_preset(name, std::move(tokens));
}

ChatFormat ChatFormat::from_tokenizer_config(const Json& config, const std::string& where,
                                             const std::string& template_name) {
  ChatFormat format;
  format.special_tokens_ = special_tokens_of(config, where);
  format.where_ = where;
  const auto field = config.find("chat_template");
  if (field == config.end() || field->is_null()) {
    throw FormatError(where +
                      ": has no field 'chat_template'; newer models keep it in a file "
                      "chat_template.jinja");
  }
  const std::string shown = where + ".chat_template";
  if (field->is_string()) {
    if (!template_name.empty()) {
      throw FormatError(shown + ": has one template, without a name");
    }
    format.templates_.emplace_back("", JinjaTemplate(field->get<std::string>(), shown));
    return format;
  }
  if (!field->is_array()) {
    throw FormatError(shown + ": expected a string or a list of named templates");
  }
  std::string names;
  for (const Json& entry : *field) {
    const std::string name = base::require_string(entry, "name", shown);
    names.append(names.empty() ? "" : ", ").append(base::quote(name));
    const std::string place = std::string(shown).append(".").append(name);
    if (template_name.empty() ? name == "default" || name == "tool_use" : name == template_name) {
      format.templates_.emplace_back(
          template_name.empty() ? name : "",
          JinjaTemplate(base::require_string(entry, "template", shown), place));
    }
  }
  if (format.templates_.empty()) {
    throw FormatError(shown + ": has no template " +
                      base::quote(template_name.empty() ? "default" : template_name) + "; it has " +
                      (names.empty() ? "none" : names));
  }
  return format;
}

const JinjaTemplate& ChatFormat::choose(const ChatRequest& request) const {
  const auto named = [&](std::string_view name) {
    const auto found = std::find_if(templates_.begin(), templates_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return found == templates_.end() ? nullptr : &found->second;
  };
  if (const JinjaTemplate* only = named("")) {
    return *only;
  }
  const JinjaTemplate* for_tools = request.tools.is_null() ? nullptr : named("tool_use");
  if (for_tools != nullptr) {
    return *for_tools;
  }
  const JinjaTemplate* otherwise = named("default");
  if (otherwise == nullptr) {
    throw FormatError(where_ +
                      ".chat_template: has no template 'default', for requests without "
                      "tools");
  }
  return *otherwise;
}

JinjaOutput ChatFormat::render(const ChatRequest& request) const {
  check_messages(request.messages);
  check_list(request.tools, "tools");
  check_list(request.documents, "documents");
  if (preset_ != nullptr) {
    check_preset_messages(request.messages, *preset_);
  }
  if (request.continue_final_message && request.add_generation_prompt) {
    throw FormatError(
        "a prompt cannot both continue the last message and ask for a new one "
        "(add_generation_prompt "
        "and continue_final_message)");
  }
  if (!request.continue_final_message) {
    return render(request, request.messages);
  }
  const OpenMessages open = mark_final_message(request.messages);
  JinjaOutput output = render(request, open.messages);
  cut_at_final_message(open, output);
  return output;
}

JinjaOutput ChatFormat::render(const ChatRequest& request, const Json& messages) const {
  std::vector<JinjaVariable> variables;
  for (const auto& [name, token] : special_tokens_.items()) {
    variables.push_back({name, token, true});
  }
  for (const auto& [name, value] : request.variables.items()) {
    if (std::find(kOwnVariables.begin(), kOwnVariables.end(), name) != kOwnVariables.end()) {
      throw FormatError("variable " + base::quote(name) + ": this name has its own meaning");
    }
    variables.push_back({name, value, false});
  }
  variables.push_back({"messages", messages, false, trusts_field});
  variables.push_back({"tools", request.tools, false});
  variables.push_back({"documents", request.documents, false});
  variables.push_back({"add_generation_prompt", request.add_generation_prompt, false});
  JinjaOptions options;
  options.limits = request.limits;
  options.now = request.now;
  return choose(request).render(variables, options);
}

namespace {

// Whether `bytes` shares a byte with one of `spans`.
bool overlaps(const ByteSpan& bytes, const std::vector<ByteSpan>& spans) {
  const auto first =
      std::upper_bound(spans.begin(), spans.end(), bytes.begin,
                       [](uint64_t begin, const ByteSpan& span) { return begin < span.end; });
  return bytes.begin < bytes.end && first != spans.end() && first->begin < bytes.end;
}

// Throws FormatError at the first added token that the template has not written itself.
void refuse_content_tokens(const JinjaOutput& prompt, const BpeTokenizer& tokenizer) {
  EncodeOptions options;
  options.special = SpecialPolicy::kAllow;
  const Encoding all = tokenizer.encode_with_spans(prompt.text, options);
  for (size_t i = 0; i < all.ids.size(); ++i) {
    const std::string_view bytes = tokenizer.token_bytes(all.ids[i]);
    const std::optional<uint32_t> added = tokenizer.find_added(bytes);
    if (!added || *added != all.ids[i]) {
      continue;
    }
    // The span may take white space along.
    const std::string_view span =
        std::string_view(prompt.text)
            .substr(all.spans[i].begin, all.spans[i].end - all.spans[i].begin);
    const size_t at = span.find(bytes);
    const uint64_t begin = all.spans[i].begin + (at == std::string_view::npos ? 0 : at);
    const uint64_t end = at == std::string_view::npos ? all.spans[i].end : begin + bytes.size();
    if (!is_within({begin, end}, prompt.trusted)) {
      throw FormatError(base::at_byte("prompt", begin) + ": the conversation holds the token " +
                        base::quote(bytes));
    }
  }
}

}  // namespace

void ChatFormat::refuse_double_bos(const BpeTokenizer& tokenizer,
                                   const std::vector<uint32_t>& ids) const {
  const auto bos = special_tokens_.find("bos_token");
  if (bos == special_tokens_.end() || !bos->is_string() || ids.size() < 2) {
    return;
  }
  const std::optional<uint32_t> id = tokenizer.find_added(bos->get<std::string>());
  if (id && ids[0] == *id && ids[1] == *id) {
    throw FormatError(where_ + ": the prompt begins with " + base::quote(bos->get<std::string>()) +
                      " twice");
  }
}

ChatIds ChatFormat::encode(const ChatRequest& request, const BpeTokenizer& tokenizer,
                           ContentTokens content) const {
  const JinjaOutput prompt = render(request);
  if (content == ContentTokens::kRefuse) {
    refuse_content_tokens(prompt, tokenizer);
  }
  EncodeOptions options;
  options.special = SpecialPolicy::kAllow;
  options.where = "prompt";
  if (content != ContentTokens::kAllow) {
    options.trusted = prompt.trusted;
  }
  Encoding encoding = tokenizer.encode_with_spans(prompt.text, options);
  refuse_double_bos(tokenizer, encoding.ids);
  ChatIds result;
  result.ids = std::move(encoding.ids);
  result.generated.reserve(result.ids.size());
  for (const ByteSpan& span : encoding.spans) {
    result.generated.push_back(overlaps(span, prompt.generated) ? 1 : 0);
  }
  return result;
}

}  // namespace netcl::text
