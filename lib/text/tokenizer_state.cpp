// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_state.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/big_buffer.h"
#include "base/error.h"
#include "text/document_cut.h"

namespace netcl::text {

using base::FormatError;
using base::quote;

namespace {

std::string show_id(uint32_t id) {
  return "id " + std::to_string(id);
}

// Bytes that no well-formed UTF-8 holds: a vocabulary learned from valid text may lack them.
bool never_in_utf8(int byte) {
  return byte == 0xC0 || byte == 0xC1 || byte >= 0xF5;
}

void check_parts(const TokenizerParts& parts) {
  for (int byte = 0; byte < 256 && !parts.characters; ++byte) {
    const char as_char = static_cast<char>(byte);
    if (!never_in_utf8(byte) && !parts.vocabulary.find({&as_char, 1})) {
      throw FormatError(parts.where + ": no token for the byte " + std::to_string(byte) +
                        "; a byte-level vocabulary has one for every byte of UTF-8 text");
    }
  }
  if (parts.merges.size() >= kMaxIdCount) {
    throw FormatError(parts.where + ": " + std::to_string(parts.merges.size()) +
                      " merges; at most " + std::to_string(kMaxIdCount - 1) + " are allowed");
  }
  for (size_t i = 0; i < parts.merges.size() && !parts.merges_join; ++i) {
    const Merge& merge = parts.merges[i];
    const std::string_view left = parts.vocabulary.bytes(merge.left);
    const std::string_view right = parts.vocabulary.bytes(merge.right);
    const std::string_view result = parts.vocabulary.bytes(merge.result);
    if (left.empty() || right.empty() || result.size() != left.size() + right.size() ||
        !result.starts_with(left) || !result.ends_with(right)) {
      throw FormatError(parts.where + ": merge " + std::to_string(i) + " joins " +
                        show_id(merge.left) + " and " + show_id(merge.right) + " to " +
                        show_id(merge.result) + ", whose bytes are not theirs");
    }
  }
}

// The parts, once they are known to fit together; what the promise of their maker was is taken
// back.
TokenizerParts checked(TokenizerParts parts) {
  check_parts(parts);
  parts.merges_join = false;
  return parts;
}

const Vocabulary kNoVocabulary;

}  // namespace

TokenizerState::TokenizerState(TokenizerParts given)
    : parts(checked(std::move(given))),
      encoder(parts.characters ? kNoVocabulary : parts.vocabulary, parts.rule,
              parts.characters ? std::span<const Merge>() : parts.merges, parts.ignore_merges) {
  if (parts.characters) {
    char_encoder.emplace(parts.vocabulary, *parts.characters, parts.merges, parts.ignore_merges,
                         parts.where);
  }
  covering_splitter = parts.pre_tokenizer.covering_splitter();
  uint32_t limit = parts.vocabulary.id_limit();
  for (const auto& [id, bytes] : parts.decode_only) {
    limit = std::max(limit, id + 1);
  }
  for (const AddedToken& token : parts.added_tokens) {
    limit = std::max(limit, token.id + 1);
  }
  base::BigVector<std::string_view> bytes_by_id(limit);
  special_by_id.resize(limit);
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    bytes_by_id[id] = parts.vocabulary.bytes(id);
  }
  for (const auto& [id, bytes] : parts.decode_only) {
    bytes_by_id[id] = bytes;
  }
  std::vector<std::string> raw(parts.added_tokens.size());
  std::vector<std::string> normalized(parts.added_tokens.size());
  for (uint32_t i = 0; i < parts.added_tokens.size(); ++i) {
    const AddedToken& token = parts.added_tokens[i];
    if (bytes_by_id[token.id].empty()) {
      bytes_by_id[token.id] = token.content;
    }
    special_by_id[token.id] = special_by_id[token.id] || token.special;
    added_by_content.emplace(token.content, i);
    (token.normalized ? normalized : raw)[i] =
        token.normalized ? parts.normalizer.normalize(token.content) : token.content;
  }
  raw_matcher = AddedTokenMatcher(parts.added_tokens, raw);
  normalized_matcher = AddedTokenMatcher(parts.added_tokens, normalized);
  can_be_cut = covering_splitter != nullptr &&
               (parts.normalizer.empty() || parts.normalizer.form() != nullptr);
  for (uint32_t i = 0; i < parts.added_tokens.size(); ++i) {
    AddedToken searched = parts.added_tokens[i];  // as it is looked for
    searched.content = searched.normalized ? normalized[i] : raw[i];
    can_be_cut = can_be_cut && (searched.content.empty() || !may_depend_on_cuts(searched));
  }
  if (parts.characters) {
    decoded.reserve(limit);
    for (std::string_view& bytes : bytes_by_id) {
      decoded.push_back(decoded_token(*parts.characters, bytes));
      if (decoded.back().empty() && !bytes.empty()) {
        throw FormatError(parts.where + ": decoder: the token " + quote(bytes) +
                          " becomes nothing, which is not supported");
      }
      bytes = decoded.back();
    }
  }
  token_count =
      static_cast<size_t>(std::count_if(bytes_by_id.begin(), bytes_by_id.end(),
                                        [](std::string_view bytes) { return !bytes.empty(); }));
  tokens = TokenTable(std::move(bytes_by_id));
  for (size_t byte = 0; byte < has_byte.size() && !parts.characters; ++byte) {
    const char as_char = static_cast<char>(byte);
    has_byte[byte] = parts.vocabulary.find_id({&as_char, 1}) != Vocabulary::kNone;
    has_all_bytes = has_all_bytes && has_byte[byte];
  }
}

}  // namespace netcl::text
