// SPDX-License-Identifier: Apache-2.0
// Small vocabularies for tests, in the form of the reference and in that of the encoder.
#ifndef NETCL_TESTS_TEXT_TINY_VOCABULARY_H_
#define NETCL_TESTS_TEXT_TINY_VOCABULARY_H_

#include <string>
#include <utility>
#include <vector>

#include "text/bpe_encoder.h"
#include "text/bpe_reference.h"
#include "text/vocabulary.h"

namespace netcl::tests {

// 256 bytes with id = value, then one token for every merge whose bytes are new.
struct TinyVocabulary {
  text::ReferenceVocabulary tokens;
  text::ReferenceMerges merges;
  text::Merges id_merges;
  text::Vocabulary vocabulary;

  explicit TinyVocabulary(text::ReferenceMerges list, const std::vector<std::string>& extra = {})
      : merges(std::move(list)) {
    for (int byte = 0; byte < 256; ++byte) {
      tokens.emplace(std::string(1, static_cast<char>(byte)), byte);
    }
    for (const auto& [left, right] : merges) {
      tokens.emplace(left + right, static_cast<uint32_t>(tokens.size()));
    }
    for (const std::string& token : extra) {
      tokens.emplace(token, static_cast<uint32_t>(tokens.size()));
    }
    for (const auto& [left, right] : merges) {
      id_merges.push_back({tokens.at(left), tokens.at(right), tokens.at(left + right)});
    }
    std::vector<text::VocabularyEntry> entries;
    for (const auto& [bytes, id] : tokens) {
      entries.push_back({id, bytes});
    }
    vocabulary = text::Vocabulary(entries);
  }
};

}  // namespace netcl::tests

#endif  // NETCL_TESTS_TEXT_TINY_VOCABULARY_H_
