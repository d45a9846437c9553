// SPDX-License-Identifier: Apache-2.0
// The model of a tokenizer as Hugging Face's files hold it: keys by id and a merge list. Private to
// the file writers.
#ifndef NETCL_TEXT_HF_MODEL_H_
#define NETCL_TEXT_HF_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_parts.h"

namespace netcl::text {

// How a token stands in the files: the printable form of its bytes, or the characters themselves in
// a tokenizer on characters.
std::string key_of(const TokenizerParts& parts, std::string_view bytes);

// Keys by id, without the added tokens that are not in the vocabulary.
std::map<uint32_t, std::string> vocabulary_keys(const TokenizerParts& parts);

// {"key":id,...} by ascending id, an entry a line.
std::string vocabulary_json(const std::map<uint32_t, std::string>& keys);

struct MergeList {
  Merges merges;
  bool ignore_merges = false;
};

// The merges of the tokenizer. Byte ranks become the list that merges exactly as they do
// (rank_merges.h), with ignore_merges where a token is only ever a whole piece.
MergeList merge_list(const TokenizerParts& parts);

}  // namespace netcl::text

#endif  // NETCL_TEXT_HF_MODEL_H_
