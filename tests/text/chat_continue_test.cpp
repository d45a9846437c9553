// SPDX-License-Identifier: Apache-2.0
// Prompts whose last message stays open, as `transformers` makes them.
#include "text/chat_continue.h"

#include "base/error.h"
#include "chat_goldens.h"
#include "file_error.h"
#include "support/catch.h"
#include "support/skip.h"
#include "text/chat_format.h"
#include "text/chat_preset.h"
#include "vocab_files.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::parse_json;
using netcl::tests::shared_dir;
using netcl::text::ByteSpan;
using netcl::text::ChatFormat;
using netcl::text::ChatRequest;
using netcl::text::JinjaOutput;

namespace {

ChatRequest open_request(const char* messages) {
  ChatRequest request;
  request.messages = parse_json(messages, "messages");
  request.continue_final_message = true;
  request.now = netcl::tests::golden_options().now;
  return request;
}

JinjaOutput open_output(const char* source, const char* messages) {
  return ChatFormat(source, "t").render(open_request(messages));
}

std::string open_error(const char* source, const char* messages) {
  return netcl::tests::message_of<FormatError>([&] { open_output(source, messages); });
}

const char* const kKeeps =
    "{% for m in messages %}<{{ m.role }}>{% generation %}{{ m.content }}{% endgeneration %}</>"
    "{% endfor %}end";
const char* const kTrims =
    "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{% endfor %}end";
const char* const kParts =
    "{% for p in messages[0].content %}{{ p.text }}{{ p.url }}{% endfor %}<end>";

}  // namespace

TEST_CASE("chat continue: the prompt ends with the text of the last message") {
  const char* const two = R"([{"role":"u","content":"a"},{"role":"v","content":" b \n"}])";
  CHECK(open_output(kKeeps, two).text == "<u>a</><v> b \n");
  CHECK(open_output(kTrims, two).text == "<u>a</><v>b");
  CHECK(open_output(kKeeps, R"([{"role":"u","content":""}])").text == "<u>");
  CHECK(open_output("<s>\n{{ messages[0].content | trim }}</s>", R"([{"content":" "}])").text ==
        "<s>");
  // Where the text occurs more than once, its own place counts.
  CHECK(open_output(kKeeps, R"([{"role":"u","content":"a"},{"role":"v","content":"a"}])").text ==
        "<u>a</><v>a");
  CHECK(open_output("{{ messages[0].content }}|again: a", R"([{"content":"a"}])").text == "a");
}

TEST_CASE("chat continue: of several parts the last text stays open") {
  CHECK(open_output(kParts, R"([{"content":[{"text":"a"},{"text":"b"},{"url":"u"}]}])").text ==
        "ab");
  CHECK(open_output(kParts, R"([{"content":[{"text":"a"}]}])").text == "a");
}

TEST_CASE("chat continue: the origin of bytes ends with the prompt") {
  const JinjaOutput output = open_output(kKeeps, R"([{"role":"u","content":"ab"}])");
  CHECK(output.text == "<u>ab");
  CHECK(output.trusted == std::vector<ByteSpan>{{0, 1}, {2, 3}});
  CHECK(output.generated == std::vector<ByteSpan>{{3, 5}});
}

TEST_CASE("chat continue: what cannot be continued is an error") {
  CHECK(open_error(kKeeps, "[]") == "messages: there is no last message to continue");
  const std::string no_text = "messages[0]: has no text to continue in its 'content'";
  CHECK(open_error(kKeeps, R"([{"role":"u"}])") == no_text);
  CHECK(open_error(kKeeps, R"([{"role":"u","content":null}])") == no_text);
  CHECK(open_error(kKeeps, R"([{"role":"u","content":[]}])") == no_text);
  CHECK(open_error(kKeeps, R"([{"role":"u","content":[{"url":"u"},{"text":1},"x"]}])") == no_text);
  const std::string left_out =
      "the template leaves the last message out, or changes it, so that it cannot be continued";
  CHECK(open_error("nothing", R"([{"content":"a"}])") == left_out);
  CHECK(open_error("{{ messages[0].content | upper }}", R"([{"content":"a"}])") == left_out);
  CHECK(open_error("{{ messages[0].content[1:] }}", R"([{"content":"ab"}])") == left_out);
  CHECK(open_error("{{ messages[0].content[:3] }}", R"([{"content":"abcd"}])") == left_out);
  CHECK(netcl::tests::message_of<FormatError>([] {
          ChatRequest request = open_request(R"([{"content":"a"}])");
          request.add_generation_prompt = true;
          ChatFormat(kKeeps, "t").render(request);
        }) ==
        "a prompt cannot both continue the last message and ask for a new one "
        "(add_generation_prompt and continue_final_message)");
}

TEST_CASE("chat continue: every preset leaves the answer open") {
  const char* const messages =
      R"([{"role":"user","content":"u"},{"role":"assistant","content":"An open answer "}])";
  for (const auto& preset : netcl::text::chat_presets()) {
    const ChatFormat format = ChatFormat::from_preset(preset.name);
    ChatRequest request = open_request(messages);
    const JinjaOutput open = format.render(request);
    request.continue_final_message = false;
    const JinjaOutput closed = format.render(request);
    CAPTURE(preset.name);
    CHECK((open.text.ends_with("An open answer ") || open.text.ends_with("An open answer")));
    CHECK(closed.text.starts_with(open.text));
    CHECK(closed.text.size() > open.text.size());
    CHECK(open.generated.back().end == open.text.size());
  }
}

TEST_CASE("chat continue: templates of models leave the last message open") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  size_t cases = 0;
  const Json conversations = netcl::tests::golden_conversations();
  for (const auto& family : netcl::tests::golden_families()) {
    const ChatFormat format(family.source, family.path, family.meta["special_tokens"]);
    for (const auto& [name, conversation] : conversations.items()) {
      ChatRequest request =
          netcl::tests::request_of_case({{"add_generation_prompt", false}}, conversation);
      const Json& messages = request.messages;
      // Templates that look whether a message is empty, or JSON, decide otherwise for the longer
      // text; so do those that end differently for a last answer.
      if (messages.empty() || !messages.back().contains("content") ||
          !messages.back()["content"].is_string() || messages.back()["role"] == "tool" ||
          messages.back()["content"].get<std::string>().empty()) {
        continue;
      }
      std::string open;
      std::string closed;
      try {
        closed = format.render(request).text;
        request.continue_final_message = true;
        open = format.render(request).text;
      } catch (const FormatError&) {
        continue;
      }
      if (name == "whitespace" && family.path.ends_with("/llama2")) {
        continue;  // a blank behind the trimmed text looks like that of the mark, to transformers
                   // too
      }
      ++cases;
      CAPTURE(family.path, name);
      CHECK(closed.starts_with(open));
      const std::string text = messages.back()["content"].get<std::string>();
      const size_t end = text.find_last_not_of(" \t\r\n") + 1;
      CHECK((open.ends_with(text) || open.ends_with(text.substr(0, end))));
    }
  }
  CHECK(cases > 350);
}

TEST_CASE("chat continue: ids and mask are those of the open prompt") {
  const auto tokenizer = netcl::tests::load_vocabulary("qwen3");
  if (!tokenizer) {
    return;
  }
  ChatRequest request = open_request(
      R"([{"role":"user","content":"u"},{"role":"assistant","content":"An open answer <|im_end|> "}])");
  const ChatFormat format = ChatFormat::from_preset("qwen");
  const JinjaOutput prompt = format.render(request);
  const auto ids = format.encode(request, *tokenizer);
  std::string text;
  std::string generated;
  for (size_t i = 0; i < ids.ids.size(); ++i) {
    text += tokenizer->token_bytes(ids.ids[i]);
    generated += ids.generated[i] != 0 ? tokenizer->token_bytes(ids.ids[i]) : "";
  }
  CHECK(text == prompt.text);
  CHECK(generated == "<think>\n\n</think>\n\nAn open answer <|im_end|> ");
}
