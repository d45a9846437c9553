// SPDX-License-Identifier: Apache-2.0
#include "train/corpus_count.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "text/document_cut.h"

namespace netcl::train {

namespace {

// Feeds the trainer batches that are large enough for several threads.
class CorpusCounter {
 public:
  CorpusCounter(text::BpeTrainer& trainer, size_t thread_count, const base::ProgressFn& progress,
                uint64_t total_bytes)
      : trainer_(trainer), pool_(thread_count), progress_(progress), total_bytes_(total_bytes) {}

  void take(const cli::DocumentBatch& batch) {
    size_t bytes = 0;
    for (const cli::Document& document : batch.documents) {
      bytes += document.text.size();
    }
    if (bytes < kSmallBatch) {
      keep(batch);
    } else if (batch.documents.size() == 1 && trainer_.may_cut_texts()) {
      flush();
      count_slices(batch.documents.front(), batch.read_bytes - bytes);
    } else {
      flush();
      std::vector<text::TrainerDocument> documents;
      documents.reserve(batch.documents.size());
      for (const cli::Document& document : batch.documents) {
        documents.push_back({.text = document.text,
                             .where = document.where,
                             .where_offset = document.where_offset,
                             .begins = document.begins,
                             .is_mapped = document.is_mapped});
      }
      trainer_.add_documents(documents, pool_);
    }
    report(batch.read_bytes);
  }

  // Counts what is kept.
  void flush() {
    std::vector<text::TrainerDocument> documents;
    documents.reserve(kept_.size());
    for (const Kept& kept : kept_) {
      documents.push_back({.text = kept.text,
                           .where = kept.where,
                           .where_offset = kept.where_offset,
                           .begins = kept.begins});
    }
    trainer_.add_documents(documents, pool_);
    kept_.clear();
    kept_bytes_ = 0;
  }

  void report(uint64_t done) const {
    if (progress_) {
      progress_({"count", "bytes", done, total_bytes_, "words", trainer_.pre_token_count()});
    }
  }

 private:
  struct Kept {
    std::string text;
    std::string where;
    uint64_t where_offset = 0;
    bool begins = true;
  };
  static constexpr size_t kSmallBatch = size_t{512} << 10;
  static constexpr size_t kKeptBatch = size_t{2} << 20;
  // Some tenths of a second of work: often enough for a look at the progress.
  static constexpr size_t kSlice = size_t{64} << 20;

  void keep(const cli::DocumentBatch& batch) {
    for (const cli::Document& document : batch.documents) {
      kept_.push_back(
          {std::string(document.text), document.where, document.where_offset, document.begins});
      kept_bytes_ += document.text.size() + document.where.size() + sizeof(Kept);
    }
    if (kept_bytes_ >= kKeptBatch) {
      flush();
    }
  }

  // `before`: bytes of all input before this document.
  void count_slices(const cli::Document& document, uint64_t before) {
    std::string_view rest = document.text;
    bool begins = document.begins;
    while (!rest.empty()) {
      const size_t end = rest.size() <= kSlice ? rest.size() : text::find_safe_cut(rest, kSlice);
      const text::TrainerDocument slice{.text = rest.substr(0, end),
                                        .where = document.where,
                                        .begins = begins,
                                        .is_mapped = document.is_mapped};
      trainer_.add_documents({&slice, 1}, pool_);
      begins = false;
      rest.remove_prefix(end);
      report(before + document.text.size() - rest.size());
    }
  }

  text::BpeTrainer& trainer_;
  base::ThreadPool pool_;
  const base::ProgressFn& progress_;
  uint64_t total_bytes_;
  std::vector<Kept> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace

void count_corpus(cli::DocumentReader& reader, text::BpeTrainer& trainer, size_t thread_count,
                  bool saves_memory, const base::ProgressFn& progress) {
  constexpr size_t kSmallParts = size_t{2} << 20;
  if (saves_memory) {
    reader.set_part_bytes(kSmallParts);
  }
  if (trainer.may_cut_texts()) {
    reader.cut_long_pipes(
        [](std::string_view text, size_t from) { return text::find_safe_cut(text, from); });
  }
  CorpusCounter counter(trainer, thread_count, progress, reader.total_bytes());
  counter.report(0);
  reader.for_each_batch([&](const cli::DocumentBatch& batch) { counter.take(batch); });
  counter.flush();
}

}  // namespace netcl::train
