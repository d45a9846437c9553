// SPDX-License-Identifier: Apache-2.0
// Vocabulary and merges of a file that names tokens by their printable form (byte_level.h), or by
// their characters where the symbols of the model are characters. Private to the file readers.
#ifndef NETCL_TEXT_PRINTABLE_VOCABULARY_H_
#define NETCL_TEXT_PRINTABLE_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/tokenizer_parts.h"

namespace netcl::text {

class PrintableVocabulary {
 public:
  using Token = std::pair<std::string_view, uint32_t>;         // printable form, id
  using Pair = std::pair<std::string_view, std::string_view>;  // left and right part of a merge

  // Fills `vocabulary` and `decode_only` of `parts`, which both must outlive this; `place` is where
  // the tokens stand. Throws FormatError: an empty token, a token or an id given twice.
  PrintableVocabulary(std::span<const Token> tokens, TokenizerParts& parts,
                      const std::string& place);

  // Number of tokens.
  size_t size() const { return size_; }
  bool has_id(uint32_t id) const { return id < has_id_.size() && has_id_[id]; }
  std::optional<uint32_t> find(std::string_view printable) const;

  // Appends to `merges` of the parts, without those that no text comes to. Throws FormatError when
  // one of the three tokens of a merge is unknown; place_of(index) is where that merge stands, and
  // `name` what the tokens stand in.
  void add_merges(std::span<const Pair> merges, const std::function<std::string(size_t)>& place_of,
                  const std::string& name) const;

 private:
  char* to_bytes(std::string_view printable, char* out) const;
  void require_tokens(const Pair& merge, const std::function<std::string()>& place,
                      const std::string& name) const;

  TokenizerParts& parts_;
  size_t size_ = 0;
  std::vector<bool> has_id_;
  std::unordered_map<std::string_view, uint32_t> decode_only_;  // by printable form
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_PRINTABLE_VOCABULARY_H_
