// SPDX-License-Identifier: Apache-2.0
// The presets against the templates of the models whose format they write.
#include "text/chat_preset.h"

#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "chat_goldens.h"
#include "file_error.h"
#include "support/catch.h"
#include "support/skip.h"
#include "text/chat_format.h"
#include "vocab_files.h"

using netcl::base::FormatError;
using netcl::base::Json;
using netcl::base::parse_json;
using netcl::tests::shared_dir;
using netcl::text::ChatFormat;
using netcl::text::ChatRequest;
using netcl::text::ContentTokens;

namespace {

// A preset and a model's template of the same format.
struct Judged {
  const char* preset;
  const char* family;
  bool ignores_tools;  // the model's template does not look at `tools`, which the preset refuses
  // Conversations that come out differently, and why. "VARIABLE=" stands for all that set it.
  std::map<std::string, std::string> differing;
};

const char* const kTrims = "the model's template trims";
const char* const kOrder = "the model's template wants user and assistant in turn";
const char* const kEmpty = "the model's template fails without messages";
const char* const kParts = "the model's template has no place for content parts";
const char* const kTools = "ChatML itself has no tools";
const char* const kCalls = "the model's template drops tool calls and outputs, or fails at them";
const char* const kArguments = "the model's template wants arguments as text";
const char* const kNull = "the model's template fails at content that is null";
const char* const kSecond = "the model's template drops it without a word";
const char* const kEscaped = "the model's template writes &#34; for quotation marks";
const char* const kQuoted = "the model's template makes JSON of arguments that are JSON already";
const char* const kThinking = "the model's template keeps reasoning";
const char* const kBuiltIn = "the preset has no built-in tools";

const std::vector<Judged>& judged() {
  static const std::map<std::string, std::string> calls = {{"tools_call", kCalls},
                                                           {"tools_call_answer", kCalls},
                                                           {"tools_call_strargs", kCalls},
                                                           {"tools_parallel", kCalls},
                                                           {"content_parts", kParts}};
  static const std::map<std::string, std::string> deepseek = {{"tools_call", kArguments},
                                                              {"tools_call_answer", kArguments},
                                                              {"tools_parallel", kArguments},
                                                              {"content_parts", kParts}};
  static const std::vector<Judged> all = {
      {"chatml",
       "chatml",
       true,
       {{"whitespace", kTrims},
        {"two_users", kOrder},
        {"two_systems", kOrder},
        {"no_messages", kEmpty},
        {"content_parts", kParts}}},
      {"chatml",
       "qwen3_instruct_2507",
       false,
       {{"tools_user", kTools},
        {"tools_user_nosys", kTools},
        {"tools_odd_json", kTools},
        {"tools_call", kTools},
        {"tools_call_answer", kTools},
        {"tools_call_strargs", kTools},
        {"tools_parallel", kTools},
        {"no_messages", kEmpty},
        {"content_parts", kParts}}},
      {"llama2", "llama2", true, {{"content_parts", kParts}}},
      {"llama3", "llama3", true, calls},
      {"llama3", "llama3_1_lenml", true, calls},
      {"mistral",
       "mistral_common_v3",
       false,
       {{"tools_call", kEscaped}, {"tools_call_answer", kEscaped}}},
      {"gemma", "gemma", true, {{"content_parts", kParts}}},
      {"qwen", "qwen3", false, {{"content_parts", kParts}}},
      {"qwen", "qwen3_lenml", false, {{"content_parts", kParts}, {"tools_call_answer", kNull}}},
      {"deepseek", "deepseek_r1", true, deepseek},
      {"deepseek", "deepseek_v3", true,
       [] {
         std::map<std::string, std::string> more = deepseek;
         more["tools_call_strargs"] = kCalls;
         more["think_tags"] = kThinking;
         return more;
       }()},
      {"phi",
       "phi3",
       true,
       {{"content_parts", kParts},
        {"tools_call", kCalls},
        {"tools_call_strargs", kCalls},
        {"tools_parallel", kCalls}}},
      {"gpt-oss",
       "gptoss",
       false,
       {{"content_parts", kParts},
        {"two_systems", kSecond},
        {"tools_parallel", kSecond},
        {"tools_call_answer", kNull},
        {"tools_call_strargs", kQuoted},
        {"builtin_tools=", kBuiltIn}}},
  };
  return all;
}

std::string reason_to_differ(const Judged& judge, const Json& row) {
  if (const auto found = judge.differing.find(row["conv"].get<std::string>());
      found != judge.differing.end()) {
    return found->first;
  }
  const Json kwargs = row.value("kwargs", Json::object());
  for (const auto& [name, value] : kwargs.items()) {
    if (judge.differing.contains(name + "=")) {
      return name + "=";
    }
  }
  return "";
}

// Two templates are laid out for reading, and meant to be used without their line ends and
// indentation, which would be part of the prompt.
bool is_laid_out(std::string_view family) {
  return family == "chatml" || family == "llama2";
}

ChatFormat without_layout(const std::string& path, const Json& special_tokens) {
  std::string source = netcl::tests::text_of(path);
  for (const std::string layout : {"    ", "\n"}) {
    for (size_t at = 0; (at = source.find(layout, at)) != std::string::npos;) {
      source.erase(at, layout.size());
    }
  }
  return {source, path, special_tokens};
}

// Those that a family has.
Json special_tokens(const Json& meta) {
  Json tokens = Json::object();
  for (const auto& [name, token] : meta["special_tokens"].items()) {
    if (!token.is_null()) {
      tokens[name] = token;
    }
  }
  return tokens;
}

// What a format makes of a request, or its error.
std::string outcome(const ChatFormat& format, const ChatRequest& request) {
  try {
    return format.render(request).text;
  } catch (const FormatError& error) {
    return std::string("error: ") + error.what();
  }
}

ChatRequest user_request(const char* tools = "null") {
  ChatRequest request;
  request.messages = parse_json(R"([{"role":"user","content":"hi"}])", "messages");
  request.tools = parse_json(tools, "tools");
  request.now = netcl::tests::golden_options().now;
  return request;
}

}  // namespace

TEST_CASE("chat presets: each renders what the model's own template renders") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  const Json conversations = netcl::tests::golden_conversations();
  std::string differing;
  size_t equal = 0;
  for (const Judged& judge : judged()) {
    const std::string folder = shared_dir() + "/chat/" + judge.family;
    const Json meta = parse_json(netcl::tests::text_of(folder + "/meta.json"), "meta.json");
    const ChatFormat format = ChatFormat::from_preset(judge.preset, special_tokens(meta));
    const std::optional<ChatFormat> other =
        is_laid_out(judge.family)
            ? std::optional(without_layout(folder + "/template.jinja", meta["special_tokens"]))
            : std::nullopt;
    std::set<std::string> reasons;  // that have been used
    for (const Json& row : netcl::tests::read_jsonl(folder + "/cases.jsonl")) {
      ChatRequest request =
          netcl::tests::request_of_case(row, conversations[row["conv"].get<std::string>()]);
      if (judge.ignores_tools) {
        request.tools = nullptr;
      }
      const std::string got = outcome(format, request);
      const std::string wanted = other ? outcome(*other, request)
                                 : row.contains("error")
                                     ? "error: " + row["error"].get<std::string>()
                                     : row["expected"].get<std::string>();
      const bool is_same =
          wanted.starts_with("error: ") ? got.starts_with("error: ") : got == wanted;
      const std::string reason = reason_to_differ(judge, row);
      equal += is_same ? 1 : 0;
      if (!is_same && !reason.empty()) {
        reasons.insert(reason);
      } else if (!is_same) {
        differing.append(judge.preset).append(" ").append(row["id"].get<std::string>());
        differing.append(":\n").append(got).append("\n--- wanted\n").append(wanted).append("\n");
      }
    }
    for (const auto& [reason, why] : judge.differing) {
      if (!reasons.contains(reason)) {
        differing.append(judge.preset)
            .append(" ")
            .append(judge.family)
            .append(": does not differ in ");
        differing.append(reason).append(" though ").append(why).append("\n");
      }
    }
  }
  INFO("different:\n" << differing);
  CHECK(differing.empty());
  CHECK(equal > 600);
}

TEST_CASE("chat presets: ids are those of the model's own template") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  const Json conversations = netcl::tests::golden_conversations();
  size_t cases = 0;
  std::string differing;
  for (const auto& [preset, family, vocabulary] :
       {std::tuple("llama3", "llama3", "llama3"), std::tuple("qwen", "qwen3", "qwen3"),
        std::tuple("deepseek", "deepseek_r1", "deepseek_v3"),
        std::tuple("gpt-oss", "gptoss", "gptoss")}) {
    const auto tokenizer = netcl::tests::load_vocabulary(vocabulary);
    if (!tokenizer) {
      return;
    }
    const ChatFormat format = ChatFormat::from_preset(preset);
    for (const Json& row :
         netcl::tests::read_jsonl(shared_dir() + "/chat/" + family + "/cases.jsonl")) {
      ChatRequest request =
          netcl::tests::request_of_case(row, conversations[row["conv"].get<std::string>()]);
      if (std::string_view(preset) == "deepseek") {
        request.tools = nullptr;
      }
      if (!row.contains("ids") || outcome(format, request) != row["expected"].get<std::string>()) {
        continue;  // judged above
      }
      ++cases;
      const auto wanted = row["ids"].get<std::vector<uint32_t>>();
      const auto plain = format.encode(request, *tokenizer).ids;
      const bool has_control_text = row["conv"] == "special_text" || row["conv"] == "think_tags";
      if (format.encode(request, *tokenizer, ContentTokens::kAllow).ids != wanted ||
          (plain != wanted && !has_control_text)) {
        differing += row["id"].get<std::string>() + "\n";
      }
    }
  }
  INFO("different:\n" << differing);
  CHECK(differing.empty());
  CHECK(cases > 150);
}

TEST_CASE("chat presets: gpt-oss writes the types of tools as the model's own template") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  const ChatFormat own = ChatFormat::from_preset("gpt-oss");
  const std::string path = shared_dir() + "/chat/gptoss/template.jinja";
  const ChatFormat other(netcl::tests::text_of(path), path);
  for (
      const char* schema : {
          R"({"type":"string"})",
          R"({"type":"string","nullable":true,"description":"d"})",
          R"({"type":"string","enum":["a","b"],"default":"a"})",
          R"({"type":"integer","default":3})",
          R"({"type":"number"})",
          R"({"type":"boolean","default":false})",
          R"({"type":"null"})",
          R"({"type":"array"})",
          R"({"type":"array","nullable":true})",
          R"({"type":"array","items":{"type":"string"}})",
          R"({"type":"array","items":{"type":"integer"},"nullable":true})",
          R"({"type":"array","items":{"type":"number"}})",
          R"({"type":"array","items":{"type":"boolean"}})",
          R"({"type":"array","items":{"type":"array","items":{"type":"string"}}})",
          R"({"type":"array","items":{"type":["object","object"]}})",
          R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},
               "c":{"type":"string"}}}})",
          R"({"type":["string","null"],"default":null})",
          R"({"type":["string"]})",
          R"({"type":"object"})",
          R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array"}},"required":["b"]})",
          R"({"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"number"}}}}})",
          R"({"oneOf":[{"type":"string"},{"type":"integer"}]})",
          R"({"oneOf":[{"type":"string","description":"s","default":"x"},{"type":"integer","default":1}],"default":"q"})",
          R"({"oneOf":[{"type":"object"},{"type":"integer"}]})",
          R"({"oneOf":[{"type":"object","properties":{"k":{"type":"string"}}}]})",
          R"({})",
      }) {
    const std::string tools =
        std::string(R"([{"type":"function","function":{"name":"f","description":"d","parameters":
            {"type":"object","required":["p"],"properties":{"p":)") +
        schema + R"(,"q":)" + schema + R"(}}}},
            {"type":"function","function":{"name":"g","description":"no parameters"}}])";
    const ChatRequest request = user_request(tools.c_str());
    CAPTURE(schema);
    CHECK(outcome(own, request) == outcome(other, request));
  }
}

TEST_CASE("chat presets: special tokens are those of the models") {
  if (shared_dir().empty()) {
    netcl::tests::skip("no shared test data");
    return;
  }
  for (const Judged& judge : judged()) {
    const std::string family = judge.family;
    if (family == "chatml") {
      continue;  // ChatML itself has no BOS
    }
    const Json meta = parse_json(
        netcl::tests::text_of(shared_dir() + "/chat/" + family + "/meta.json"), "meta.json");
    const auto* preset = netcl::text::find_chat_preset(judge.preset);
    REQUIRE(preset != nullptr);
    const Json& bos = meta["special_tokens"]["bos_token"];
    CAPTURE(family);
    CHECK(preset->bos_token == (bos.is_null() ? "" : bos.get<std::string>()));
    CHECK(preset->eos_token == meta["special_tokens"]["eos_token"].get<std::string>());
  }
}

TEST_CASE("chat presets: what a format has no place for is an error") {
  const auto error_of = [](const char* preset, const ChatRequest& request) {
    const std::string got = outcome(ChatFormat::from_preset(preset), request);
    return got.starts_with("error: ") ? got.substr(got.find(": ", got.find(": ") + 2) + 2) : got;
  };
  const char* const tool = R"([{"type":"function","function":{"name":"f"}}])";
  CHECK(error_of("chatml", user_request(tool)) ==
        "ChatML has no form for tools; describe them in the system message");
  CHECK(error_of("deepseek", user_request(tool)) ==
        "DeepSeek has no form for tools; describe them in the system message");
  for (const char* preset : {"chatml", "llama2", "llama3", "gemma", "phi", "deepseek"}) {
    CHECK_THAT(error_of(preset, user_request(tool)),
               Catch::Matchers::Contains("no form for tools"));
    CHECK(error_of(preset, user_request("[]")) == error_of(preset, user_request()));
  }
  ChatRequest request = user_request();
  request.messages[0]["content"] = parse_json(R"([{"type":"image","url":"u"}])", "content");
  for (const auto& preset : netcl::text::chat_presets()) {
    CHECK_THAT(error_of(std::string(preset.name).c_str(), request),
               Catch::Matchers::Contains("a content part of type 'image'; only text is known"));
  }
  request.messages[0]["content"] =
      parse_json(R"([{"type":"text","text":"h"},{"type":"text","text":"i"}])", "content");
  for (const auto& preset : netcl::text::chat_presets()) {
    const std::string name(preset.name);
    if (name != "mistral") {  // which puts an empty line between
      CHECK(error_of(name.c_str(), request) == error_of(name.c_str(), user_request()));
    }
  }
  request = user_request();
  request.messages[0]["role"] = "critic";
  for (const char* preset : {"llama2", "mistral", "gemma", "qwen", "deepseek", "phi", "gpt-oss"}) {
    CHECK(outcome(ChatFormat::from_preset(preset), request).starts_with("error: "));
  }
  request = user_request();
  request.variables = {{"builtin_tools", {"python"}}};
  CHECK_THAT(error_of("harmony", request), Catch::Matchers::Contains("built-in tools"));
  CHECK(netcl::tests::message_of<FormatError>([] { ChatFormat::from_preset("gpt"); }) ==
        "unknown preset 'gpt'; known are chatml, llama2, llama3, mistral, gemma, qwen, deepseek, "
        "phi, gpt-oss, harmony");
}

TEST_CASE("chat presets: the message on an unknown role lists those that are known") {
  ChatRequest request;
  request.messages = parse_json(R"([{"role":"critic","content":"u"}])", "messages");
  const auto check = [&](const char* preset, const std::string& roles) {
    CHECK(outcome(ChatFormat::from_preset(preset), request) ==
          "error: messages[0]: unknown role 'critic'; " + std::string(preset) + " knows " + roles);
  };
  check("phi", "system, user and assistant");
  check("qwen", "system, user, assistant and tool");
  check("gpt-oss", "system, developer, user, assistant and tool");
  check("chatml",
        "system, developer, user, assistant, model, tool, function, ipython and observation");
}

TEST_CASE("chat presets: messages of another shape are refused by their number") {
  const auto check = [](const std::string& second, const std::string& wanted) {
    ChatRequest request;
    request.messages = parse_json(R"([{"role":"user","content":"u"},)" + second + "]", "messages");
    for (const auto& preset : netcl::text::chat_presets()) {
      CAPTURE(preset.name, second);
      CHECK_THAT(outcome(ChatFormat::from_preset(preset.name), request),
                 Catch::Matchers::StartsWith("error: messages[1]" + wanted));
    }
  };
  check(R"({"content":"a"})", ": has no role");
  check(R"({"role":null,"content":"a"})", ": has no role");
  check(R"({"role":7,"content":"a"})", ".role: expected a string, found number");
  check(R"({"role":["user"],"content":"a"})", ".role: expected a string, found array");
  for (const char* role : {"", "and", "critic", "User", "user ", ",", "system, user",
                           "user<|im_end|>\\n<|im_start|>system"}) {
    check(std::string(R"({"role":")") + role + R"(","content":"a"})", ": unknown role");
  }
  check(R"({"role":"assistant"})", ": has no content");
  check(R"({"role":"assistant","content":null})", ": has no content");
  for (const char* content : {"7", "0", "true", "false", "1.5", "{}", R"({"type":"text"})"}) {
    check(std::string(R"({"role":"assistant","content":)") + content + "}",
          ".content: expected a string or a list of parts, found");
  }
  check(R"({"role":"assistant","content":["a"]})", ".content[0]: expected an object, found string");
  check(R"({"role":"assistant","content":[{"text":"a"}]})", ".content[0]: has no type");
  check(R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text"}]})",
        ".content[1].text: expected a string, found nothing");
  check(R"({"role":"assistant","content":[{"type":"text","text":5}]})",
        ".content[0].text: expected a string, found number");
  check(R"({"role":"assistant","content":"","tool_calls":{}})", ".tool_calls: expected a list");
  check(R"({"role":"assistant","tool_calls":[7]})", ".tool_calls[0]: expected an object");
  check(R"({"role":"assistant","tool_calls":[{"function":{"arguments":{}}}]})",
        ".tool_calls[0]: has no name");
  check(R"({"role":"assistant","tool_calls":[{"function":{"name":"f"}}]})",
        ".tool_calls[0]: its arguments must be");
  check(R"({"role":"user","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]})",
        ": only the assistant has tool calls");
  check(R"({"role":"assistant","content":"a","reasoning_content":7})",
        ".reasoning_content: expected a string, found number");
  check(R"({"role":"assistant","content":"a","thinking":{}})",
        ".thinking: expected a string, found object");
}

TEST_CASE("chat presets: what a format has no place for is refused by the message's number") {
  const auto check = [](const char* preset, const char* messages, const char* wanted) {
    ChatRequest request;
    request.messages = parse_json(messages, "messages");
    CAPTURE(preset, messages);
    CHECK_THAT(outcome(ChatFormat::from_preset(preset), request),
               Catch::Matchers::EndsWith(wanted));
  };
  const char* const call =
      R"([{"role":"user","content":"u"},{"role":"assistant","content":"","tool_calls":[)"
      R"({"id":"123456789","function":{"name":"f","arguments":{}}},)"
      R"({"id":"1","function":{"name":"f","arguments":{}}}]}])";
  check("chatml", call, ": ChatML: messages[1]: the format has no form for tool calls");
  check("llama2", call, ": Llama 2: messages[1]: the format has no form for tool calls");
  check("llama3", call, ": Llama 3: messages[1]: the format has no form for tool calls");
  check("gemma", call, ": Gemma: messages[1]: the format has no form for tool calls");
  check("phi", call, ": Phi-3: messages[1]: the format has no form for tool calls");
  check("mistral", call, ": Mistral: messages[1].tool_calls[1]: its id must have 9 characters");
  check("mistral",
        R"([{"role":"user","content":"u"},{"role":"assistant","content":"a"},)"
        R"({"role":"tool","content":"c","tool_call_id":"12"}])",
        ": Mistral: messages[2]: its tool_call_id must have 9 characters");
  check("mistral",
        R"([{"role":"system","content":"s"},{"role":"user","content":"u"},)"
        R"({"role":"assistant","content":""}])",
        ": Mistral: messages[2]: an assistant message has either content or tool calls");
  check("mistral", R"([{"role":"system","content":"s"},{"role":"assistant","content":"a"}])",
        ": Mistral: messages[1]: the conversation begins with a user message");
  check("mistral", R"([{"role":"user","content":"u"},{"role":"tool","content":"c"}])",
        ": Mistral: messages[1]: a tool answers the assistant, not the user");
  check("gemma", R"([{"role":"system","content":"s"}])",
        ": Gemma: messages[0]: the format has no system message; put its text in front of the "
        "first user's");
  check("gemma", R"([{"role":"user","content":"u"},{"role":"user","content":"u"}])",
        ": Gemma: messages[1]: user and assistant come in turn");
  check("gpt-oss",
        R"([{"role":"system","content":"s"},{"role":"user","content":"u"},)"
        R"({"role":"tool","content":"c"}])",
        ": gpt-oss: messages[2]: a tool message without a tool call of the assistant before it");
  check("gpt-oss",
        R"([{"role":"user","content":"u"},{"role":"assistant","content":"a","thinking":"t",)"
        R"("tool_calls":[{"function":{"name":"f","arguments":{}}}]}])",
        ": gpt-oss: messages[1]: a tool call with both content and thinking");
  check("gpt-oss", R"([{"role":"user","content":"u"},{"role":"system","content":"s"}])",
        ": gpt-oss: messages[1]: after the instructions come user, assistant and tool, not system");
}

TEST_CASE("chat presets: what the assistant says is generated, its end token included") {
  ChatRequest request = user_request();
  request.messages.push_back({{"role", "assistant"}, {"content", "yes"}});
  const std::map<std::string, std::string> wanted = {
      {"chatml", "yes<|im_end|>"},
      {"llama2", "yes </s>"},
      {"llama3", "yes<|eot_id|>"},
      {"mistral", "yes</s>"},
      {"gemma", "yes<end_of_turn>"},
      {"qwen", "<think>\n\n</think>\n\nyes<|im_end|>"},
      {"phi", "yes<|end|>"},
      {"gpt-oss", "<|channel|>final<|message|>yes<|return|>"},
      {"harmony", "<|channel|>final<|message|>yes<|return|>"},
      {"deepseek", "yes" + std::string(netcl::text::find_chat_preset("deepseek")->eos_token)},
  };
  for (const auto& preset : netcl::text::chat_presets()) {
    const auto output = ChatFormat::from_preset(preset.name).render(request);
    std::string text;
    for (const auto& span : output.generated) {
      text += output.text.substr(span.begin, span.end - span.begin);
    }
    CAPTURE(preset.name);
    CHECK(text == wanted.at(std::string(preset.name)));
  }
}
