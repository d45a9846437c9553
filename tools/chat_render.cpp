// SPDX-License-Identifier: Apache-2.0
// chat-render: conversations to prompts.
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "cli/chat_options.h"
#include "cli/documents.h"
#include "cli/run_tool.h"
#include "text/chat_format.h"

namespace {

using namespace netcl;
using base::Json;

struct Options {
  cli::ChatOptions chat;
  std::vector<std::string> files;
  std::string output = "-";
  bool jsonl = false;
};

const char* const kFooter =
    "Examples:\n"
    "  chat-render messages.json --tokenizer-config tokenizer_config.json "
    "--add-generation-prompt\n"
    "  chat-render messages.json --template chat_template.jinja --var enable_thinking=false\n"
    "  chat-render --jsonl --template t.jinja chats.jsonl | bpe-encode --jsonl -t tokenizer.json\n"
    "\n"
    "MESSAGES is a list of messages, or an object with 'messages' and perhaps 'tools' and\n"
    "'documents' (--tools and --documents count instead); other fields are not looked at. With "
    "--jsonl\n"
    "each line is one, and each line of the result: {\"text\":\"...\"}, with\n"
    "the conversation's 'id' if it has one.\n"
    "\n"
    "--var NAME=VALUE: true, false, null, a number, or text in quotes, [] or {} is read as JSON, "
    "all\n"
    "else as text. The templates run as in transformers, without files, environment or network, "
    "and\n"
    "end with an error when they take too much time or memory.\n"
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
  app.footer(kFooter);
}

// One conversation: its request, and the "id" of its JSON, null without one.
struct Conversation {
  text::ChatRequest request;
  Json id;
};

Conversation parse_conversation(std::string_view json_text, const std::string& where,
                                const text::ChatRequest& common) {
  Conversation conversation{common, nullptr};
  text::ChatRequest& request = conversation.request;
  Json json = base::parse_json(json_text, where);
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

void render(const text::ChatFormat& format, std::string_view json_text, const std::string& where,
            const text::ChatRequest& common, bool as_json, base::OutputFile& out) {
  const Conversation conversation = parse_conversation(json_text, where, common);
  std::string text;
  try {
    text = format.render(conversation.request).text;
  } catch (const base::FormatError& error) {
    // Which conversation it was, besides the place in the template.
    throw base::FormatError(where + ": " + error.what());
  }
  if (!as_json) {
    out.write(text);
    return;
  }
  Json line = {{"text", text}};
  if (!conversation.id.is_null()) {
    line["id"] = conversation.id;
  }
  out.write(base::to_text(line) + "\n");
}

int run(const Options& options) {
  if (options.files.size() > 1 && !options.jsonl) {
    throw base::UsageError("several files are several conversations; give them with --jsonl");
  }
  const text::ChatFormat format = cli::load_chat_format(options.chat);
  const text::ChatRequest common = cli::make_request(options.chat);
  cli::DocumentOptions documents;
  documents.files = options.files;
  documents.lines = options.jsonl;
  cli::DocumentReader reader(std::move(documents));
  base::OutputFile out(options.output);
  uint64_t line = 0;
  reader.for_each_batch([&](const cli::DocumentBatch& batch) {
    for (const cli::Document& document : batch.documents) {
      line = document.where_offset == 0 ? 1 : line + 1;
      const std::string where =
          options.jsonl ? base::at_line(document.where, line) : document.where;
      render(format, document.text, where, common, options.jsonl, out);
    }
    if (batch.interactive) {
      out.flush();
    }
  });
  out.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  cli::ToolApp app("chat-render", "Turns conversations into prompts by a model's chat template.");
  declare(app, options);
  return cli::run_tool(argc, argv, app, [&](const cli::CommonOptions&) { return run(options); });
}
