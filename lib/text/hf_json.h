// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of a tokenizer.json in one pass: model.vocab and model.merges, which make up
// nearly all of it, become flat lists of views, everything else a small tree. A vocab.json is such
// a model.vocab alone. Private to the file readers.
//
// simdjson parses; what it refuses, base::parse_json() reads again to say where.
#ifndef NETCL_TEXT_HF_JSON_H_
#define NETCL_TEXT_HF_JSON_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/big_buffer.h"
#include "base/json_file.h"

namespace netcl::text {

struct HfJson {
  base::Json tree;  // without model.vocab and model.merges
  bool has_vocab = false;
  bool has_merges = false;
  // In the order of the file; the strings lie in `document`.
  base::BigVector<std::pair<std::string_view, uint32_t>> vocab;
  base::BigVector<std::pair<std::string_view, std::string_view>>
      merges;  // "a b" already cut in two
  std::shared_ptr<const void> document;
};

// Throws FormatError: not JSON (with the byte offset), an id that is no whole number below
// kMaxIdCount, a merge that is neither two strings nor one string with exactly one space, a key
// given twice, nesting deeper than 512.
HfJson parse_hf_json(std::string_view bytes, const std::string& where);

// The same of a vocab.json, which is a model.vocab: `vocab` is filled. Throws FormatError likewise.
HfJson parse_vocab_json(std::string_view bytes, const std::string& where);

}  // namespace netcl::text

#endif  // NETCL_TEXT_HF_JSON_H_
