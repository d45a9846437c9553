// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_reference.h"

#include <algorithm>
#include <optional>

namespace netcl::text {

namespace {

std::vector<std::string> single_bytes(const std::string& piece) {
  std::vector<std::string> parts;
  for (const char byte : piece) {
    parts.emplace_back(1, byte);
  }
  return parts;
}

// Merges the pair of lowest rank, leftmost first, until rank_of knows none.
template <typename RankOf>
void merge_all(std::vector<std::string>& parts, const RankOf& rank_of) {
  while (true) {
    std::optional<size_t> best;
    uint64_t best_rank = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::optional<uint64_t> rank = rank_of(parts[i], parts[i + 1]);
      if (rank && (!best || *rank < best_rank)) {
        best = i;
        best_rank = *rank;
      }
    }
    if (!best) {
      return;
    }
    parts[*best] += parts[*best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  }
}

std::vector<uint32_t> ids_of(const ReferenceVocabulary& vocabulary,
                             const std::vector<std::string>& parts) {
  std::vector<uint32_t> ids;
  ids.reserve(parts.size());
  for (const std::string& part : parts) {
    ids.push_back(vocabulary.at(part));
  }
  return ids;
}

}  // namespace

std::vector<uint32_t> reference_encode_merges(const ReferenceVocabulary& vocabulary,
                                              const ReferenceMerges& merges,
                                              const std::string& piece, bool ignore_merges) {
  if (ignore_merges && vocabulary.contains(piece)) {
    return {vocabulary.at(piece)};
  }
  std::map<std::pair<std::string, std::string>, uint64_t> ranks;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    ranks[merges[rank]] = rank;
  }
  std::vector<std::string> parts = single_bytes(piece);
  merge_all(parts, [&](const std::string& left, const std::string& right) {
    const auto found = ranks.find({left, right});
    return found == ranks.end() ? std::nullopt : std::optional<uint64_t>(found->second);
  });
  return ids_of(vocabulary, parts);
}

std::vector<uint32_t> reference_encode_ranks(const ReferenceVocabulary& vocabulary,
                                             const std::string& piece) {
  if (vocabulary.contains(piece)) {
    return {vocabulary.at(piece)};
  }
  std::vector<std::string> parts = single_bytes(piece);
  merge_all(parts, [&](const std::string& left, const std::string& right) {
    const auto found = vocabulary.find(left + right);
    return found == vocabulary.end() ? std::nullopt : std::optional<uint64_t>(found->second);
  });
  return ids_of(vocabulary, parts);
}

ReferenceMerges reference_train(const std::map<std::string, uint64_t>& words,
                                const ReferenceTrainOptions& options) {
  std::vector<std::string> tokens = options.byte_tokens;
  std::map<std::string, uint64_t> id_of;
  for (size_t i = 0; i < tokens.size(); ++i) {
    id_of[tokens[i]] = options.first_id + i;
  }
  std::vector<std::pair<std::vector<std::string>, uint64_t>> corpus;
  corpus.reserve(words.size());
  for (const auto& [word, count] : words) {
    corpus.emplace_back(single_bytes(word), count);
  }
  ReferenceMerges merges;
  const size_t token_limit = options.byte_tokens.size() + options.max_new_tokens;
  while (id_of.size() < token_limit) {
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> counts;
    for (const auto& [parts, count] : corpus) {
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const size_t length = parts[i].size() + parts[i + 1].size();
        if (options.max_token_length == 0 || length <= options.max_token_length) {
          counts[{id_of.at(parts[i]), id_of.at(parts[i + 1])}] += count;
        }
      }
    }
    // The map is ordered by (left id, right id), so the first of the maxima is the tie's winner.
    const auto best =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < std::max<uint64_t>(options.min_frequency, 1)) {
      break;
    }
    const std::string left = tokens[best->first.first - options.first_id];
    const std::string right = tokens[best->first.second - options.first_id];
    merges.emplace_back(left, right);
    if (id_of.emplace(left + right, options.first_id + tokens.size()).second) {
      tokens.push_back(left + right);
    }
    for (auto& [parts, count] : corpus) {
      std::vector<std::string> merged;
      for (size_t i = 0; i < parts.size(); ++i) {
        const bool here = i + 1 < parts.size() && parts[i] == left && parts[i + 1] == right;
        merged.push_back(here ? left + right : parts[i]);
        i += here ? 1 : 0;
      }
      parts = merged;
    }
  }
  return merges;
}

}  // namespace netcl::text
