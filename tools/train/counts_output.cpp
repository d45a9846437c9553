// SPDX-License-Identifier: Apache-2.0
#include "train/counts_output.h"

#include "text/counts_file.h"

namespace netcl::train {

void write_counts(const text::BpeTrainer& trainer, std::string_view header_line,
                  base::OutputFile& out) {
  text::CountsWriter writer([&](std::string_view bytes) { out.write(bytes); }, header_line);
  trainer.for_each_pre_token(
      [&](std::string_view word, uint64_t count) { writer.add(word, count); });
  const text::CountsTotals totals = trainer.totals();
  writer.finish(totals.bytes, totals.documents);
  out.flush();
}

}  // namespace netcl::train
