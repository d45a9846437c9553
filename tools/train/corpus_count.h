// SPDX-License-Identifier: Apache-2.0
// Counting the pre-tokens of text documents with all threads.
#ifndef NETCL_TOOLS_TRAIN_CORPUS_COUNT_H_
#define NETCL_TOOLS_TRAIN_CORPUS_COUNT_H_

#include <cstddef>

#include "base/progress.h"
#include "cli/documents.h"
#include "text/bpe_trainer.h"

namespace netcl::train {

// Reads all documents of `reader` and adds them to `trainer`. Small ones are gathered and long ones
// counted in slices, so that the threads have enough to do and progress is seen; a pipe is read in
// parts where the options allow it, so that its length does not matter. Progress: phase "count",
// unit "bytes", also "words". Throws what reader and trainer do.
// `saves_memory`: what is read and gathered at a time is kept small.
void count_corpus(cli::DocumentReader& reader, text::BpeTrainer& trainer, size_t thread_count,
                  bool saves_memory, const base::ProgressFn& progress);

}  // namespace netcl::train

#endif  // NETCL_TOOLS_TRAIN_CORPUS_COUNT_H_
