// SPDX-License-Identifier: Apache-2.0
// Any bytes are a specials file or an error of the input; its tokens become their ids and these a
// token's text.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "memory_file.h"
#include "text/base64.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace {

// The 256 bytes as a .tiktoken file.
const std::string& byte_ranks() {
  static const auto* const text = [] {
    auto* lines = new std::string();
    for (int byte = 0; byte < 256; ++byte) {
      *lines += netcl::text::to_base64(std::string(1, static_cast<char>(byte))) + ' ' +
                std::to_string(byte) + '\n';
    }
    return lines;
  }();
  return *text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  text::TokenizerFileOptions options;
  options.pattern_regex = "\\S+|\\s+";
  options.specials_path = file.path();
  try {
    const text::BpeTokenizer tokenizer =
        text::parse_tiktoken(byte_ranks(), "vocab.tiktoken", options);
    text::EncodeOptions allow;
    allow.special = text::SpecialPolicy::kAllow;
    for (const text::AddedToken& token : tokenizer.parts().added_tokens) {
      NETCL_CHECK(tokenizer.is_special(token.id));
      NETCL_CHECK(tokenizer.encode(token.content, allow) == std::vector<uint32_t>{token.id});
      // Of two names of one id (o200k_harmony has such) one is decoded to.
      NETCL_CHECK(tokenizer.find_added(tokenizer.token_bytes(token.id)) == token.id);
    }
  } catch (const base::FormatError&) {
  }
  return 0;
}
