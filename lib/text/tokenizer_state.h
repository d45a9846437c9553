// SPDX-License-Identifier: Apache-2.0
// The tables behind a BpeTokenizer. Private to tokenizer.cpp and encode_run.cpp.
#ifndef NETCL_TEXT_TOKENIZER_STATE_H_
#define NETCL_TEXT_TOKENIZER_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe_encoder.h"
#include "text/char_bpe_encoder.h"
#include "text/piece_encoder.h"
#include "text/pre_splitter.h"
#include "text/token_table.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

// Immutable but for the pool of encoders, which is safe from several threads.
class TokenizerState {
 public:
  // Throws FormatError (naming parts.where) when the parts contradict each other.
  explicit TokenizerState(TokenizerParts given);

  TokenizerParts parts;
  BpeEncoder encoder;                          // of bytes
  std::optional<CharBpeEncoder> char_encoder;  // in its place, of characters
  std::vector<std::string> decoded;            // with char_encoder: what tokens are decoded to
  TokenTable tokens;
  std::vector<bool> special_by_id;
  std::unordered_map<std::string_view, uint32_t> added_by_content;  // index in parts.added_tokens
  AddedTokenMatcher raw_matcher;
  AddedTokenMatcher normalized_matcher;
  size_t token_count = 0;
  const PreSplitter* covering_splitter = nullptr;
  bool can_be_cut = false;
  mutable PieceEncoderPool encoders;
  std::array<bool, 256> has_byte{};
  bool has_all_bytes = true;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKENIZER_STATE_H_
