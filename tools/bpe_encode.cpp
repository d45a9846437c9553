// SPDX-License-Identifier: Apache-2.0
// bpe-encode: text to token ids.
#include <chrono>
#include <cstdio>

#include "cli/encode_run.h"
#include "cli/tool_app.h"

namespace {

using namespace netcl;

struct Options {
  cli::EncodeRunOptions run;
  bool stats = false;
};

const char* const kFooter =
    "Examples:\n"
    "  printf 'Hello world' | bpe-encode -t tokenizer.json\n"
    "  bpe-encode -t cl100k_base.tiktoken --pattern cl100k --special plain book.txt -o book.npy\n"
    "  bpe-encode -t tokenizer.json --jsonl --format jsonl --append '<|endoftext|>' docs.jsonl\n"
    "\n"
    "What --special does with the input 'a<|endoftext|>b', when <|endoftext|> is a special token:\n"
    "  refuse  exit 3, naming byte 1 (the default); --allow-special '<|endoftext|>' lets it "
    "through\n"
    "  plain   ids of the characters '<', '|', 'end' ...: the text means nothing special\n"
    "  allow   a, the id of <|endoftext|>, b\n"
    "  none    as plain, and added tokens that are not special are not recognised either\n"
    "\n"
    "--template, --truncate and --pad apply what a tokenizer.json says, for single texts, as "
    "Hugging\n"
    "Face does; without them none of it is applied. A file that does not say it is refused.\n"
    "\n"
    "Formats: text = ids with a space between, one document a line; json = [1,2], or [[1],[2]] "
    "for\n"
    "several files, --lines and --jsonl; jsonl = {\"ids\":[1,2]} a line; npy = one <u4 array of "
    "all\n"
    "documents; u16 and u32 = little-endian numbers. With --lines a row has no final line end, "
    "and\n"
    "bpe-decode --lines puts it back.\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 bad input, 4 cannot read or write, 5 out of memory, 70 a bug "
    "of\n"
    "ours\n";

void declare(cli::ToolApp& app, Options& options) {
  cli::EncodeRunOptions& run = options.run;
  run.encode.refused_hint =
      "--allow-special or --special allow lets it through, --special plain reads it as text";
  cli::add_tokenizer_options(app, run.tokenizer);
  cli::add_document_options(
      app, run.documents,
      "FILES  text to encode; '-' or nothing is standard input. Each file is\n"
      "       one document.");
  app.add_text("-o,--output", run.output, "FILE", "Result; default: standard output")
      ->group("Output");
  app.add_choice<cli::IdFormat>(
         "--format", run.format, cli::id_format_choices(false),
         "Form of the ids; default: what -o is named (NAME.npy, .json, .jsonl, .u16,\n"
         ".u32), else text")
      ->group("Output");
  app.add_switch("--count", run.count, "Write the number of ids of each document")->group("Output");
  app.add_switch("--pieces", run.pieces,
                 "Write what each id stands for beside it: as JSON, one id a line")
      ->group("Output");
  app.add_integer("--limit", run.limit, 0, UINT32_MAX,
                  "At most N ids a document, cut where a character ends")
      ->each([&run](const std::string&) { run.has_limit = true; })
      ->group("Output");
  app.add_text("--append", run.append, "TOK",
               "End every document with this token; counted by --limit")
      ->each([&run](const std::string&) { run.has_append = true; })
      ->group("Output");
  app.add_switch("--template", run.add_template,
                 "Put the tokens of the file's post-processor around each document (BOS, EOS ...)")
      ->group("Sequence");
  app.add_switch("--truncate", run.truncate,
                 "Cut documents as the file's 'truncation' says; the tokens of --template and\n"
                 "--append count")
      ->group("Sequence");
  app.add_switch("--pad", run.pad,
                 "Fill documents up as the file's 'padding' says; for BatchLongest all documents\n"
                 "are one batch, held in memory until the end of the input")
      ->group("Sequence");
  app.add_size("--cache", run.encode.cache_bytes, uint64_t{1} << 20, uint64_t{1} << 36,
               "Memory for ids of pieces seen before, of each thread; default: 128M")
      ->group("Limits");
  app.add_size("--max-piece", run.encode.max_piece, text::kLeastMaxPiece, text::kMostMaxPiece,
               "Longest piece without a place to split; where there is a normalizer, also the\n"
               "longest text between added tokens that it is given or makes (text for a normal\n"
               "form such as NFC is cut into parts first where that changes nothing). A longer\n"
               "one is bad input. A byte of it takes 4 to 10 bytes of memory, on characters\n"
               "(Llama 2) 24 to 40 (more with --spans). Default: 1G")
      ->group("Limits");
  app.add_text("--offsets", run.offsets_path, "FILE",
               ".npy <u8 [documents + 1]: where each document's ids begin")
      ->group("Output");
  app.add_text("--spans", run.spans_path, "FILE",
               ".npy <u8 [ids, 2]: the bytes of its document that each id was made from")
      ->group("Output");
  app.add_switch("--stats", options.stats, "Sizes, time and speed on standard error")
      ->group("Output");
  app.add_choice<text::SpecialPolicy>("--special", run.encode.special,
                                      {{"refuse", text::SpecialPolicy::kRefuse},
                                       {"plain", text::SpecialPolicy::kPlain},
                                       {"allow", text::SpecialPolicy::kAllow},
                                       {"none", text::SpecialPolicy::kNone}},
                                      "Text of special tokens in the input; see below")
      ->group("Special tokens");
  app.add_texts("--allow-special", run.encode.allowed, "TOK",
                "Let this special token through under refuse and plain")
      ->group("Special tokens");
  app.footer(kFooter);
}

int run(const Options& options, const cli::CommonOptions& common) {
  const auto start = std::chrono::steady_clock::now();
  const cli::EncodeStats stats = cli::encode_documents(options.run, common);
  if (options.stats) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double bytes = static_cast<double>(stats.bytes);
    std::fprintf(stderr,
                 "bpe-encode: stats: %llu documents, %llu bytes, %llu ids, %.3f bytes per id, "
                 "%.3f s, %.1f MB/s\n",
                 static_cast<unsigned long long>(stats.documents),
                 static_cast<unsigned long long>(stats.bytes),
                 static_cast<unsigned long long>(stats.ids),
                 stats.ids == 0 ? 0.0 : bytes / static_cast<double>(stats.ids), elapsed.count(),
                 bytes / 1e6 / elapsed.count());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  cli::ToolApp app("bpe-encode", "Turns text into token ids.");
  declare(app, options);
  return cli::run_tool(argc, argv, app,
                       [&](const cli::CommonOptions& common) { return run(options, common); });
}
