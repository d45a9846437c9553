// SPDX-License-Identifier: Apache-2.0
// Real vocabularies of the shared test data, unpacked with xz into a folder of this process.
#ifndef NETCL_TESTS_TEXT_VOCAB_FILES_H_
#define NETCL_TESTS_TEXT_VOCAB_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "text/tokenizer.h"

namespace netcl::tests {

// The tokenizer of vocabs/manifest.json with this name (rank files take pattern and special tokens
// from there). Nothing, after skip(), when there is no shared data or no xz.
std::optional<text::BpeTokenizer> load_vocabulary(const std::string& name);

// Path of vocabs/<file>.xz unpacked; empty, after skip(), when it cannot be.
std::string unpack(const std::string& file);

// Bytes of a file; a failed requirement when it cannot be read.
std::string text_of(const std::string& path);

// The values of a file with one JSON value a line.
std::vector<base::Json> read_jsonl(const std::string& path);

// Bytes of base64 text.
std::string base64(const std::string& text);

}  // namespace netcl::tests

#endif  // NETCL_TESTS_TEXT_VOCAB_FILES_H_
