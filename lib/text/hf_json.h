// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of a tokenizer.json in one pass: model.vocab and model.merges, which make up
// nearly all of it, go straight into flat lists, everything else becomes a small tree. A vocab.json
// is such a model.vocab alone. Private to the file readers.
#ifndef NETCL_TEXT_HF_JSON_H_
#define NETCL_TEXT_HF_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_file.h"

namespace netcl::text {

struct HfJson {
  base::Json tree;  // without model.vocab and model.merges
  bool has_vocab = false;
  bool has_merges = false;
  std::vector<std::pair<std::string, uint32_t>> vocab;      // in the order of the file
  std::vector<std::pair<std::string, std::string>> merges;  // "a b" strings already cut in two
};

// Throws FormatError: not JSON (with the byte offset), an id that is no whole number below
// kMaxIdCount, a merge that is neither two strings nor one string with exactly one space, a key
// given twice, nesting deeper than 512.
HfJson parse_hf_json(std::string_view bytes, const std::string& where);

// Tokens and ids of a vocab.json in the order of the file. Throws FormatError likewise.
std::vector<std::pair<std::string, uint32_t>> parse_vocab_json(std::string_view bytes,
                                                               const std::string& where);

}  // namespace netcl::text

#endif  // NETCL_TEXT_HF_JSON_H_
