// SPDX-License-Identifier: Apache-2.0
// bpe-decode: token ids to bytes.
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "cli/documents.h"
#include "cli/id_format.h"
#include "cli/input_check.h"
#include "cli/run_tool.h"
#include "cli/tokenizer_option.h"
#include "cli/tool_app.h"
#include "text/tokenizer.h"

namespace {

using namespace netcl;

struct Options {
  cli::TokenizerOption tokenizer;
  std::vector<std::string> files;
  std::string output = "-";
  cli::IdFormat format = cli::IdFormat::kAuto;
  bool lines = false;
  bool skip_special = false;
  bool stream = false;
  text::Utf8Errors errors = text::Utf8Errors::kRaw;
};

const char* const kFooter =
    "Examples:\n"
    "  printf 'Hello world' | bpe-encode -t tokenizer.json | bpe-decode -t tokenizer.json\n"
    "  bpe-decode -t tokenizer.json ids.npy -o text.txt\n"
    "  bpe-encode -t tokenizer.json --lines a.txt | bpe-decode -t tokenizer.json --lines | cmp - "
    "a.txt\n"
    "\n"
    "Formats: text = ids with blanks between, one document a line; json = [1,2], [[1],[2]] or\n"
    "{\"ids\":[1,2]}; jsonl = one of these a line; npy = one-dimensional array of integers; u16 "
    "and\n"
    "u32 = little-endian numbers. auto goes by the name's extension (.txt .json .jsonl .npy), "
    "else\n"
    "by the first byte; u16 and u32 are never guessed.\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 bad input, 4 cannot read or write, 5 out of memory, 70 a bug "
    "of\n"
    "ours\n";

void declare(cli::ToolApp& app, Options& options) {
  cli::add_tokenizer_options(app, options.tokenizer);
  app.take_files(options.files, "[FILES...]",
                 "FILES  ids to decode, one after the other; '-' or nothing is standard input.");
  app.add_choice<cli::IdFormat>("--format", options.format, cli::id_format_choices(true),
                                "Form of the ids; default: auto")
      ->group("Input");
  app.add_text("-o,--output", options.output, "FILE", "Result; default: standard output")
      ->group("Output");
  app.add_switch("--lines", options.lines, "Write a line end after each document")->group("Output");
  app.add_switch("--skip-special", options.skip_special, "Leave out special tokens")
      ->group("Output");
  app.add_choice<text::Utf8Errors>("--errors", options.errors,
                                   {{"raw", text::Utf8Errors::kRaw},
                                    {"replace", text::Utf8Errors::kReplace},
                                    {"strict", text::Utf8Errors::kStrict}},
                                   "Bytes that are not UTF-8: pass on (default), U+FFFD, or exit 3")
      ->group("Output");
  app.add_switch("--stream", options.stream,
                 "Write whole characters as soon as their ids arrive; else a document at a time")
      ->group("Output");
  app.footer(kFooter);
}

// Decodes each document; without --stream nothing of a document is written before all of it is
// known to be good.
class DecodeSink : public cli::IdSink {
 public:
  // A document held may have `most_held_bytes`.
  DecodeSink(const text::BpeTokenizer& tokenizer, const Options& options, base::OutputFile& out,
             uint64_t most_held_bytes)
      : tokenizer_(tokenizer),
        options_(options),
        out_(out),
        is_file_(out.seekable()),
        most_held_bytes_(most_held_bytes) {}

  void begin(const std::string& where) override {
    where_ = where;
    decoder_.emplace(tokenizer_,
                     text::DecodeOptions{.skip_special = options_.skip_special, .where = where},
                     options_.errors);
  }
  void ids(std::span<const uint32_t> ids) override {
    decoder_->push(ids, text_);
    if (text_.size() > most_held_bytes_) {
      throw base::FormatError(where_ + ": the text of a document is longer than " +
                              std::to_string(most_held_bytes_) +
                              " bytes, the most that is held of a pipe; --stream writes it as it "
                              "comes");
    }
  }
  void end() override {
    decoder_->finish(text_);
    if (options_.lines) {
      text_ += '\n';
    }
    hand_on();
  }
  void pause() override {
    // What a bad id makes void is thrown away there.
    if (options_.stream || is_file_) {
      hand_on();
    }
    out_.flush();
  }

 private:
  void hand_on() {
    out_.write(text_);
    text_.clear();
  }

  const text::BpeTokenizer& tokenizer_;
  const Options& options_;
  base::OutputFile& out_;
  bool is_file_;
  uint64_t most_held_bytes_;
  std::string where_;
  std::optional<text::StreamDecoder> decoder_;
  std::string text_;
};

int run(Options& options, const cli::CommonOptions& common) {
  if (options.files.empty()) {
    options.files.push_back("-");
  }
  bool reads_stdin = false;
  for (const std::string& path : options.files) {
    if (path == "-" && reads_stdin) {
      throw base::UsageError("-: standard input named twice");
    }
    reads_stdin = reads_stdin || path == "-";
  }
  cli::refuse_inputs_as_outputs(
      cli::all_inputs(options.files, cli::tokenizer_inputs(options.tokenizer)), {options.output});
  const text::BpeTokenizer tokenizer = cli::load_tokenizer(options.tokenizer, reads_stdin);
  base::OutputFile out(options.output);
  const uint64_t total_bytes = cli::total_file_bytes(options.files);
  DecodeSink sink(tokenizer, options, out, total_bytes == 0 ? base::kMostPipedBytes : UINT64_MAX);
  cli::ProgressReport progress(common.progress);
  const base::ProgressFn report = progress.callback();
  uint64_t read_bytes = 0;
  const auto on_read = [&](uint64_t bytes) {
    read_bytes += bytes;
    if (report) {
      report({"decode", "bytes", read_bytes, total_bytes});
    }
  };
  try {
    for (const std::string& path : options.files) {
      cli::read_ids(path, options.format, sink, on_read);
    }
  } catch (const base::FormatError&) {
    out.flush();  // on standard output exactly the documents before the bad one appear
    throw;
  }
  progress.clear();
  out.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  cli::ToolApp app("bpe-decode", "Turns token ids into the bytes they stand for.");
  declare(app, options);
  return cli::run_tool(argc, argv, app,
                       [&](const cli::CommonOptions& common) { return run(options, common); });
}
