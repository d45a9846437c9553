// SPDX-License-Identifier: Apache-2.0
// Any bytes are a .tiktoken vocabulary or an error of the input; a tokenizer encodes text and
// decodes the ids, or refuses the text.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "text/tokenizer_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  text::TokenizerFileOptions options;
  options.pattern_regex = " ?\\p{L}+|\\s+|.";
  try {
    const text::BpeTokenizer tokenizer = text::parse_tiktoken(
        {reinterpret_cast<const char*>(data), size}, "vocab.tiktoken", options);
    const auto ids = tokenizer.encode("a b  ab");
    tokenizer.decode(ids);
    text::to_tiktoken(tokenizer);
  } catch (const base::FormatError&) {
  } catch (const base::UsageError&) {  // a tokenizer that cannot be written as .tiktoken
  }
  return 0;
}
