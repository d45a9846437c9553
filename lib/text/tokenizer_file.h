// SPDX-License-Identifier: Apache-2.0
// Tokenizer files: tokenizer.json (Hugging Face `tokenizers`, byte-level BPE models), .tiktoken
// (one "base64(bytes) rank" a line), vocab.json + merges.txt (GPT-2) and tekken.json (Mistral). The
// kind is told from the content, not from the name: a file whose first byte that is no blank is '{'
// is JSON, and the first members of the object tell which.
// What a file asks for and this library cannot do exactly is refused, naming the field; nothing is
// ignored. See hf_tokenizer_file.cpp for the list.
#ifndef NETCL_TEXT_TOKENIZER_FILE_H_
#define NETCL_TEXT_TOKENIZER_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace netcl::text {

// What a .tiktoken file and a vocab.json with its merges.txt do not carry. All empty for the
// others.
struct TokenizerFileOptions {
  // One of known_model_names(): split pattern, normalizer and special tokens.
  std::string pattern_name;
  // Any other split pattern; without special tokens given here there are none.
  std::string pattern_regex;
  // JSON file {"<|endoftext|>": 50256, ...}; stands in place of the named model's special tokens.
  std::string specials_path;
  // The same in memory; then specials_path is not read.
  std::optional<std::vector<std::pair<std::string, uint32_t>>> specials;
  // How messages call the first three: a tool says its options.
  std::string call_name = "a pattern name";
  std::string call_regex = "a pattern regex";
  std::string call_specials = "a specials file";
};

// Names that pattern_name accepts, in the order help texts show them.
const std::vector<std::string_view>& known_model_names();

enum class TokenizerFormat { kTokenizerJson, kTiktoken, kVocabMerges, kTekken };

// "tokenizer.json", ".tiktoken", "vocab.json + merges.txt", "tekken.json".
std::string_view format_name(TokenizerFormat format);

struct TokenizerFile {
  BpeTokenizer tokenizer;
  TokenizerFormat format;
};

// Where the merges of a vocab.json are: the file beside it that has "merges.txt" where its own name
// has "vocab.json", else merges.txt.
std::string merges_path_of(const std::string& vocab_path);

// Reads a tokenizer file. A directory stands for the tokenizer.json in it, else for its vocab.json.
// The merges of a vocab.json are in the file beside it that has "merges.txt" where its own name has
// "vocab.json" at the end ("gpt2-vocab.json", "gpt2-merges.txt"), else in merges.txt.
// Throws IoError when it cannot be read; FormatError with the place when it is damaged or asks for
// something unsupported, and with what it looks like when it is no tokenizer; UsageError for a
// format that needs pattern_name or pattern_regex without either (or with both), an unknown name,
// or options given for a format that has its own.
TokenizerFile load_tokenizer_file(const std::string& path,
                                  const TokenizerFileOptions& options = {});
// The tokenizer alone.
BpeTokenizer load_tokenizer(const std::string& path, const TokenizerFileOptions& options = {});

// The contents of the two files.
struct VocabMerges {
  std::string vocab_json;
  std::string merges_txt;
};

// The same for bytes in memory; `where` names them in messages.
BpeTokenizer parse_tokenizer_json(std::string_view bytes, const std::string& where);
BpeTokenizer parse_tiktoken(std::string_view bytes, const std::string& where,
                            const TokenizerFileOptions& options);
BpeTokenizer parse_vocab_merges(std::string_view vocab_json, std::string_view merges_txt,
                                const std::string& vocab_where, const std::string& merges_where,
                                const TokenizerFileOptions& options);
BpeTokenizer parse_tekken_json(std::string_view bytes, const std::string& where);

// Text of a tokenizer.json that Hugging Face `tokenizers` loads with equal ids. The byte-rank rule
// is put as the merge list that means the same (rank_merges.h), with ignore_merges where a token is
// only ever a whole piece. Throws UsageError when the format cannot hold the tokenizer: two names
// for one id, an added token that is written like an ordinary one.
std::string to_tokenizer_json(const BpeTokenizer& tokenizer);

// The value of the `normalizer` member in that text; "null" without a normalizer.
std::string normalizer_text(const BpeTokenizer& tokenizer);

// Text of a .tiktoken file: every token but the added ones, by ascending id. It carries neither the
// split pattern nor the added tokens, and readers merge by the rank of joined bytes. Throws
// UsageError when that rule would give other ids (tiktoken_difference()), or when no options read
// the rest back (options_to_read_back()).
std::string to_tiktoken(const BpeTokenizer& tokenizer);

// A vocab.json, with the added tokens in it, and a merges.txt. Throws UsageError when merging alone
// would give other ids (vocab_merges_difference()), when no options read the rest back, or for two
// names of one id.
VocabMerges to_vocab_merges(const BpeTokenizer& tokenizer);

// Why the ids would differ in a format that has byte ranks alone, or merges without ignore_merges:
// "token 258 'abc' ..."; nothing when they are equal for every text.
std::optional<std::string> tiktoken_difference(const BpeTokenizer& tokenizer);
std::optional<std::string> vocab_merges_difference(const BpeTokenizer& tokenizer);

// Options with which a file of a format without pattern and added tokens is read back as this
// tokenizer: the name of a known model when all of it agrees; its name or the regex, and the added
// tokens as `specials`, otherwise. Throws UsageError naming what no options bring back: a
// normalizer, a pre-tokenizer that is not one pattern, flags of an added token. `format` is for
// messages.
TokenizerFileOptions options_to_read_back(const BpeTokenizer& tokenizer, const std::string& format);

// The added tokens as a specials file has them. Throws UsageError, naming `format` and the token,
// when one has a flag that such a file cannot say.
std::vector<std::pair<std::string, uint32_t>> plain_specials(const BpeTokenizer& tokenizer,
                                                             const std::string& format);

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKENIZER_FILE_H_
