// SPDX-License-Identifier: Apache-2.0
// bpe-train: learns a byte-level BPE tokenizer from text.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "cli/documents.h"
#include "cli/merges_directory.h"
#include "cli/output_name.h"
#include "cli/run_tool.h"
#include "cli/tokenizer_option.h"
#include "cli/train_report.h"
#include "text/bpe_trainer.h"
#include "text/pre_splitter.h"
#include "text/tokenizer_file.h"
#include "text/vocabulary.h"

namespace {

using namespace netcl;

enum class FileFormat { kJson, kTiktoken, kMerges };

struct Options {
  cli::DocumentOptions documents;
  text::TrainerOptions trainer;
  std::string vocab_size = "32000";  // checked when the number of special tokens is known
  std::string output = "-";
  std::optional<FileFormat> format;  // --format; else by the name of the output
  std::string report_path;
};

const char* const kFooter =
    "Examples:\n"
    "  bpe-train corpus.txt -o tokenizer.json --vocab-size 8192 --special '<|endoftext|>'\n"
    "  bpe-train docs/ --pattern gpt2 --report report.json -o tokenizer.json\n"
    "  zstd -dc big.jsonl.zst | bpe-train --jsonl --text-field body --format tiktoken -o "
    "big.tiktoken\n"
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
    "\n"
    "Exit codes: 0 done, 2 usage, 3 bad input, 4 cannot read or write, 70 a bug of ours\n";

void declare(cli::ToolApp& app, Options& options) {
  text::TrainerOptions& trainer = options.trainer;
  cli::add_document_options(
      app, options.documents,
      "FILES  text to learn from; a directory stands for all regular files below it, '-' or\n"
      "       nothing for standard input. Each file is one document.");
  options.documents.keep_line_ends = true;
  options.documents.take_directories = true;

  app.add_text("-o,--output", options.output, "FILE", "Result; default: standard output")
      ->group("Output");
  app.add_choice<std::optional<FileFormat>>(
         "--format", options.format,
         {{"json", FileFormat::kJson},
          {"tiktoken", FileFormat::kTiktoken},
          {"merges", FileFormat::kMerges}},
         "tokenizer.json (default), a .tiktoken file (default for -o NAME.tiktoken), or vocab.json "
         "and merges.txt in a directory")
      ->group("Output");
  app.add_text("--report", options.report_path, "FILE",
               "JSON with the counts of the run and the seconds of its phases")
      ->group("Output");

  app.add_text("--vocab-size", options.vocab_size, "N",
               "Number of ids: 256 bytes, special tokens and merges; default: 32000")
      ->group("Training");
  CLI::Option* pattern =
      app.add_text("--pattern", trainer.pattern, "NAME",
                   "Split pattern, default cl100k: " + cli::join_names(text::splitter_names()) +
                       ", none (a document is one piece)");
  CLI::Option* regex =
      app.add_text("--pattern-regex", trainer.pattern_regex, "RE", "Any other split pattern");
  pattern->group("Training");
  regex->group("Training")->excludes(pattern);
  app.add_switch("--add-prefix-space", trainer.add_prefix_space,
                 "A document that begins with no space is read as if it did; for gpt2 and none")
      ->group("Training");
  app.add_texts("--special", trainer.specials, "TOK", "A special token; ids in the order given")
      ->group("Training");
  app.add_choice<text::SpecialPlace>(
         "--special-place", trainer.special_place,
         {{"first", text::SpecialPlace::kFirst}, {"last", text::SpecialPlace::kLast}},
         "Special tokens get the first (default) or the last ids")
      ->group("Training");
  app.add_integer("--min-frequency", trainer.min_frequency, 1, UINT64_MAX,
                  "A pair that occurs less often is not merged; default: 1")
      ->group("Training");
  app.add_integer("--max-token-length", trainer.max_token_length, 2, UINT64_MAX,
                  "Longest token in bytes, at least 2; default: no limit")
      ->group("Training");
  app.add_choice<text::ByteOrder>(
         "--byte-order", trainer.byte_order,
         {{"gpt2", text::ByteOrder::kGpt2}, {"raw", text::ByteOrder::kRaw}},
         "Order of the 256 byte tokens: printable form (default) or value")
      ->group("Training");
  CLI::Option* limit = app.add_size("--memory-limit", trainer.memory_limit, 1, uint64_t{1} << 62,
                                    "Most memory of the run; counts that would take more go to "
                                    "files in --temp-dir; default: no limit");
  limit->group("Training");
  app.add_text("--temp-dir", trainer.temp_dir, "DIR",
               "Where these files are made; default: the system's place for temporary files")
      ->group("Training")
      ->needs(limit);
  app.footer(kFooter);
}

// Feeds the trainer batches that are large enough for several threads.
class DocumentCounter {
 public:
  DocumentCounter(text::BpeTrainer& trainer, size_t thread_count)
      : trainer_(trainer), pool_(thread_count) {}

  void take(const cli::DocumentBatch& batch) {
    size_t bytes = 0;
    for (const cli::Document& document : batch.documents) {
      bytes += document.text.size();
    }
    if (bytes < kSmallBatch) {
      keep(batch);
      return;
    }
    flush();
    std::vector<text::TrainerDocument> documents;
    documents.reserve(batch.documents.size());
    for (const cli::Document& document : batch.documents) {
      documents.push_back(
          {.text = document.text, .where = document.where, .is_mapped = document.is_mapped});
    }
    trainer_.add_documents(documents, pool_);
  }

  // Counts what is kept.
  void flush() {
    std::vector<text::TrainerDocument> documents;
    for (const Kept& kept : kept_) {
      documents.push_back({kept.text, kept.where});
    }
    trainer_.add_documents(documents, pool_);
    kept_.clear();
    kept_bytes_ = 0;
  }

 private:
  struct Kept {
    std::string text;
    std::string where;
  };
  static constexpr size_t kSmallBatch = size_t{512} << 10;
  static constexpr size_t kKeptBatch = size_t{4} << 20;

  void keep(const cli::DocumentBatch& batch) {
    for (const cli::Document& document : batch.documents) {
      kept_.push_back({std::string(document.text), document.where});
      kept_bytes_ += document.text.size() + document.where.size() + sizeof(Kept);
    }
    if (kept_bytes_ >= kKeptBatch) {
      flush();
    }
  }

  text::BpeTrainer& trainer_;
  base::ThreadPool pool_;
  std::vector<Kept> kept_;
  size_t kept_bytes_ = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

FileFormat format_of_name(const std::string& output) {
  if (base::has_extension(output, ".tiktoken")) {
    return FileFormat::kTiktoken;
  }
  cli::check_output_name(output, "without --format the name says what is written",
                         {".json", ".tiktoken"});
  return FileFormat::kJson;
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

int run(Options& options, const cli::CommonOptions& common) {
  const FileFormat format = options.format ? *options.format : format_of_name(options.output);
  cli::refuse_same_outputs({options.output, options.report_path});
  cli::check_output_name(options.report_path, "--report writes JSON", {".json", ".txt"});
  options.trainer.vocab_size =
      cli::parse_integer(options.vocab_size, text::min_vocab_size(options.trainer.specials.size()),
                         text::kMaxIdCount, "--vocab-size");
  if (options.trainer.memory_limit != 0 && options.trainer.temp_dir.empty()) {
    options.trainer.temp_dir = temporary_place();
  }
  text::BpeTrainer trainer(options.trainer);
  cli::DocumentReader reader(options.documents);
  // An unwritable path ends the run before it learns.
  const bool is_directory = format == FileFormat::kMerges;
  std::optional<base::OutputFile> out;
  if (is_directory) {
    cli::check_merges_directory(options.output);
  } else {
    out.emplace(options.output);
  }
  std::optional<base::OutputFile> report_out;
  if (!options.report_path.empty()) {
    report_out.emplace(options.report_path);
  }
  cli::ProgressReport progress(common.progress);
  const base::ProgressFn report = progress.callback();

  cli::TrainTimes times;
  const auto count_start = std::chrono::steady_clock::now();
  DocumentCounter counter(trainer, common.thread_count);
  reader.for_each_batch([&](const cli::DocumentBatch& batch) {
    counter.take(batch);
    if (report) {
      report({"count", "bytes", batch.read_bytes, reader.total_bytes()});
    }
  });
  counter.flush();
  times.count_seconds = seconds_since(count_start);

  const auto merge_start = std::chrono::steady_clock::now();
  const text::TrainResult result = std::move(trainer).train(report);
  times.merge_seconds = seconds_since(merge_start);
  progress.clear();

  const auto write_start = std::chrono::steady_clock::now();
  text::VocabMerges files;
  if (is_directory) {
    files = text::to_vocab_merges(result.tokenizer);
  } else {
    out->write(format == FileFormat::kJson ? text::to_tokenizer_json(result.tokenizer)
                                           : text::to_tiktoken(result.tokenizer));
    out->flush();
  }
  times.write_seconds = seconds_since(write_start);
  spdlog::info("{} documents, {} bytes, {} distinct pieces, {} merges, {} tokens",
               result.report.documents, result.report.bytes, result.report.distinct_pre_tokens,
               result.report.merges, result.tokenizer.vocab_size());
  if (result.report.stopped != text::StopReason::kVocabSize) {
    spdlog::warn("{} tokens of {}: {}", result.tokenizer.vocab_size(), options.trainer.vocab_size,
                 result.report.stopped == text::StopReason::kNoPairs
                     ? "no pair is left to merge; give more text or a smaller --vocab-size"
                     : "the pairs that are left occur less often than --min-frequency");
  }
  if (is_directory) {
    cli::write_merges_directory(options.output, files);
  }
  if (report_out) {
    report_out->write(cli::train_report_json(result, options.trainer, times));
    report_out->commit();
  }
  if (out) {
    out->commit();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  cli::ToolApp app("bpe-train", "Learns a byte-level BPE tokenizer from text.");
  declare(app, options);
  return cli::run_tool(argc, argv, app,
                       [&](const cli::CommonOptions& common) { return run(options, common); });
}
