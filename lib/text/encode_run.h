// SPDX-License-Identifier: Apache-2.0
// Encoding one text: added tokens, normalizer, pre-tokenizer and BPE in the order of tokenizer.h.
// Private to tokenizer.cpp.
#ifndef NETCL_TEXT_ENCODE_RUN_H_
#define NETCL_TEXT_ENCODE_RUN_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/byte_span.h"
#include "text/tokenizer.h"

namespace netcl::text {

// Appends the ids of a text to `ids`, and with `spans` the bytes that each was made from. With
// `pool` a long text is encoded by its threads where BpeTokenizer::encode says so; with `take` ids
// are handed on in order as they come, and `ids` is empty in the end. Throws as that does.
void encode_text(const TokenizerState& state, std::string_view text, const EncodeOptions& options,
                 std::vector<uint32_t>& ids, std::vector<ByteSpan>* spans = nullptr,
                 base::ThreadPool* pool = nullptr, const BpeTokenizer::TakeIds* take = nullptr);

// Room for the ids of a short text or the begin of a long one; encoding reserves the rest when it
// knows how many ids a byte the text has.
void reserve_first_ids(size_t text_bytes, std::vector<uint32_t>& ids);

}  // namespace netcl::text

#endif  // NETCL_TEXT_ENCODE_RUN_H_
