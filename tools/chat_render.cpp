// SPDX-License-Identifier: Apache-2.0
// chat-render: conversations to prompts.
#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "cli/chat_options.h"
#include "cli/documents.h"
#include "cli/id_format.h"
#include "cli/input_check.h"
#include "cli/output_name.h"
#include "cli/run_tool.h"
#include "cli/tokenizer_option.h"
#include "cli/tool_app.h"
#include "text/chat_format.h"

namespace {

using namespace netcl;
using base::Json;

struct Options {
  cli::ChatOptions chat;
  std::vector<std::string> files;
  std::string output = "-";
  bool jsonl = false;
  bool ids = false;
  cli::TokenizerOption tokenizer;
  cli::IdFormat format = cli::IdFormat::kAuto;
  text::ContentTokens content = text::ContentTokens::kPlain;
  std::string mask;
};

const char* const kFooter =
    "Examples:\n"
    "  chat-render messages.json --tokenizer-config tokenizer_config.json "
    "--add-generation-prompt\n"
    "  chat-render messages.json --preset qwen --var enable_thinking=false --ids -t "
    "tokenizer.json\n"
    "  chat-render --jsonl chats.jsonl --template t.jinja --ids -t tokenizer.json -o ids.npy\n"
    "\n"
    "MESSAGES is a list of messages, or an object with 'messages' and perhaps 'tools' and\n"
    "'documents' (--tools and --documents count instead); other fields are not looked at. With\n"
    "--jsonl each line is one, and each line of the result: {\"text\":\"...\"}, with the\n"
    "conversation's 'id' if it has one. At a bad line the results before it have been written,\n"
    "unless they go to a file by -o (or are one list, .json or .npy): that is there complete, or\n"
    "not at all. Numbers are those of JSON with up to 64 bits: NaN, Infinity and longer integers\n"
    "are refused.\n"
    "\n"
    "With --ids an added token, special or not, becomes its id only where the template wrote all\n"
    "of its bytes: its text, special tokens, and roles that templates know (system, developer,\n"
    "user, assistant, model, tool, function, ipython, observation). A message cannot forge one.\n"
    "\n"
    "--var NAME=VALUE: true, false, null, a number, or text in quotes, [] or {} is read as JSON,\n"
    "all else as text. The templates run as in transformers, without files, environment or\n"
    "network, and end with an error when they take too much time or memory.\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 bad input, 4 cannot read or write, 70 a bug of ours\n";

void declare(cli::ToolApp& app, Options& options) {
  app.take_files(options.files, "[MESSAGES]",
                 "MESSAGES  conversation as JSON; '-' or nothing is standard input.");
  app.add_switch("--jsonl", options.jsonl, "Each line of MESSAGES is a conversation")
      ->group("Input");
  cli::add_chat_options(app, options.chat);
  app.add_text("-o,--output", options.output, "FILE", "Result; default: standard output")
      ->group("Output");
  app.add_switch("--ids", options.ids, "Write token ids, of the tokenizer -t, in place of text")
      ->group("Ids");
  cli::add_tokenizer_options(app, options.tokenizer);
  app.get_option("--tokenizer")->required(false);
  app.add_choice<text::ContentTokens>("--special-in-content", options.content,
                                      {{"plain", text::ContentTokens::kPlain},
                                       {"refuse", text::ContentTokens::kRefuse},
                                       {"allow", text::ContentTokens::kAllow}},
                                      "Text of added tokens in messages, tools, documents and "
                                      "variables:\n"
                                      "ordinary text (default), exit 3, or their ids")
      ->group("Ids");
  app.add_choice<cli::IdFormat>("--format", options.format, cli::id_format_choices(false),
                                "Form of the ids; default: what -o is named, else text")
      ->group("Ids");
  app.add_text("--mask", options.mask, "FILE",
               "For each id 1 if it is of a generation block, else 0; in the form that the name\n"
               "says")
      ->group("Ids");
  app.footer(kFooter);
}

// One conversation: its request, and the "id" of its JSON, null without one.
struct Conversation {
  text::ChatRequest request;
  Json id;
};

// Whether the text is one JSON value a line rather than one value.
bool is_json_lines(std::string_view text) {
  const size_t end = text.find('\n');
  return end != std::string_view::npos &&
         text.find_first_not_of(" \t\r\n", end) != std::string_view::npos &&
         Json::accept(text.substr(0, end));
}

Json parse_messages(std::string_view json_text, const std::string& where, bool is_line) {
  try {
    return base::parse_json(json_text, where, base::BigIntegers::kRefuse);
  } catch (const base::FormatError&) {
    if (!is_line && is_json_lines(json_text)) {
      throw base::FormatError(where +
                              ": a JSON value a line; --jsonl takes each line as a conversation");
    }
    throw;
  }
}

Conversation parse_conversation(Json json, const std::string& where,
                                const text::ChatRequest& common) {
  Conversation conversation{common, nullptr};
  text::ChatRequest& request = conversation.request;
  if (json.is_array()) {
    request.messages = std::move(json);
    return conversation;
  }
  request.messages = base::require_field(json, "messages", where);
  const auto take = [&](const char* name, Json& target) {
    if (target.is_null() && json.contains(name)) {
      target = json[name];
    }
  };
  take("tools", request.tools);
  take("documents", request.documents);
  take("id", conversation.id);
  return conversation;
}

cli::IdFormat id_format(const Options& options) {
  return options.format == cli::IdFormat::kAuto ? cli::id_format_of_name(options.output)
                                                : options.format;
}

// Writes one conversation after the other, as text or ids.
class Renderer {
 public:
  explicit Renderer(const Options& options)
      : options_(options),
        format_(cli::load_chat_format(options.chat)),
        common_(cli::make_request(options.chat)),
        out_(options.output) {
    if (!options.ids) {
      return;
    }
    tokenizer_ = cli::load_tokenizer(options.tokenizer, false);
    warn_of_strangers();
    ids_ = cli::make_id_writer(id_format(options), out_, options.output, options.jsonl);
    if (!options.mask.empty()) {
      mask_out_.emplace(options.mask);
      mask_ = cli::make_id_writer(cli::id_format_of_name(options.mask), *mask_out_, options.mask,
                                  options.jsonl);
    }
  }

  void render(std::string_view json_text, const std::string& where) {
    const Conversation conversation =
        parse_conversation(parse_messages(json_text, where, options_.jsonl), where, common_);
    try {
      if (tokenizer_) {
        write_ids(conversation);
      } else {
        write_text(conversation);
      }
    } catch (const base::FormatError& error) {
      // Which conversation it was, besides the place in the template.
      throw base::FormatError(where + ": " + error.what());
    }
  }

  void flush() { out_.flush(); }

  // Sends on the results before one that failed, where each is complete by itself: an unfinished
  // JSON list or .npy is none.
  void flush_complete() {
    const bool is_list = ids_ != nullptr && (id_format(options_) == cli::IdFormat::kJson ||
                                             id_format(options_) == cli::IdFormat::kNpy);
    if (!is_list) {
      out_.flush();
    }
  }

  // Nothing gets its name before all is written.
  void finish() {
    if (ids_ != nullptr) {
      ids_->finish();
    }
    std::vector<base::OutputFile*> files = {&out_};
    if (mask_ != nullptr) {
      mask_->finish();
      files.push_back(&*mask_out_);
    }
    base::commit_all(files);
    if (mask_ != nullptr && has_ids_ && !has_generated_) {
      spdlog::warn(
          "--mask {}: is all 0, since nothing is of a generation block; the templates of many "
          "models have none, those of --preset do",
          options_.mask);
    }
  }

 private:
  // The template of one model and the tokenizer of another make ids that mean nothing.
  void warn_of_strangers() const {
    for (const char* name : {"bos_token", "eos_token"}) {
      const auto token = format_.special_tokens().find(name);
      if (token != format_.special_tokens().end() && token->is_string() &&
          !tokenizer_->find_added(token->get<std::string>())) {
        spdlog::warn("-t {}: {} has no id there and stays ordinary text ({} of the template)",
                     options_.tokenizer.path, base::quote(token->get<std::string>()), name);
      }
    }
  }

  void write_text(const Conversation& conversation) {
    const std::string text = format_.render(conversation.request).text;
    if (!options_.jsonl) {
      out_.write(text);
      return;
    }
    Json line = {{"text", text}};
    if (!conversation.id.is_null()) {
      line["id"] = conversation.id;
    }
    out_.write(base::to_text(line) + "\n");
  }

  void write_ids(const Conversation& conversation) {
    const text::ChatIds ids = format_.encode(conversation.request, *tokenizer_, options_.content);
    const std::string id_json = conversation.id.is_null() ? "" : base::to_text(conversation.id);
    ids_->write({ids.ids, id_json, {}});
    if (mask_ != nullptr) {
      mask_->write({ids.generated, id_json, {}});
      has_ids_ |= !ids.ids.empty();
      has_generated_ |=
          std::find(ids.generated.begin(), ids.generated.end(), 1U) != ids.generated.end();
    }
  }

  const Options& options_;
  text::ChatFormat format_;
  text::ChatRequest common_;
  base::OutputFile out_;
  std::optional<base::OutputFile> mask_out_;
  std::optional<text::BpeTokenizer> tokenizer_;
  std::unique_ptr<cli::IdWriter> ids_, mask_;
  bool has_ids_ = false;
  bool has_generated_ = false;  // in the mask
};

// Standard input is read once.
void check_standard_input(const Options& options) {
  const bool is_messages =
      options.files.empty() ||
      std::find(options.files.begin(), options.files.end(), "-") != options.files.end();
  std::string reader = is_messages ? "MESSAGES" : "";
  for (const auto& [name, path] :
       {std::pair<std::string, std::string>{"--template", options.chat.template_path},
        {"--tokenizer-config", options.chat.config_path},
        {"--tools", options.chat.tools_path},
        {"--documents", options.chat.documents_path},
        {"--vars", options.chat.variables_path},
        {"-t", options.tokenizer.path}}) {
    if (path != "-") {
      continue;
    }
    if (!reader.empty()) {
      reader.insert(0, " -: standard input is read for ");
      throw base::UsageError(name + reader.append(" already"));
    }
    reader = name;
  }
}

void check(const Options& options) {
  check_standard_input(options);
  if (options.files.size() > 1 && !options.jsonl) {
    throw base::UsageError("several files are several conversations; give them with --jsonl");
  }
  const bool has_id_options = !options.tokenizer.path.empty() || !options.mask.empty() ||
                              options.format != cli::IdFormat::kAuto ||
                              options.content != text::ContentTokens::kPlain;
  if (!options.ids && has_id_options) {
    throw base::UsageError("-t, --format, --mask and --special-in-content go with --ids");
  }
  if (options.ids && options.tokenizer.path.empty()) {
    throw base::UsageError("--ids needs a tokenizer; give -t");
  }
  if (!options.ids && options.jsonl) {
    cli::check_output_name(options.output, "--jsonl writes JSON lines", {".jsonl", ".ndjson"});
  } else if (!options.ids) {
    cli::check_output_name(options.output, "without --ids a prompt is text", {".txt", ".md"});
  } else {
    if (cli::is_binary(id_format(options))) {
      cli::refuse_binary_on_terminal(options.output, "ids");
    }
    cli::refuse_same_outputs({options.output, options.mask});
  }
  std::vector<std::string> others = cli::tokenizer_inputs(options.tokenizer);
  others.insert(others.end(),
                {options.chat.template_path, options.chat.config_path, options.chat.tools_path,
                 options.chat.documents_path, options.chat.variables_path});
  cli::refuse_inputs_as_outputs(cli::all_inputs(options.files, others),
                                {options.output, options.mask});
}

int run(const Options& options) {
  check(options);
  Renderer renderer(options);
  cli::DocumentOptions documents;
  documents.files = options.files;
  documents.lines = options.jsonl;
  cli::DocumentReader reader(std::move(documents));
  uint64_t line = 0;
  try {
    reader.for_each_batch([&](const cli::DocumentBatch& batch) {
      for (const cli::Document& document : batch.documents) {
        line = document.where_offset == 0 ? 1 : line + 1;
        const std::string where =
            options.jsonl ? base::at_line(document.where, line) : document.where;
        renderer.render(document.text, where);
      }
      if (batch.interactive) {
        renderer.flush();
      }
    });
  } catch (const base::Error&) {
    renderer.flush_complete();
    throw;
  }
  renderer.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  cli::ToolApp app("chat-render", "Turns conversations into prompts by a model's chat template.");
  declare(app, options);
  return cli::run_tool(argc, argv, app, [&](const cli::CommonOptions&) { return run(options); });
}
