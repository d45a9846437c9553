// SPDX-License-Identifier: Apache-2.0
#include "text/hf_model.h"

#include <utility>

#include "base/json_file.h"
#include "text/byte_level.h"
#include "text/rank_merges.h"

namespace netcl::text {

std::string key_of(const TokenizerParts& parts, std::string_view bytes) {
  return parts.characters ? std::string(bytes) : to_printable(bytes);
}

std::map<uint32_t, std::string> vocabulary_keys(const TokenizerParts& parts) {
  std::map<uint32_t, std::string> keys;
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    if (parts.vocabulary.contains(id)) {
      keys.emplace(id, key_of(parts, parts.vocabulary.bytes(id)));
    }
  }
  for (const auto& [id, bytes] : parts.decode_only) {
    keys.emplace(id, bytes);
  }
  return keys;
}

std::string vocabulary_json(const std::map<uint32_t, std::string>& keys) {
  std::string text = "{";
  const char* comma = "\n";
  for (const auto& [id, key] : keys) {
    text += comma + base::to_text(key) + ":" + std::to_string(id);
    comma = ",\n";
  }
  return text + "}";
}

MergeList merge_list(const TokenizerParts& parts) {
  if (parts.rule == MergeRule::kMergeList) {
    return {parts.merges, parts.ignore_merges};
  }
  RankMerges ranks = merges_of_ranks(parts.vocabulary);
  return {std::move(ranks.merges), !ranks.whole_pieces.empty()};
}

}  // namespace netcl::text
