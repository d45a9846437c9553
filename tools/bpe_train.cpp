// SPDX-License-Identifier: Apache-2.0
// bpe-train: learns a byte-level BPE tokenizer from text, or counts text for a later run.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <malloc.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "cli/documents.h"
#include "cli/input_check.h"
#include "cli/run_tool.h"
#include "cli/tool_app.h"
#include "cli/train_report.h"
#include "text/bpe_trainer.h"
#include "text/counts_file.h"
#include "text/memory_limit_error.h"
#include "text/vocabulary.h"
#include "train/corpus_count.h"
#include "train/counts_input.h"
#include "train/counts_output.h"
#include "train/dump_file.h"
#include "train/tokenizer_output.h"
#include "train/train_options.h"

namespace {

using namespace netcl;
using train::TrainOptions;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What is counted.
struct Input {
  std::optional<cli::DocumentReader> text;
  std::optional<train::CountsInput> counts;
  std::optional<train::DumpInput> dump;
};

// All files that the run reads.
std::vector<std::string> input_files(const TrainOptions& options, const Input& input) {
  if (input.dump) {
    return {options.resume_path};
  }
  return input.counts ? train::counts_files(options) : input.text->files();
}

text::BpeTrainer make_trainer(TrainOptions& options, const Input& input) {
  const auto take_vocab_size = [&](const std::string& name) {
    options.trainer.vocab_size = cli::parse_integer(
        options.vocab_size, text::min_vocab_size(options.trainer.specials.size()),
        text::kMaxIdCount, name);
  };
  const bool is_size_dumped = input.dump && options.vocab_size_option->count() == 0;
  if (!is_size_dumped) {
    take_vocab_size("--vocab-size");
  }
  if (!input.counts && !input.dump) {
    return text::BpeTrainer(options.trainer);
  }
  // Other options were taken from the file, and what is refused of them is its fault.
  const std::string where = base::at_line(
      input.dump ? input.dump->path() : base::display_path(train::counts_files(options).front()),
      1);
  try {
    if (is_size_dumped) {
      take_vocab_size("field 'vocab_size'");
    }
    return text::BpeTrainer(options.trainer);
  } catch (const text::MemoryLimitError&) {
    throw;
  } catch (const base::UsageError& error) {
    throw base::FormatError(where + ": " + error.what());
  } catch (const base::FormatError& error) {
    throw base::FormatError(where + ": " + error.what());
  }
}

// Before the first merge: a new dump gets what is known so far, a resumed one goes on.
void begin_dump(const std::string& path, const Input& input, const TrainOptions& options,
                const text::BpeTrainer& trainer, std::optional<train::DumpOutput>& out) {
  if (out) {
    out->begin(trainer, options.trainer);
    if (input.dump) {
      for (const text::TrainedMerge& merge : input.dump->merges()) {
        out->add(merge);
      }
    }
  } else if (!path.empty()) {
    out.emplace(*input.dump, options.dump_every);
  }
}

void log_result(const text::CountsTotals& corpus, const text::TrainResult* result,
                const TrainOptions& options) {
  if (result == nullptr) {
    spdlog::info("{} documents, {} bytes, {} distinct pieces", corpus.documents, corpus.bytes,
                 corpus.words);
    return;
  }
  spdlog::info("{} documents, {} bytes, {} distinct pieces, {} merges, {} tokens", corpus.documents,
               corpus.bytes, corpus.words, result->report.merges, result->tokenizer.vocab_size());
  if (result->report.stopped != text::StopReason::kVocabSize) {
    spdlog::warn("{} tokens of {}: {}", result->tokenizer.vocab_size(), options.trainer.vocab_size,
                 result->report.stopped == text::StopReason::kNoPairs
                     ? "no pair is left to merge; give more text or a smaller --vocab-size"
                     : "the pairs that are left occur less often than --min-frequency");
  }
}

// Memory that is free goes back to the system, whatever was allocated before.
void return_free_memory() {
  constexpr int kMapFrom = 1 << 17;  // bytes
  ::mallopt(M_MMAP_THRESHOLD, kMapFrom);
  ::mallopt(M_TRIM_THRESHOLD, kMapFrom);
}

int run(TrainOptions& options, const cli::CommonOptions& common) {
  train::check_options(options);
  if (options.trainer.memory_limit != 0) {
    return_free_memory();
  }
  Input input;
  if (!options.from_counts.empty()) {
    const std::vector<std::string> files = train::counts_files(options);
    input.counts.emplace(files);
    train::take_counts_header(input.counts->header(), base::display_path(files.front()), options);
  }
  if (!options.resume_path.empty()) {
    input.dump.emplace(options.resume_path);
    train::take_dump_options(input.dump->options(), input.dump->path(), options);
  }
  text::BpeTrainer trainer = make_trainer(options, input);
  // What cannot be read or written ends the run before any work.
  if (!input.counts && !input.dump) {
    input.text.emplace(options.documents);
    cli::check_inputs(input.text->files(), options.documents.raw);
  }
  cli::refuse_inputs_as_outputs(input_files(options, input), train::output_files(options));
  std::optional<train::TokenizerOutput> out;
  std::optional<base::OutputFile> counts_out;
  std::optional<base::OutputFile> report_out;
  std::optional<train::DumpOutput> dump_out;
  if (train::wants_tokenizer(options)) {
    out.emplace(options.output, train::format_of(options), options.trainer);
  } else if (const auto wrong = train::describe_ambiguous_special(options.trainer)) {
    spdlog::warn("{}; only --format tiktoken will take these counts", *wrong);
  }
  if (!options.counts_out.empty()) {
    counts_out.emplace(options.counts_out);
  }
  const std::string dump =
      out && options.dump_every > 0 ? train::dump_path(options) : std::string();
  if (!dump.empty() && dump != options.resume_path) {
    dump_out.emplace(dump, options.dump_every);
  }
  if (!options.report_path.empty()) {
    report_out.emplace(options.report_path);
  }
  cli::ProgressReport progress(common.progress);
  const base::ProgressFn report = progress.callback();

  cli::TrainTimes times;
  const auto count_start = std::chrono::steady_clock::now();
  if (input.counts) {
    input.counts->add_to(trainer, report);
  } else if (input.dump) {
    input.dump->add_to(trainer, report);
  } else {
    train::count_corpus(*input.text, trainer, common.thread_count,
                        options.trainer.memory_limit != 0, report);
  }
  times.count_seconds = seconds_since(count_start);
  if (counts_out) {
    const auto write_start = std::chrono::steady_clock::now();
    train::write_counts(
        trainer,
        text::make_header_line(text::kCountsMagic, text::kCountsVersion,
                               text::counts_header_json(text::counts_header_of(options.trainer))),
        *counts_out);
    // Whole in themselves, and hours of work on a large corpus: they stay, whatever becomes of the
    // merging.
    counts_out->commit();
    times.write_seconds += seconds_since(write_start);
  }

  const text::CountsTotals corpus = trainer.totals();
  std::optional<text::TrainResult> result;
  if (out) {
    const auto merge_start = std::chrono::steady_clock::now();
    text::MergeLog log;
    if (input.dump) {
      log.known = input.dump->merges();
      log.known_where = [&](size_t index) { return input.dump->where(index); };
    }
    begin_dump(dump, input, options, trainer, dump_out);
    if (dump_out) {
      log.learned = [&](const text::TrainedMerge& merge) { dump_out->add(merge); };
    }
    result.emplace(std::move(trainer).train(report, log));
    if (dump_out) {
      dump_out->finish();
    }
    times.merge_seconds = seconds_since(merge_start);
  }
  progress.clear();
  if (out) {
    const auto write_start = std::chrono::steady_clock::now();
    out->write(result->tokenizer);
    times.write_seconds += seconds_since(write_start);
  }
  log_result(corpus, result ? &*result : nullptr, options);
  if (report_out) {
    const bool from_counts = input.counts || input.dump;
    report_out->write(cli::train_report_json(
        {.options = options.trainer,
         .corpus = corpus,
         .result = result ? &*result : nullptr,
         .times = times,
         .input = from_counts               ? "counts"
                  : options.documents.jsonl ? "jsonl"
                  : options.documents.lines ? "lines"
                                            : "files",
         .file_count = input.counts ? input.counts->file_count()
                       : input.dump ? 1
                                    : input.text->input_count(),
         .thread_count =
             common.thread_count == 0 ? base::default_thread_count() : common.thread_count}));
    report_out->flush();
  }
  std::vector<base::OutputFile*> others;
  if (report_out) {
    others.push_back(&*report_out);
  }
  if (out) {
    out->commit(others);
  } else {
    base::commit_all(others);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  TrainOptions options;
  cli::ToolApp app("bpe-train", "Learns a byte-level BPE tokenizer from text.");
  train::declare_options(app, options);
  return cli::run_tool(argc, argv, app,
                       [&](const cli::CommonOptions& common) { return run(options, common); });
}
