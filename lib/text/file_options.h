// SPDX-License-Identifier: Apache-2.0
// What files that hold a vocabulary alone (.tiktoken, vocab.json + merges.txt) leave to the options
// of their reader: split pattern, normalizer, added tokens. Private to the file readers and
// writers.
#ifndef NETCL_TEXT_FILE_OPTIONS_H_
#define NETCL_TEXT_FILE_OPTIONS_H_

#include <string>

#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

// Sets pre_tokenizer, normalizer and added_tokens of `parts`. `kind` ("a .tiktoken file") and
// parts.where are for messages. Throws UsageError when there is no pattern, two of them or an
// unknown name; FormatError for a damaged regex or specials file.
void apply_file_options(const TokenizerFileOptions& options, const std::string& kind,
                        TokenizerParts& parts);

// What to do about special tokens that do not go with the vocabulary, as the end of a message;
// empty when they are not those of a named model.
std::string specials_advice(const TokenizerFileOptions& options);

}  // namespace netcl::text

#endif  // NETCL_TEXT_FILE_OPTIONS_H_
