// SPDX-License-Identifier: Apache-2.0
// Conversations to prompts by a model's own chat template.
#ifndef NETCL_TEXT_CHAT_FORMAT_H_
#define NETCL_TEXT_CHAT_FORMAT_H_

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "text/jinja_template.h"
#include "text/tokenizer.h"

namespace netcl::text {

struct ChatPreset;

// One conversation and what else its template gets to see. Nothing in it is trusted but the roles
// of messages that is_known_role() names.
struct ChatRequest {
  base::Json messages = base::Json::array();
  base::Json tools;      // null: none
  base::Json documents;  // null: none
  bool add_generation_prompt = false;
  // Leaves the last message open, as if the model were just writing it: the prompt ends with its
  // text. Not together with add_generation_prompt.
  bool continue_final_message = false;
  // More variables (enable_thinking, date_string ...); one with the name of a special token takes
  // its place.
  base::Json variables = base::Json::object();
  std::tm now{};  // what strftime_now formats
  jinja::Limits limits;
};

// The roles of messages that templates know: system, developer, user, assistant, model, tool,
// function, ipython, observation. Some templates make control tokens from them
// ('<|' + message.role + '|>'), so the bytes of such a role count as the template's own: they are
// one of a few constants, whoever chose between them. Any other role is text of the conversation.
bool is_known_role(std::string_view role);

// What the text of an added token in a conversation means: ordinary text; an error; its id, as if
// the template had written it.
enum class ContentTokens { kPlain, kRefuse, kAllow };

struct ChatIds {
  std::vector<uint32_t> ids;
  std::vector<uint32_t> generated;  // for each id 1 if it has bytes of a generation block, else 0
};

class ChatFormat {
 public:
  // Special tokens by name (bos_token, eos_token ...), which the template sees as variables and
  // whose bytes count as its own: an object of strings or of lists of strings.
  using SpecialTokens = base::Json;

  // A template as text; `name` stands for it in messages. Throws FormatError as JinjaTemplate.
  ChatFormat(std::string_view source, const std::string& name,
             SpecialTokens special_tokens = base::Json::object());

  // The template and special tokens of a tokenizer_config.json. `where` names the file in messages.
  // Of several named templates `template_name` is taken; when that is empty, "tool_use" for
  // requests with tools and "default" for others, as `transformers` chooses. Throws FormatError for
  // a file without a template, or without that one.
  static ChatFormat from_tokenizer_config(const base::Json& config, const std::string& where,
                                          const std::string& template_name = "");

  // A format of text/chat_preset.h, with its special tokens or with those given. Throws FormatError
  // for an unknown name. Rendering by a preset throws FormatError for messages of another shape
  // than text/chat_check.h says, too.
  static ChatFormat from_preset(std::string_view name);
  static ChatFormat from_preset(std::string_view name, SpecialTokens special_tokens);

  // The special tokens of a tokenizer_config.json, for templates that come from elsewhere.
  static SpecialTokens special_tokens_of(const base::Json& config, const std::string& where);

  const SpecialTokens& special_tokens() const { return special_tokens_; }

  // The prompt, with the origin of each byte. Throws FormatError where the template fails or calls
  // raise_exception ("name:line:column: ..."), for messages that are no list of objects, tools
  // or documents that are no list, variables that would hide messages, tools, documents or
  // add_generation_prompt, and a last message that cannot be left open (text/chat_continue.h).
  JinjaOutput render(const ChatRequest& request) const;

  // Ids of the prompt. An added token, special or not, becomes its id if the template wrote all of
  // its bytes; what it means in the conversation, or put together from both, `content` says. The
  // borders between template and conversation cut nothing else: without such text the ids are those
  // of the prompt as a whole. Nothing is added by the tokenizer's post-processor. Throws as
  // render(), and FormatError for refused text and for a prompt that begins with bos_token twice.
  ChatIds encode(const ChatRequest& request, const BpeTokenizer& tokenizer,
                 ContentTokens content = ContentTokens::kPlain) const;

 private:
  ChatFormat() = default;
  JinjaOutput render(const ChatRequest& request, const base::Json& messages) const;
  void refuse_double_bos(const BpeTokenizer& tokenizer, const std::vector<uint32_t>& ids) const;
  const JinjaTemplate& choose(const ChatRequest& request) const;

  std::vector<std::pair<std::string, JinjaTemplate>> templates_;  // by name
  const ChatPreset* preset_ = nullptr;                            // whose messages are checked
  SpecialTokens special_tokens_;
  std::string where_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_CHAT_FORMAT_H_
