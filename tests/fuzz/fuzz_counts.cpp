// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file of counted pre-tokens or an error of the input. What is read, written again,
// gives the same lines; and a tokenizer can be learned from it where the options are good.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/line_reader.h"
#include "memory_file.h"
#include "text/bpe_trainer.h"
#include "text/counts_file.h"

namespace {

using namespace netcl;

std::string written(const text::CountsHeader& header,
                    const std::vector<std::pair<std::string, uint64_t>>& words,
                    const text::CountsTotals& totals) {
  std::string out;
  text::CountsWriter writer([&](std::string_view bytes) { out += bytes; },
                            text::make_header_line(text::kCountsMagic, text::kCountsVersion,
                                                   text::counts_header_json(header)));
  for (const auto& [word, count] : words) {
    writer.add(word, count);
  }
  writer.finish(totals.bytes, totals.documents);
  return out;
}

void read_all(const std::string& path, std::string_view bytes) {
  base::LineReader lines(path);
  const text::CountsHeader header = text::read_counts_header(lines);
  const uint64_t body = lines.passed_bytes();
  text::CountsReader counts(lines);
  std::vector<std::pair<std::string, uint64_t>> words;
  while (counts.next()) {
    words.emplace_back(counts.word(), counts.count());
  }
  text::require_end(lines);
  const std::string again = written(header, words, counts.totals());
  NETCL_CHECK(std::string_view(again).substr(again.find('\n') + 1) == bytes.substr(body));

  text::TrainerOptions options;
  options.vocab_size = 300 + header.specials.size();
  text::apply_counts_header(header, options);
  text::BpeTrainer trainer(options);
  for (const auto& [word, count] : words) {
    trainer.add_pre_token(word, count);
  }
  trainer.add_counted_corpus(counts.totals().documents, counts.totals().bytes);
  trainer.train();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  try {
    read_all(file.path(), bytes);
  } catch (const base::FormatError&) {
  } catch (const base::UsageError&) {  // options or sums that no trainer takes
  }
  return 0;
}
