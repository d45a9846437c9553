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

// One conversation and what else its template gets to see. Nothing in it is trusted.
struct ChatRequest {
  base::Json messages = base::Json::array();
  base::Json tools;      // null: none
  base::Json documents;  // null: none
  bool add_generation_prompt = false;
  // More variables (enable_thinking, date_string ...); one with the name of a special token takes
  // its place.
  base::Json variables = base::Json::object();
  std::tm now{};  // what strftime_now formats
  jinja::Limits limits;
};

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

  // The special tokens of a tokenizer_config.json, for templates that come from elsewhere.
  static SpecialTokens special_tokens_of(const base::Json& config, const std::string& where);

  // The prompt, with the origin of each byte. Throws FormatError where the template fails or calls
  // raise_exception ("name:line:column: ..."), for messages that are no list of objects, tools
  // or documents that are no list, and variables that would hide messages, tools, documents or
  // add_generation_prompt.
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
  void refuse_double_bos(const BpeTokenizer& tokenizer, const std::vector<uint32_t>& ids) const;
  const JinjaTemplate& choose(const ChatRequest& request) const;

  std::vector<std::pair<std::string, JinjaTemplate>> templates_;  // by name
  SpecialTokens special_tokens_;
  std::string where_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_CHAT_FORMAT_H_
