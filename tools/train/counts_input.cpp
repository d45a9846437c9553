// SPDX-License-Identifier: Apache-2.0
#include "train/counts_input.h"

#include <algorithm>

#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/documents.h"
#include "text/counts_file.h"
#include "text/memory_limit_error.h"

namespace netcl::train {

namespace {

constexpr uint64_t kReportEvery = 1 << 14;  // words

bool can_open_again(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

void add_counts(base::LineReader& lines, text::BpeTrainer& trainer,
                const std::function<void(uint64_t)>& report) {
  text::CountsReader counts(lines);
  try {
    while (counts.next()) {
      trainer.add_pre_token(counts.word(), counts.count());
      if (counts.totals().words % kReportEvery == 0) {
        report(lines.passed_bytes());
      }
    }
    trainer.add_counted_corpus(counts.totals().documents, counts.totals().bytes);
  } catch (const text::MemoryLimitError&) {
    throw;
  } catch (const base::UsageError& error) {  // a sum: nothing that the options could change
    throw base::FormatError(lines.where() + ": " + error.what());
  }
}

CountsInput::CountsInput(const std::vector<std::string>& paths)
    : paths_(paths), opened_(paths.size()), total_bytes_(cli::total_file_bytes(paths)) {
  if (std::count(paths_.begin(), paths_.end(), "-") > 1) {
    throw base::UsageError("-: standard input named twice");
  }
  for (size_t i = 0; i < paths_.size(); ++i) {
    auto lines = std::make_unique<base::LineReader>(paths_[i]);
    const text::CountsHeader header = text::read_counts_header(*lines);
    if (i == 0) {
      header_ = header;
    } else if (header != header_) {
      throw base::FormatError(
          lines->path() + ": was counted otherwise than " + base::display_path(paths_[0]) + ": " +
          text::describe_difference(header, header_) + "; count both with the same options");
    }
    if (!can_open_again(paths_[i])) {
      opened_[i] = std::move(lines);
    }
  }
}

void CountsInput::add_to(text::BpeTrainer& trainer, const base::ProgressFn& progress) {
  uint64_t done_bytes = 0;  // of the files before
  const auto report = [&](uint64_t bytes) {
    if (progress) {
      progress({"count", "bytes", bytes, total_bytes_, "words", trainer.pre_token_count()});
    }
  };
  report(0);
  for (size_t i = 0; i < paths_.size(); ++i) {
    std::unique_ptr<base::LineReader> lines = std::move(opened_[i]);
    if (!lines) {
      lines = std::make_unique<base::LineReader>(paths_[i]);
      if (text::read_counts_header(*lines) != header_) {
        throw base::FormatError(lines->path() + ": changed while it was read");
      }
    }
    add_counts(*lines, trainer, [&](uint64_t bytes) { report(done_bytes + bytes); });
    text::require_end(*lines);
    done_bytes += lines->passed_bytes();
    report(done_bytes);
  }
}

}  // namespace netcl::train
