// SPDX-License-Identifier: Apache-2.0
#include "text/printable_vocabulary.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/byte_level.h"

namespace netcl::text {

using base::FormatError;
using base::quote;

PrintableVocabulary::PrintableVocabulary(std::span<const Token> tokens, TokenizerParts& parts,
                                         const std::string& place)
    : parts_(parts), size_(tokens.size()) {
  size_t byte_count = 0;
  uint32_t limit = 0;
  for (const auto& [printable, id] : tokens) {
    byte_count += printable.size();
    limit = std::max(limit, id + 1);
  }
  std::vector<char> bytes(byte_count);
  char* end = bytes.data();
  std::vector<VocabularyEntry> entries;
  entries.reserve(tokens.size());
  has_id_.resize(limit);
  const auto refuse_second = [&](std::string_view printable) {
    throw FormatError(place + ": token " + quote(printable) + " is given twice");
  };
  for (const auto& [printable, id] : tokens) {
    if (printable.empty()) {
      throw FormatError(place + ": id " + std::to_string(id) + " is an empty token");
    }
    if (has_id_[id]) {
      throw FormatError(place + ": token " + quote(printable) + ": id " + std::to_string(id) +
                        " is given twice");
    }
    has_id_[id] = true;
    if (parts.characters) {
      entries.push_back({id, printable});
    } else if (char* next = from_printable(printable, end)) {
      entries.push_back({id, {end, static_cast<size_t>(next - end)}});
      end = next;
    } else {
      // A character that stands for no byte: no text becomes this token.
      if (!decode_only_.emplace(printable, id).second) {
        refuse_second(printable);
      }
      parts.decode_only.emplace_back(id, printable);
    }
  }
  Vocabulary::Clash clash;
  std::optional<Vocabulary> vocabulary = Vocabulary::make(entries, clash);
  if (!vocabulary) {
    const uint32_t id = entries[clash.second].id;
    refuse_second(std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
                    return token.second == id;
                  })->first);
  }
  parts.vocabulary = std::move(*vocabulary);
}

std::optional<uint32_t> PrintableVocabulary::find(std::string_view printable) const {
  if (parts_.characters) {
    return parts_.vocabulary.find(printable);
  }
  if (const std::optional<std::string> bytes = from_printable(printable)) {
    return parts_.vocabulary.find(*bytes);
  }
  const auto found = decode_only_.find(printable);
  return found == decode_only_.end() ? std::nullopt : std::optional(found->second);
}

// Some merges at a time, so that what all their look-ups will read is fetched together.
void PrintableVocabulary::add_merges(std::span<const Pair> merges,
                                     const std::function<std::string(size_t)>& place_of,
                                     const std::string& name) const {
  constexpr size_t kBatch = 32;
  struct Lookup {
    std::string_view bytes;
    uint64_t hash;
  };
  std::array<std::array<Lookup, 3>, kBatch> lookups;  // left, right, joined
  std::vector<char> buffer;
  const Vocabulary& vocabulary = parts_.vocabulary;
  parts_.merges.reserve(merges.size());
  for (size_t first = 0; first < merges.size(); first += kBatch) {
    const std::span<const Pair> batch =
        merges.subspan(first, std::min(kBatch, merges.size() - first));
    size_t byte_count = 0;
    for (const auto& [left, right] : batch) {
      byte_count += left.size() + right.size();
    }
    buffer.resize(std::max(buffer.size(), byte_count));
    char* end = buffer.data();
    for (size_t i = 0; i < batch.size(); ++i) {
      char* const begin = end;
      char* const middle = to_bytes(batch[i].first, begin);
      end = middle == nullptr ? nullptr : to_bytes(batch[i].second, middle);
      if (end == nullptr) {
        lookups[i] = {};  // looked up by find_merge()
        end = begin;
        continue;
      }
      const std::string_view joined(begin, static_cast<size_t>(end - begin));
      const auto left_size = static_cast<size_t>(middle - begin);
      const std::string_view parts[] = {joined.substr(0, left_size), joined.substr(left_size),
                                        joined};
      for (size_t part = 0; part < 3; ++part) {
        lookups[i][part] = {parts[part], hash_bytes(parts[part])};
        vocabulary.prefetch(lookups[i][part].hash);
      }
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto find = [&](size_t part) {
        return vocabulary.find_id(lookups[i][part].bytes, lookups[i][part].hash);
      };
      const Merge merge = {find(0), find(1), find(2)};
      if (merge.left != Vocabulary::kNone && merge.right != Vocabulary::kNone &&
          merge.result != Vocabulary::kNone) {
        parts_.merges.push_back(merge);
      } else {
        require_tokens(
            batch[i], [&] { return place_of(first + i); }, name);
      }
    }
  }
}

// Of a merge that no text comes to.
void PrintableVocabulary::require_tokens(const Pair& merge,
                                         const std::function<std::string()>& place,
                                         const std::string& name) const {
  for (const std::string& printable : {std::string(merge.first), std::string(merge.second),
                                       std::string(merge.first).append(merge.second)}) {
    if (!find(printable)) {
      throw FormatError(place() + ": token " + quote(printable) + " is not in " + name);
    }
  }
}

char* PrintableVocabulary::to_bytes(std::string_view printable, char* out) const {
  return parts_.characters ? std::copy(printable.begin(), printable.end(), out)
                           : from_printable(printable, out);
}

}  // namespace netcl::text
