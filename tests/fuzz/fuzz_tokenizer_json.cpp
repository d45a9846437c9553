// SPDX-License-Identifier: Apache-2.0
// Any bytes are a tokenizer.json or an error of the input; a tokenizer encodes text and decodes the
// ids, or refuses the text.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "text/tokenizer_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  try {
    const text::BpeTokenizer tokenizer =
        text::parse_tokenizer_json({reinterpret_cast<const char*>(data), size}, "tokenizer.json");
    const auto ids = tokenizer.encode("Hello, a b  ab\n\xC3\xA9 \xFF");
    tokenizer.decode(ids);
    text::to_tokenizer_json(tokenizer);
  } catch (const base::FormatError&) {
  } catch (const base::UsageError&) {  // a tokenizer that cannot be written as tokenizer.json
  }
  return 0;
}
