// SPDX-License-Identifier: Apache-2.0
#include "text/printable_vocabulary.h"

#include <algorithm>
#include <array>

#include "base/big_buffer.h"
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
  base::BigVector<char> bytes(byte_count + kPrintableRoom);
  char* end = bytes.data();
  base::BigVector<VocabularyEntry> entries;
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

// Some merges at a time, so that what all their look-ups will read is fetched together. Most lists
// are in the order of the ids that they make, so what a merge makes is tried before it is looked
// up.
void PrintableVocabulary::add_merges(std::span<const Pair> merges,
                                     const std::function<std::string(size_t)>& place_of,
                                     const std::string& name) const {
  constexpr size_t kBatch = 32;
  struct Lookup {
    std::string_view bytes;
    uint64_t hash = 0;
    uint32_t id = Vocabulary::kNone;  // where it is known already
  };
  std::array<std::array<Lookup, 3>, kBatch> lookups;  // left, right, joined
  std::vector<char> buffer;
  const Vocabulary& vocabulary = parts_.vocabulary;
  uint32_t next = 0;  // what the merge before made
  parts_.merges_join = parts_.merges.empty();
  parts_.merges.reserve(merges.size());
  for (size_t first = 0; first < merges.size(); first += kBatch) {
    const std::span<const Pair> batch =
        merges.subspan(first, std::min(kBatch, merges.size() - first));
    size_t byte_count = ShortWords::kLongest;  // read or written behind the last
    for (const auto& [left, right] : batch) {
      byte_count += left.size() + right.size();
    }
    buffer.resize(std::max(buffer.size(), byte_count));
    // A loop of its own: a word read right after its bytes were written would wait for them.
    char* end = buffer.data();
    for (size_t i = 0; i < batch.size(); ++i) {
      auto& [left, right, joined] = lookups[i];
      char* const begin = end;
      char* middle = to_bytes(batch[i].first, begin);
      end = middle == nullptr ? nullptr : to_bytes(batch[i].second, middle);
      if (end == nullptr) {  // no bytes are no token: require_tokens() looks it up
        middle = end = begin;
      }
      left.bytes = {begin, static_cast<size_t>(middle - begin)};
      right.bytes = {middle, static_cast<size_t>(end - middle)};
      joined.bytes = {begin, static_cast<size_t>(end - begin)};
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      auto& [left, right, joined] = lookups[i];
      const auto prepare = [&](Lookup& lookup) {
        lookup.id = Vocabulary::kNone;
        lookup.hash = hash_readable(lookup.bytes);
        vocabulary.prefetch(lookup.hash);
      };
      prepare(left);
      prepare(right);
      if (!joined.bytes.empty() && (vocabulary.has_readable(next, joined.bytes) ||
                                    vocabulary.has_readable(++next, joined.bytes))) {
        joined.id = next;
      } else {
        prepare(joined);
      }
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      vocabulary.prefetch_extent(lookups[i][0].hash);
      vocabulary.prefetch_extent(lookups[i][1].hash);
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      vocabulary.prefetch_bytes(lookups[i][0].hash);
      vocabulary.prefetch_bytes(lookups[i][1].hash);
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto find = [&](const Lookup& lookup) {
        return lookup.id != Vocabulary::kNone ? lookup.id
                                              : vocabulary.find_readable(lookup.bytes, lookup.hash);
      };
      const Merge merge = {find(lookups[i][0]), find(lookups[i][1]), find(lookups[i][2])};
      if (merge.left != Vocabulary::kNone && merge.right != Vocabulary::kNone &&
          merge.result != Vocabulary::kNone) {
        parts_.merges.push_back(merge);
        next = merge.result;
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
