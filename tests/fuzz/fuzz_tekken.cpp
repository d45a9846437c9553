// SPDX-License-Identifier: Apache-2.0
// Any bytes are a tekken.json or an error of the input; a tokenizer encodes text, decodes the ids
// and is written in the other formats, or says why not.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "text/tokenizer_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  try {
    const text::BpeTokenizer tokenizer =
        text::parse_tekken_json({reinterpret_cast<const char*>(data), size}, "tekken.json");
    const auto ids = tokenizer.encode("a b  ab");
    tokenizer.decode(ids);
    text::to_tokenizer_json(tokenizer);
    text::to_tiktoken(tokenizer);
  } catch (const base::FormatError&) {
  } catch (const base::UsageError&) {  // a tokenizer that another format cannot hold
  }
  return 0;
}
