// SPDX-License-Identifier: Apache-2.0
// Any bytes are a vocab.json and, after the first NUL, a merges.txt, or an error of the input. What
// reads can be written and read back with the same merges.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(all.find('\0'), size);
  text::TokenizerFileOptions options;
  options.pattern_name = "gpt2";
  options.specials.emplace();
  try {
    const text::BpeTokenizer tokenizer =
        text::parse_vocab_merges(all.substr(0, cut), all.substr(std::min(cut + 1, size)),
                                 "vocab.json", "merges.txt", options);
    const auto ids = tokenizer.encode("a b  ab");
    tokenizer.decode(ids);
    const text::VocabMerges files = text::to_vocab_merges(tokenizer);
    const text::BpeTokenizer again = text::parse_vocab_merges(files.vocab_json, files.merges_txt,
                                                              "vocab.json", "merges.txt", options);
    NETCL_CHECK(again.parts().merges == tokenizer.parts().merges);
  } catch (const base::FormatError&) {
  } catch (const base::UsageError&) {  // a merge that the file would take for its version line
  }
  return 0;
}
