// SPDX-License-Identifier: Apache-2.0
#include "train/train_options.h"

#include <filesystem>
#include <string>
#include <system_error>

#include <spdlog/spdlog.h>

#include "base/ascii.h"
#include "base/error.h"
#include "cli/output_name.h"
#include "cli/run_tool.h"
#include "cli/tokenizer_option.h"
#include "cli/tool_app.h"
#include "text/pre_splitter.h"

namespace netcl::train {

namespace {

const char* const kFooter =
    "Examples:\n"
    "  bpe-train corpus.txt -o tokenizer.json --vocab-size 8192 --special '<|endoftext|>'\n"
    "  bpe-train docs/ --pattern gpt2 --report report.json -o tokenizer.json\n"
    "  zstd -dc big.jsonl.zst | bpe-train --jsonl --text-field body --format tiktoken -o "
    "big.tiktoken\n"
    "  bpe-train part1/ --counts-out 1.counts      # on one machine, part2/ on another, then\n"
    "  bpe-train --from-counts 1.counts 2.counts -o tokenizer.json\n"
    "  bpe-train huge/ --dump-every 1000 -o tokenizer.json     # and when it was interrupted\n"
    "  bpe-train --resume tokenizer.json.dump -o tokenizer.json\n"
    "\n"
    "The most frequent pair of neighbours becomes a token, again and again; ties go to the "
    "smallest\n"
    "(left id, right id). The result does not depend on threads or on the order of the files.\n"
    "Threads share files and lines. A long text is shared too, cut where a line that begins with "
    "a\n"
    "letter follows one that ends in no white space, which changes no piece; but not with "
    "--pattern\n"
    "none, --pattern-regex, --add-prefix-space or a --special text with a line end inside.\n"
    "The text of a --special token is cut out of the corpus. A .tiktoken file or a vocab.json "
    "holds\n"
    "neither pattern nor special tokens: name them again with bpe-encode --pattern and "
    "--specials.\n"
    "Counts hold pattern, prefix space and special tokens; files of different ones are refused.\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 bad input, 4 cannot read or write, 70 a bug of ours\n";

void declare_output_options(cli::ToolApp& app, TrainOptions& options) {
  app.add_text("-o,--output", options.output, "FILE",
               "The tokenizer; default: standard output, with --counts-out none")
      ->group("Output");
  options.merge_options.push_back(app.add_choice<std::optional<FileFormat>>(
      "--format", options.format,
      {{"json", FileFormat::kJson},
       {"tiktoken", FileFormat::kTiktoken},
       {"merges", FileFormat::kMerges}},
      "tokenizer.json (default), a .tiktoken file (default for -o NAME.tiktoken), or vocab.json "
      "and merges.txt in a directory"));
  options.merge_options.back()->group("Output");
  app.add_text("--counts-out", options.counts_out, "FILE",
               "The counted pre-tokens, for --from-counts; '-' is standard output. Without -o "
               "nothing is merged")
      ->group("Output");
  app.add_text("--report", options.report_path, "FILE",
               "JSON with the counts of the run, the seconds of its phases, its memory and options")
      ->group("Output");
}

void declare_counting_options(cli::ToolApp& app, TrainOptions& options) {
  text::TrainerOptions& trainer = options.trainer;
  options.pattern_option =
      app.add_text("--pattern", trainer.pattern, "NAME",
                   "Split pattern, default cl100k: " + cli::join_names(text::splitter_names()) +
                       ", none (a document is one piece)");
  options.pattern_option->group("Training");
  options.regex_option =
      app.add_text("--pattern-regex", trainer.pattern_regex, "RE", "Any other split pattern");
  options.regex_option->group("Training")->excludes(options.pattern_option);
  options.prefix_space_option = app.add_switch(
      "--add-prefix-space", trainer.add_prefix_space,
      "A document that begins with no space is read as if it did; for gpt2 and none");
  options.prefix_space_option->group("Training");
  options.special_option = app.add_texts("--special", trainer.specials, "TOK",
                                         "A special token; ids in the order given");
  options.special_option->group("Training");
}

void declare_merge_options(cli::ToolApp& app, TrainOptions& options) {
  text::TrainerOptions& trainer = options.trainer;
  options.vocab_size_option =
      app.add_text("--vocab-size", options.vocab_size, "N",
                   "Number of ids: 256 bytes, special tokens and merges; default: 32000");
  options.special_place_option = app.add_choice<text::SpecialPlace>(
      "--special-place", trainer.special_place,
      {{"first", text::SpecialPlace::kFirst}, {"last", text::SpecialPlace::kLast}},
      "Special tokens get the first (default) or the last ids");
  options.min_frequency_option =
      app.add_integer("--min-frequency", trainer.min_frequency, 1, UINT64_MAX,
                      "A pair that occurs less often is not merged; default: 1");
  options.max_token_length_option =
      app.add_integer("--max-token-length", trainer.max_token_length, 2, UINT64_MAX,
                      "Longest token in bytes, at least 2; default: no limit");
  options.byte_order_option = app.add_choice<text::ByteOrder>(
      "--byte-order", trainer.byte_order,
      {{"gpt2", text::ByteOrder::kGpt2}, {"raw", text::ByteOrder::kRaw}},
      "Order of the 256 byte tokens: printable form (default) or value");
  for (CLI::Option* option :
       {options.vocab_size_option, options.special_place_option, options.min_frequency_option,
        options.max_token_length_option, options.byte_order_option}) {
    option->group("Training");
    options.merge_options.push_back(option);
  }
}

void declare_memory_options(cli::ToolApp& app, TrainOptions& options) {
  CLI::Option* limit =
      app.add_size("--memory-limit", options.trainer.memory_limit, 1, uint64_t{1} << 62,
                   "Most memory of the run; counts that would take more go to "
                   "files in --temp-dir; default: no limit");
  limit->group("Training");
  app.add_text("--temp-dir", options.trainer.temp_dir, "DIR",
               "Where these files are made; default: the system's place for temporary files")
      ->group("Training")
      ->needs(limit);
}

std::string temporary_place() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::temp_directory_path(error);
  if (error) {
    throw base::IoError(path.string() + ": no directory for temporary files: " + error.message() +
                        "; --temp-dir names one");
  }
  return path.string();
}

void declare_dump_options(cli::ToolApp& app, TrainOptions& options) {
  options.merge_options.push_back(
      app.add_integer("--dump-every", options.dump_every, 1, UINT64_MAX,
                      "Keep counts and merges in a file, every N merges, for --resume"));
  options.merge_options.back()->group("Interruptions");
  options.merge_options.push_back(
      app.add_text("--dump", options.dump_path, "FILE",
                   "That file; default: the name of -o and .dump, or the one that is resumed"));
  options.merge_options.back()->group("Interruptions");
  app.add_text(
         "--resume", options.resume_path, "FILE",
         "Go on from such a file to the result of the run that wrote it; its options need not "
         "be given again, and --vocab-size may be another")
      ->group("Interruptions");
}

// Options that say how text is read, where none is.
void refuse_text_options(const cli::DocumentOptions& documents, const char* instead) {
  const char* name = documents.lines                 ? "--lines"
                     : documents.jsonl               ? "--jsonl"
                     : !documents.text_field.empty() ? "--text-field"
                     : documents.raw                 ? "--raw"
                                                     : nullptr;
  if (name != nullptr) {
    throw base::UsageError(std::string(name) + " says how text is read; " + instead);
  }
}

// Whether merges are written to a dump that is not the one that is resumed.
bool begins_dump(const TrainOptions& options) {
  return options.dump_every > 0 && wants_tokenizer(options) &&
         dump_path(options) != options.resume_path;
}

// Throws UsageError for a result whose name promises another format.
void check_tokenizer_name(const TrainOptions& options) {
  if (!options.format) {
    cli::check_output_name(options.output, "without --format the name says what is written",
                           {".json", ".tiktoken"});
    return;
  }
  switch (*options.format) {
    case FileFormat::kJson:
      cli::check_output_name(options.output, "--format json writes a tokenizer.json", {".json"});
      break;
    case FileFormat::kTiktoken:
      cli::check_output_name(options.output, "--format tiktoken writes ranks",
                             {".tiktoken", ".model", ".txt"});
      break;
    case FileFormat::kMerges:
      break;  // a directory may be called as it likes
  }
}

void check_output_names(const TrainOptions& options) {
  cli::refuse_same_outputs(output_files(options));
  cli::check_output_name(options.dump_path, "--dump writes counts and merges", {".txt", ".tsv"});
  cli::check_output_name(options.report_path, "--report writes JSON", {".json", ".txt"});
  cli::check_output_name(options.counts_out, "--counts-out writes words and counts",
                         {".txt", ".tsv"});
  if (wants_tokenizer(options)) {
    check_tokenizer_name(options);
  }
}

}  // namespace

void declare_options(cli::ToolApp& app, TrainOptions& options) {
  cli::add_document_options(
      app, options.documents,
      "FILES  text to learn from; a directory stands for all regular files below it, '-' or\n"
      "       nothing for standard input. Each file is one document.");
  options.documents.keep_line_ends = true;
  options.documents.most_piped_bytes = UINT64_MAX;  // a corpus is as long as memory allows
  options.documents.take_directories = true;
  app.add_texts("--from-counts", options.from_counts, "FILE",
                "Learn from what --counts-out wrote, all files added up; with it FILES are such "
                "files as well")
      ->group("Input");
  declare_output_options(app, options);
  declare_counting_options(app, options);
  declare_merge_options(app, options);
  declare_memory_options(app, options);
  declare_dump_options(app, options);
  app.footer(kFooter);
}

bool wants_tokenizer(const TrainOptions& options) {
  return !options.output.empty() || options.counts_out.empty();
}

void check_options(TrainOptions& options) {
  if (!options.from_counts.empty()) {
    refuse_text_options(options.documents, "with --from-counts all files are counts");
  }
  if (!options.resume_path.empty()) {
    refuse_text_options(options.documents, "--resume has the counts in its file");
    if (!options.documents.files.empty() || !options.from_counts.empty()) {
      throw base::UsageError("--resume takes no other input; the counts are in its file");
    }
  }
  if (options.dump_every == 0 && !options.dump_path.empty()) {
    throw base::UsageError("--dump wants --dump-every N");
  }
  if (options.trainer.memory_limit != 0 && options.trainer.temp_dir.empty()) {
    options.trainer.temp_dir = temporary_place();
  }
  check_output_names(options);
  if (!wants_tokenizer(options)) {
    for (const CLI::Option* option : options.merge_options) {
      if (option->count() > 0) {
        spdlog::warn("{} changes no counts; give it to the run that merges them",
                     option->get_name());
      }
    }
  }
}

std::vector<std::string> counts_files(const TrainOptions& options) {
  std::vector<std::string> files = options.from_counts;
  files.insert(files.end(), options.documents.files.begin(), options.documents.files.end());
  return files;
}

void take_counts_header(const text::CountsHeader& header, const std::string& where,
                        TrainOptions& options) {
  text::CountsHeader wanted = header;
  const text::CountsHeader given = text::counts_header_of(options.trainer);
  if (options.pattern_option->count() > 0 || options.regex_option->count() > 0) {
    wanted.pattern = given.pattern;
    wanted.pattern_regex = given.pattern_regex;
  }
  if (options.prefix_space_option->count() > 0) {
    wanted.add_prefix_space = given.add_prefix_space;
  }
  if (options.special_option->count() > 0) {
    wanted.specials = given.specials;
  }
  if (wanted != header) {
    throw base::UsageError(where + ": " + text::describe_difference(header, wanted) +
                           "; leave the option out, which takes it from the file, or count again");
  }
  text::apply_counts_header(header, options.trainer);
}

void take_dump_options(const text::TrainerOptions& dumped, const std::string& where,
                       TrainOptions& options) {
  const text::TrainerOptions given = options.trainer;
  const auto check = [&](const CLI::Option* option, bool same) {
    if (option->count() > 0 && !same) {
      throw base::UsageError(where + ": was begun with another " + option->get_name() +
                             "; leave the option out, which takes it from the file");
    }
  };
  take_counts_header(text::counts_header_of(dumped), where, options);
  check(options.special_place_option, given.special_place == dumped.special_place);
  check(options.min_frequency_option, given.min_frequency == dumped.min_frequency);
  check(options.max_token_length_option, given.max_token_length == dumped.max_token_length);
  check(options.byte_order_option, given.byte_order == dumped.byte_order);
  options.trainer = dumped;
  options.trainer.memory_limit = given.memory_limit;  // which no dump has
  options.trainer.temp_dir = given.temp_dir;
  if (options.vocab_size_option->count() == 0) {
    options.vocab_size = std::to_string(dumped.vocab_size);
  }
}

FileFormat format_of(const TrainOptions& options) {
  if (options.format) {
    return *options.format;
  }
  return base::has_extension(options.output, ".tiktoken") ? FileFormat::kTiktoken
                                                          : FileFormat::kJson;
}

std::vector<std::string> output_files(const TrainOptions& options) {
  std::vector<std::string> files = {options.counts_out, options.report_path};
  if (begins_dump(options)) {
    files.push_back(dump_path(options));
  }
  if (wants_tokenizer(options)) {
    const std::string path = options.output.empty() ? "-" : options.output;
    const std::vector<std::string> tokenizer = tokenizer_files(path, format_of(options));
    files.insert(files.end(), tokenizer.begin(), tokenizer.end());
    if (format_of(options) == FileFormat::kMerges) {
      files.push_back(path);  // the directory
    }
  }
  return files;
}

std::string dump_path(const TrainOptions& options) {
  if (!options.dump_path.empty()) {
    return options.dump_path;
  }
  if (!options.resume_path.empty()) {
    return options.resume_path;
  }
  if (options.output.empty() || options.output == "-" || options.output.ends_with('/')) {
    throw base::UsageError("--dump-every wants --dump FILE or -o FILE, which its file is beside");
  }
  return options.output + ".dump";
}

}  // namespace netcl::train
