// SPDX-License-Identifier: Apache-2.0
#include "text/rank_merges.h"

#include <functional>
#include <queue>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "text/pair_map.h"

namespace netcl::text {

namespace {

constexpr const char* kOnCharacters = "its symbols are characters, not bytes";

constexpr uint32_t kNone = Vocabulary::kNone;

// Merging of one token's bytes by rank, without the whole-piece rule.
class TokenMerger {
 public:
  explicit TokenMerger(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // The two parts that the token is made of, if merging its bytes makes it.
  std::optional<Merge> last_step(uint32_t token) {
    bytes_ = vocabulary_.bytes(token);
    symbols_.clear();
    queue_ = {};
    const uint32_t size = static_cast<uint32_t>(bytes_.size());
    for (uint32_t i = 0; i < size; ++i) {
      symbols_.push_back({vocabulary_.find_id(bytes_.substr(i, 1)), i + 1, i == 0 ? kNone : i - 1});
    }
    for (uint32_t i = 0; i < size; ++i) {
      push(i);
    }
    while (!queue_.empty()) {
      const auto [rank, at] = queue_.top();
      queue_.pop();
      if (rank != joined(at)) {
        continue;  // one of the two has been merged since
      }
      const uint32_t next = symbols_[at].end;
      const uint32_t end = symbols_[next].end;
      if (at == 0 && end == size) {
        return rank == token ? std::optional(Merge{symbols_[at].id, symbols_[next].id, token})
                             : std::nullopt;
      }
      symbols_[at].id = rank;
      symbols_[at].end = end;
      symbols_[next].id = kNone;
      if (end < size) {
        symbols_[end].previous = at;
        push(at);
      }
      if (symbols_[at].previous != kNone) {
        push(symbols_[at].previous);
      }
    }
    return std::nullopt;
  }

 private:
  struct Symbol {
    uint32_t id = 0;        // kNone: merged into the one before, or a byte without a token
    uint32_t end = 0;       // byte after it, which is also the index of the next symbol
    uint32_t previous = 0;  // index of the symbol before it
  };
  using Entry = std::pair<uint32_t, uint32_t>;  // rank, index of the left symbol

  uint32_t joined(uint32_t at) const {
    const Symbol& left = symbols_[at];
    if (left.id == kNone || left.end >= bytes_.size() || symbols_[left.end].id == kNone) {
      return kNone;
    }
    return vocabulary_.find_id(bytes_.substr(at, symbols_[left.end].end - at));
  }

  void push(uint32_t at) {
    if (const uint32_t rank = joined(at); rank != kNone) {
      queue_.emplace(rank, at);
    }
  }

  const Vocabulary& vocabulary_;
  std::string_view bytes_;
  std::vector<Symbol> symbols_;  // by the first byte of each
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

std::string show(const Vocabulary& vocabulary, uint32_t id) {
  return "token " + std::to_string(id) + " " + base::quote(vocabulary.bytes(id));
}

}  // namespace

RankMerges merges_of_ranks(const Vocabulary& vocabulary) {
  RankMerges result;
  TokenMerger merger(vocabulary);
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    if (vocabulary.bytes(id).size() < 2) {
      continue;
    }
    if (const std::optional<Merge> merge = merger.last_step(id)) {
      result.merges.push_back(*merge);
    } else {
      result.whole_pieces.push_back(id);
    }
  }
  return result;
}

std::optional<Vocabulary> vocabulary_without_added(const TokenizerParts& parts,
                                                   std::string& reason) {
  std::unordered_set<uint32_t> added;
  for (const AddedToken& token : parts.added_tokens) {
    added.insert(token.id);
  }
  for (const Merge& merge : parts.merges) {
    for (const uint32_t id : {merge.left, merge.right, merge.result}) {
      if (added.contains(id)) {
        reason = show(parts.vocabulary, id) + " is an added token and takes part in merges";
        return std::nullopt;
      }
    }
  }
  std::vector<VocabularyEntry> entries;
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    if (parts.vocabulary.contains(id) && !added.contains(id)) {
      entries.push_back({id, parts.vocabulary.bytes(id)});
    }
  }
  return Vocabulary(entries);
}

std::optional<std::string> difference_to_ranks(const TokenizerParts& parts,
                                               const Vocabulary& vocabulary) {
  if (parts.characters) {
    return kOnCharacters;
  }
  if (parts.rule == MergeRule::kByteRanks) {
    return std::nullopt;
  }
  const RankMerges ranks = merges_of_ranks(vocabulary);
  if (!parts.ignore_merges && !ranks.whole_pieces.empty()) {
    return show(vocabulary, ranks.whole_pieces[0]) + " is not what its own bytes encode to";
  }
  PairMap places(parts.merges.size());
  for (uint32_t place = 0; place < parts.merges.size(); ++place) {
    places.at(parts.merges[place].left, parts.merges[place].right) = place;
  }
  std::optional<uint32_t> before;
  for (const Merge& merge : ranks.merges) {
    const uint32_t place = places.find(merge.left, merge.right);
    if (place == PairMap::kNone) {
      return show(vocabulary, merge.result) + " would be made of " +
             base::quote(vocabulary.bytes(merge.left)) + " and " +
             base::quote(vocabulary.bytes(merge.right)) + ", which are not merged";
    }
    if (before && place < *before) {
      return show(vocabulary, merge.result) + " is merged earlier than a token with a lower id";
    }
    before = place;
  }
  return std::nullopt;
}

std::vector<uint32_t> unmergeable_tokens(const TokenizerParts& parts,
                                         const Vocabulary& vocabulary) {
  if (parts.rule == MergeRule::kByteRanks) {
    return merges_of_ranks(vocabulary).whole_pieces;
  }
  std::optional<CharBpeEncoder> of_characters;
  std::optional<BpeEncoder> of_bytes;
  if (parts.characters) {
    of_characters.emplace(parts.vocabulary, *parts.characters, parts.merges, false, parts.where);
  } else {
    of_bytes.emplace(parts.vocabulary, parts.rule, parts.merges, false);
  }
  EncodeScratch scratch;
  CharBpeEncoder::Scratch char_scratch;
  std::vector<ByteSpan> spans;
  std::vector<uint32_t> ids;
  std::vector<uint32_t> unmergeable;
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    if (vocabulary.bytes(id).size() < 2) {
      continue;
    }
    ids.clear();
    if (of_characters) {
      spans.clear();
      of_characters->encode(vocabulary.bytes(id), char_scratch, ids, spans);
    } else {
      of_bytes->encode(vocabulary.bytes(id), scratch, ids);
    }
    if (ids != std::vector<uint32_t>{id}) {
      unmergeable.push_back(id);
    }
  }
  return unmergeable;
}

std::optional<std::string> difference_to_plain_merges(const TokenizerParts& parts) {
  if (parts.characters) {
    return kOnCharacters;
  }
  if (parts.rule == MergeRule::kMergeList && !parts.ignore_merges) {
    return std::nullopt;
  }
  std::string reason;
  const std::optional<Vocabulary> vocabulary = vocabulary_without_added(parts, reason);
  if (!vocabulary) {
    return reason;
  }
  const std::vector<uint32_t> lost = unmergeable_tokens(parts, *vocabulary);
  if (lost.empty()) {
    return std::nullopt;
  }
  return show(*vocabulary, lost[0]) + " is never the result of merges, only a whole piece";
}

}  // namespace netcl::text
