// SPDX-License-Identifier: Apache-2.0
#include "train/dump_file.h"

#include <chrono>

#include <sys/stat.h>

#include "base/error.h"
#include "text/counts_file.h"
#include "train/counts_input.h"
#include "train/counts_output.h"

namespace netcl::train {

namespace {

// Most work that a crash of the machine takes away, when batches are small; a sync that takes long
// then costs a small part of the time.
constexpr std::chrono::milliseconds kSyncEvery{1000};

uint64_t size_of_regular_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw base::IoError(path + ": is no regular file, which a dump must be");
  }
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace

DumpInput::DumpInput(const std::string& path)
    : lines_(path), options_(text::read_dump_options(lines_)) {
  size_of_regular_file(path);
}

void DumpInput::add_to(text::BpeTrainer& trainer, const base::ProgressFn& progress) {
  const uint64_t total = size_of_regular_file(lines_.path());
  add_counts(lines_, trainer, [&](uint64_t bytes) {
    if (progress) {
      progress({"count", "bytes", bytes, total, "words", trainer.pre_token_count()});
    }
  });
  dumped_ = text::read_dumped_merges(lines_);
}

std::string DumpInput::where(size_t index) const {
  return base::at_line(path(), dumped_.line_of(index));
}

DumpOutput::DumpOutput(const std::string& path, uint64_t every) : path_(path), every_(every) {
  new_file_.emplace(path);
  if (!new_file_->seekable()) {
    throw base::UsageError(path + ": is no regular file, which a dump must be");
  }
}

DumpOutput::DumpOutput(const DumpInput& input, uint64_t every)
    : path_(input.path()), every_(every), total_(input.merges().size()) {
  file_.emplace(path_, input.end(), kSyncEvery);
}

void DumpOutput::begin(const text::BpeTrainer& trainer, const text::TrainerOptions& options) {
  write_counts(trainer,
               text::make_header_line(text::kDumpMagic, text::kDumpVersion,
                                      text::trainer_options_json(options)),
               *new_file_);
  new_file_->commit();
  new_file_.reset();
  file_.emplace(path_, size_of_regular_file(path_), kSyncEvery);
  file_->sync();
}

void DumpOutput::add(const text::TrainedMerge& merge) {
  batch_.push_back(merge);
  ++total_;
  if (batch_.size() >= every_) {
    write_batch();
  }
}

void DumpOutput::finish() {
  if (!batch_.empty()) {
    write_batch();
  }
  file_->sync();
}

void DumpOutput::write_batch() {
  std::string lines;
  text::append_merge_batch(batch_, total_, lines);
  file_->write(lines);
  batch_.clear();
}

}  // namespace netcl::train
