// SPDX-License-Identifier: Apache-2.0
// bpe-convert: a tokenizer into another file format, with the proof that its ids stay equal.
#include <optional>

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "cli/convert_run.h"
#include "cli/input_check.h"
#include "cli/merges_directory.h"
#include "cli/output_name.h"
#include "cli/run_tool.h"
#include "cli/tokenizer_info.h"
#include "cli/tokenizer_option.h"
#include "cli/tool_app.h"
#include "text/tokenizer_file.h"

namespace {

using namespace netcl;

struct Options {
  cli::TokenizerOption tokenizer;
  cli::ConvertOptions convert;
  std::optional<cli::ConvertTarget> target;
  bool info = false;
};

const char* const kFooter =
    "Examples:\n"
    "  bpe-convert -t cl100k_base.tiktoken --pattern cl100k -o tokenizer.json\n"
    "  bpe-convert -t tokenizer.json -o model.tiktoken --specials-out specials.json\n"
    "  bpe-convert -t tokenizer.json --to merges -o model/\n"
    "  bpe-convert -t tekken.json --info\n"
    "\n"
    "Before anything is written the result is read back and compared: every id, the bytes of "
    "every\n"
    "token, the added tokens, and texts in many scripts, with --verify a text of yours too, must\n"
    "encode and decode alike. The first difference is named otherwise, with exit code 1, and\n"
    "nothing is written.\n"
    "A .tiktoken file and a vocab.json with merges.txt hold neither pattern nor normalizer; the\n"
    "options that bring them back are named. What no option brings back is refused.\n"
    "\n"
    "Exit codes: 0 done, 1 the ids would differ, 2 usage, 3 bad input, 4 cannot read or write,\n"
    "5 out of memory, 70 a bug of ours\n";

void declare(cli::ToolApp& app, Options& options) {
  cli::add_tokenizer_options(app, options.tokenizer);
  app.add_text("-o,--output", options.convert.output, "OUT",
               "Result: a file, or for merges a directory; required unless --info")
      ->group("Output");
  app.add_word(
         "--to", {"json", "tiktoken", "merges"},
         "tokenizer.json, .tiktoken, or vocab.json and merges.txt; default: by the name of "
         "OUT (.json, .tiktoken, a directory)",
         [&options](size_t index) { options.target = static_cast<cli::ConvertTarget>(index); })
      ->group("Output");
  app.add_text("--specials-out", options.convert.specials_out_path, "FILE",
               "JSON of the special tokens for --specials, when tiktoken or merges need it")
      ->group("Output");
  app.add_switch("--info", options.info, "Print what the tokenizer is, as JSON")->group("Output");
  app.add_text("--verify", options.convert.verify_path, "FILE",
               "One more text that must encode alike; '-' is standard input")
      ->group("Input");
  app.footer(kFooter);
}

// The target by --to or by the name of the output.
void set_target(Options& options) {
  cli::ConvertOptions& convert = options.convert;
  if (!options.target) {
    options.target = cli::target_of_name(convert.output);
  }
  if (!options.target) {
    throw base::UsageError("--output: '" + convert.output +
                           "' does not tell the format; end it in .json or .tiktoken, name a "
                           "directory, or give --to");
  }
  convert.target = *options.target;
  switch (convert.target) {
    case cli::ConvertTarget::kJson:
      cli::check_output_name(convert.output, "--to json writes a tokenizer.json", {".json"});
      break;
    case cli::ConvertTarget::kTiktoken:
      cli::check_output_name(convert.output, "--to tiktoken writes ranks",
                             {".tiktoken", ".model", ".txt"});
      break;
    case cli::ConvertTarget::kMerges:
      break;  // a directory may be called as it likes
  }
  cli::refuse_same_outputs({convert.output, convert.specials_out_path, options.info ? "-" : ""});
  std::vector<std::string> inputs = cli::tokenizer_inputs(options.tokenizer);
  inputs.push_back(convert.verify_path);
  std::vector<std::string> outputs = {convert.output, convert.specials_out_path};
  if (convert.target == cli::ConvertTarget::kMerges) {
    outputs = cli::merges_directory_files(convert.output);
    outputs.push_back(convert.specials_out_path);
  }
  cli::refuse_inputs_as_outputs(inputs, outputs);
  cli::check_output_name(convert.specials_out_path, "--specials-out writes JSON",
                         {".json", ".txt"});
}

int run(Options& options, const cli::CommonOptions& common) {
  cli::ConvertOptions& convert = options.convert;
  const bool converts = !convert.output.empty();
  if (!converts && !options.info) {
    throw base::UsageError("--output is required, unless --info is given");
  }
  if (converts) {
    set_target(options);
  } else if (options.target || !convert.specials_out_path.empty() || !convert.verify_path.empty()) {
    throw base::UsageError("--to, --specials-out and --verify need --output");
  }
  const text::TokenizerFile file =
      cli::load_tokenizer_file(options.tokenizer, convert.verify_path == "-");
  base::ThreadPool pool(common.thread_count);
  const std::string info = options.info ? cli::tokenizer_info_json(file, pool) : std::string();
  if (converts) {
    convert.info = info;
    cli::ProgressReport progress(common.progress);
    const std::optional<std::string> difference =
        cli::convert_tokenizer(file.tokenizer, convert, pool, progress.callback());
    progress.clear();
    if (difference) {
      spdlog::error("{}: not written: {}", base::display_path(convert.output), *difference);
      return 1;
    }
  } else {
    base::write_file("-", info);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  cli::ToolApp app("bpe-convert", "Turns a tokenizer into another file format with equal ids.");
  declare(app, options);
  return cli::run_tool(argc, argv, app,
                       [&](const cli::CommonOptions& common) { return run(options, common); });
}
