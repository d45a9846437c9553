// SPDX-License-Identifier: Apache-2.0
// Any bytes are the dump of a training run or an error of the input; a run that goes on from one
// ends, or finds merges that its counts do not give.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/line_reader.h"
#include "memory_file.h"
#include "text/bpe_trainer.h"
#include "text/counts_file.h"
#include "text/train_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  try {
    base::LineReader lines(file.path());
    text::TrainerOptions options = text::read_dump_options(lines);
    options.vocab_size = std::min<uint64_t>(options.vocab_size, 400);
    text::BpeTrainer trainer(options);
    text::CountsReader counts(lines);
    while (counts.next()) {
      trainer.add_pre_token(counts.word(), counts.count());
    }
    trainer.add_counted_corpus(counts.totals().documents, counts.totals().bytes);
    const text::DumpedMerges dumped = text::read_dumped_merges(lines);
    NETCL_CHECK(dumped.end <= bytes.size());
    const auto where = [&](size_t index) {
      return "dump:" + std::to_string(dumped.line_of(index));
    };
    trainer.train({}, {dumped.merges, where, {}});
  } catch (const base::FormatError&) {
  } catch (const base::UsageError&) {  // options or sums that no trainer takes
  }
  return 0;
}
