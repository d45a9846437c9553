// SPDX-License-Identifier: Apache-2.0
// Tokenizer files: tokenizer.json (Hugging Face `tokenizers`, byte-level BPE models) and .tiktoken
// (one "base64(bytes) rank" a line). The kind is told from the content, not from the name: a file
// whose first byte that is no blank is '{' is JSON.
// What a file asks for and this library cannot do exactly is refused, naming the field; nothing is
// ignored. See hf_tokenizer_file.cpp for the list.
#ifndef NETCL_TEXT_TOKENIZER_FILE_H_
#define NETCL_TEXT_TOKENIZER_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace netcl::text {

// What a .tiktoken file does not carry. All empty for a tokenizer.json.
struct TokenizerFileOptions {
  // One of known_model_names(): split pattern and special tokens.
  std::string pattern_name;
  // Any other split pattern; without a specials file there are no special tokens.
  std::string pattern_regex;
  // JSON file {"<|endoftext|>": 50256, ...}; stands in place of the named model's special tokens.
  std::string specials_path;
};

// Names that pattern_name accepts for .tiktoken files, in the order help texts show them.
const std::vector<std::string_view>& known_model_names();

// Reads a tokenizer.json, a .tiktoken file or a directory that holds a tokenizer.json.
// Throws IoError when it cannot be read; FormatError with the place when it is damaged or asks for
// something unsupported; UsageError for a .tiktoken file without pattern_name or pattern_regex (or
// with both), an unknown name, or options given for a tokenizer.json.
BpeTokenizer load_tokenizer(const std::string& path, const TokenizerFileOptions& options = {});

// The same for bytes in memory; `where` names them in messages.
BpeTokenizer parse_tokenizer_json(std::string_view bytes, const std::string& where);
BpeTokenizer parse_tiktoken(std::string_view bytes, const std::string& where,
                            const TokenizerFileOptions& options);

// Text of a tokenizer.json that Hugging Face `tokenizers` loads. Ids are equal for a merge list.
// The byte-rank rule is put as every split of every token with ignore_merges, which is what Hugging
// Face does with such files; a run of one token that can be cut in several ways may then be cut
// differently. Throws UsageError when the format cannot hold the tokenizer: two names for one id,
// an added token that is written like an ordinary one.
std::string to_tokenizer_json(const BpeTokenizer& tokenizer);

// Text of a .tiktoken file: every token but the added ones, by ascending id. It carries neither the
// split pattern nor the special tokens, and readers merge by the rank of joined bytes. Throws
// UsageError when that rule would give other ids (merges not in the order of their ids, a token
// that its own bytes do not encode to), or when there is a normalizer or a pre-tokenizer that is
// not one split pattern.
std::string to_tiktoken(const BpeTokenizer& tokenizer);

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKENIZER_FILE_H_
