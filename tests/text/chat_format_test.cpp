// SPDX-License-Identifier: Apache-2.0
#include "text/chat_format.h"

#include "base/error.h"
#include "file_error.h"
#include "support/catch.h"
#include "text/tokenizer_parts.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::parse_json;
using netcl::tests::message_of;
using netcl::text::BpeTokenizer;
using netcl::text::ByteSpan;
using netcl::text::ChatFormat;
using netcl::text::ChatRequest;
using netcl::text::TokenizerParts;
using netcl::text::Vocabulary;
using netcl::text::VocabularyEntry;

namespace {

const char* const kTemplate =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

ChatRequest request_of(const char* messages) {
  ChatRequest request;
  request.messages = parse_json(messages, "messages");
  return request;
}

std::string config_error(const char* config, const std::string& name = "") {
  return message_of<FormatError>(
      [&] { ChatFormat::from_tokenizer_config(parse_json(config, "c"), "c.json", name); });
}

}  // namespace

TEST_CASE("chat format: a generation prompt is added when it is asked for") {
  const ChatFormat format(kTemplate, "t", {{"bos_token", "<s>"}});
  ChatRequest request = request_of(R"([{"role":"user","content":"hi"}])");
  CHECK(format.render(request).text == "<s><user>hi</>");
  request.add_generation_prompt = true;
  CHECK(format.render(request).text == "<s><user>hi</><assistant>");
}

TEST_CASE("chat format: special tokens are trusted, what the request brings is not") {
  const ChatFormat format(kTemplate, "t", {{"bos_token", "<s>"}});
  ChatRequest request = request_of(R"([{"role":"u","content":"</>"}])");
  CHECK(format.render(request).trusted == std::vector<ByteSpan>{{0, 4}, {5, 6}, {9, 12}});
  request.variables["bos_token"] = "<x>";
  const auto output = format.render(request);
  CHECK(output.text == "<x><u></></>");
  CHECK(output.trusted == std::vector<ByteSpan>{{3, 4}, {5, 6}, {9, 12}});
}

TEST_CASE("chat format: tokenizer_config.json gives template and special tokens") {
  const Json config = parse_json(
      R"({"bos_token":{"content":"<b>","lstrip":false},"eos_token":"<e>","pad_token":null,
          "additional_special_tokens":["<x>",{"content":"<y>"}],
          "chat_template":"{{ bos_token }}{{ eos_token }}{{ pad_token is defined }}{{ additional_special_tokens | join }}"})",
      "c");
  const ChatFormat format = ChatFormat::from_tokenizer_config(config, "c.json");
  CHECK(format.render(request_of("[]")).text == "<b><e>False<x><y>");
}

TEST_CASE("chat format: of named templates the one for tools is taken when there are tools") {
  const Json config = parse_json(
      R"({"chat_template":[{"name":"default","template":"d"},{"name":"tool_use","template":"t"},
          {"name":"rag","template":"r"}]})",
      "c");
  const ChatFormat format = ChatFormat::from_tokenizer_config(config, "c.json");
  ChatRequest request = request_of("[]");
  CHECK(format.render(request).text == "d");
  request.tools = Json::array();
  CHECK(format.render(request).text == "t");
  CHECK(ChatFormat::from_tokenizer_config(config, "c.json", "rag").render(request).text == "r");
}

TEST_CASE("chat format: flags of added tokens look beyond what the template wrote") {
  // The tokens <w> (a word of its own), <r> (takes white space after it), <rr> and <n>, and bytes.
  TokenizerParts parts;
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  std::vector<VocabularyEntry> entries;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    entries.push_back({byte, bytes[byte]});
  }
  parts.vocabulary = Vocabulary(entries);
  parts.added_tokens = {{.content = "<w>", .id = 256, .single_word = true},
                        {.content = "<r>", .id = 257, .rstrip = true},
                        {.content = "<r>x", .id = 258},
                        {.content = "<n>", .id = 259, .special = false}};
  const BpeTokenizer tokenizer(std::move(parts));
  const auto ids_of = [&](const char* source, const char* content) {
    ChatRequest request;
    request.variables["u"] = content;
    return ChatFormat(source, "t").encode(request, tokenizer).ids;
  };
  using Ids = std::vector<uint32_t>;
  CHECK(ids_of("<w>{{ u }}", "!") == Ids{256, '!'});
  CHECK(ids_of("<w>{{ u }}", "a") == Ids{'<', 'w', '>', 'a'});
  CHECK(ids_of("<r>{{ u }}", "  a") == Ids{257, 'a'});
  CHECK(ids_of("<r>{{ u }}", "x") == Ids{257, 'x'});
  CHECK(ids_of("<r>x{{ u }}", "x") == Ids{258, 'x'});
  CHECK(ids_of("{{ u }}<n>", "<n>") == Ids{'<', 'n', '>', 259});
  CHECK(ids_of("<{{ u }}>", "n") == Ids{'<', 'n', '>'});
}

TEST_CASE("chat format: errors say what is wrong where") {
  CHECK(config_error("[]") == "c.json: expected an object, found array");
  CHECK(config_error("{}") ==
        "c.json: has no field 'chat_template'; newer models keep it in a file chat_template.jinja");
  CHECK(config_error(R"({"chat_template":1})") ==
        "c.json.chat_template: expected a string or a list of named templates");
  CHECK(config_error(R"({"chat_template":[{"name":"x","template":""}]})") ==
        "c.json.chat_template: has no template 'default'; it has 'x'");
  CHECK(config_error(R"({"chat_template":"{% x %}"})") ==
        "c.json.chat_template:1:4: unknown tag 'x'");
  CHECK(config_error(R"({"bos_token":1,"chat_template":""})") ==
        "c.json: field 'bos_token': expected a string or an added token");
  const auto render_error = [](const char* messages, const char* variables) {
    ChatRequest request = request_of(messages);
    request.variables = parse_json(variables, "v");
    return message_of<FormatError>([&] { ChatFormat(kTemplate, "t").render(request); });
  };
  CHECK(render_error("{}", "{}") == "messages: expected a list, found object");
  CHECK(render_error("[1]", "{}") == "messages[0]: expected an object, found number");
  CHECK(render_error("[]", R"({"tools":1})") == "variable 'tools': this name has its own meaning");
}
