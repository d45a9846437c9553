// SPDX-License-Identifier: Apache-2.0
#include "text/merge_learner.h"

#include <algorithm>
#include <optional>
#include <queue>

#include "base/error.h"
#include "text/joined_tokens.h"
#include "text/symbol_text.h"

namespace netcl::text {

namespace {

constexpr uint64_t kProgressStep = 64;
// The first threshold is the weight of all pairs by this and the merges wanted: mostly 2 to 7 times
// less than the last merge's count, since counting anew costs more than pairs too many. Where text
// is not split, the last merge has a larger part of the weight.
constexpr uint64_t kThresholdPart = 160;
constexpr uint64_t kUnsplitThresholdPart = 60;
constexpr uint64_t kThresholdStep = 4;
// Bytes of the mean word from which on text counts as not split.
constexpr uint64_t kLongWord = 256;

// Heap order: the highest count first, then the smallest (left, right).
struct Candidate {
  uint64_t count = 0;
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t record = 0;
};
struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) {
      return a.count < b.count;
    }
    return a.left != b.left ? a.left > b.left : a.right > b.right;
  }
};
using Heap = std::priority_queue<Candidate, std::vector<Candidate>, ComesLater>;

JoinedTokens first_tokens(const LearnRequest& request) {
  NETCL_CHECK(request.alphabet.empty() || request.alphabet.size() == 256);
  JoinedTokens tokens;
  for (size_t place = 0; place < request.bytes_in_order.size(); ++place) {
    tokens.add(request.alphabet.empty()
                   ? std::string(1, static_cast<char>(request.bytes_in_order[place]))
                   : request.alphabet[place]);
  }
  return tokens;
}

std::array<uint32_t, 256> symbols_of_bytes(const LearnRequest& request) {
  std::array<uint32_t, 256> symbols{};
  for (uint32_t place = 0; place < symbols.size(); ++place) {
    symbols[request.bytes_in_order[place]] = place;
  }
  return symbols;
}

// A symbol is the index of its token.
template <typename Symbol>
class Learner {
 public:
  Learner(const WordLayout& layout, const WordWalk& words, const LearnRequest& request,
          uint32_t symbol_limit)
      : request_(request),
        pair_weight_(layout.pair_weight()),
        one_byte_count_(layout.one_byte_count()),
        tokens_(first_tokens(request)),
        text_(layout, words, symbols_of_bytes(request), symbol_limit),
        merger_(text_, symbol_limit, merger_limits(request)) {
    for (uint32_t symbol = 0; symbol < tokens_.size(); ++symbol) {
      merger_.add_symbol(tokens_.byte_length(symbol));
    }
    const bool is_split = layout.byte_count() <= kLongWord * layout.word_count();
    const LearnTuning::Scan scan = request.tuning.scan;
    scans_ =
        scan == LearnTuning::Scan::kFirst || (scan == LearnTuning::Scan::kWhenLong && !is_split);
    const uint64_t merges = std::max<uint64_t>(request.token_limit - tokens_.size(), 1);
    const uint64_t part = is_split ? kThresholdPart : kUnsplitThresholdPart;
    threshold_ = request.tuning.first_threshold != 0 ? request.tuning.first_threshold
                                                     : pair_weight_ / part / merges;
    threshold_ = std::max(threshold_, request.min_frequency);
    count_all();
  }

  LearnedMerges run(const base::ProgressFn& progress);

 private:
  static PairStoreLimits merger_limits(const LearnRequest& request) {
    PairStoreLimits limits = request.tuning.limits;
    limits.max_token_length = request.max_token_length;
    return limits;
  }

  void count_all();
  Candidate candidate(uint32_t record) const {
    const PairRecord& pair = merger_.records()[record];
    return {pair.count, pair.left, pair.right, record};
  }
  std::optional<Candidate> find_best();
  bool lower_threshold();
  void merge(const Candidate& best, LearnedMerges& learned);

  const LearnRequest& request_;
  const uint64_t pair_weight_;
  const uint64_t one_byte_count_;
  JoinedTokens tokens_;
  SymbolText<Symbol> text_;
  PairMerger<Symbol> merger_;
  bool scans_ = false;
  uint64_t threshold_ = 1;
  uint64_t highest_below_ = 0;  // count of a pair below the threshold, when pairs were counted
  Heap heap_;
  std::vector<uint32_t> created_;
};

template <typename Symbol>
void Learner<Symbol>::count_all() {
  highest_below_ = merger_.count_all(threshold_, !scans_);
  std::vector<Candidate> candidates;
  candidates.reserve(merger_.records().size());
  for (uint32_t record = 0; record < merger_.records().index_limit(); ++record) {
    candidates.push_back(candidate(record));
  }
  heap_ = Heap(ComesLater(), std::move(candidates));
}

// The pair to merge, taken off the heap; none when no pair reaches the threshold.
template <typename Symbol>
std::optional<Candidate> Learner<Symbol>::find_best() {
  while (!heap_.empty()) {
    const Candidate top = heap_.top();
    heap_.pop();
    const Candidate now = candidate(top.record);
    if (now.count == 0 || now.left != top.left || now.right != top.right) {
      continue;  // it fell below the threshold
    }
    if (now.count == top.count) {
      return top;
    }
    heap_.push(now);
  }
  return std::nullopt;
}

// Any lower threshold is as exact; down to the highest count that was left out, a higher one would
// find no more pairs at first.
template <typename Symbol>
bool Learner<Symbol>::lower_threshold() {
  if (threshold_ <= request_.min_frequency) {
    return false;
  }
  threshold_ = std::min(threshold_ / kThresholdStep, highest_below_);
  threshold_ = std::max(threshold_, request_.min_frequency);
  count_all();
  return true;
}

template <typename Symbol>
void Learner<Symbol>::merge(const Candidate& best, LearnedMerges& learned) {
  const auto [merged, is_new] = tokens_.join(best.left, best.right);
  const uint32_t first = request_.first_byte_id;
  learned.merges.push_back({first + best.left, first + best.right, first + merged});
  learned.first_count = learned.merges.size() == 1 ? best.count : learned.first_count;
  learned.last_count = best.count;
  if (request_.merged) {
    request_.merged(learned.merges.back(), best.count);
  }
  if (!is_new) {  // counts of pairs with it may rise
    text_.merge_and_compact(best.left, best.right, merged);
    count_all();
    return;
  }
  merger_.add_symbol(tokens_.byte_length(merged));
  created_.clear();
  merger_.merge(best.record, merged, created_);
  for (const uint32_t record : created_) {
    heap_.push(candidate(record));
  }
}

template <typename Symbol>
LearnedMerges Learner<Symbol>::run(const base::ProgressFn& progress) {
  LearnedMerges learned;
  learned.stopped = StopReason::kVocabSize;
  const uint64_t first_count = tokens_.size();
  const uint64_t wanted = request_.token_limit - first_count;
  while (tokens_.size() < request_.token_limit) {
    const std::optional<Candidate> best = find_best();
    if (!best) {
      if (lower_threshold()) {
        continue;
      }
      learned.stopped = StopReason::kNoPairs;
      break;
    }
    if (scans_ && best->count < pair_weight_ / request_.tuning.scan_part) {
      scans_ = false;
      count_all();
      continue;
    }
    merge(*best, learned);
    if (progress && learned.merges.size() % kProgressStep == 0) {
      progress({"merge", "merges", tokens_.size() - first_count, wanted});
    }
  }
  if (progress) {
    progress({"merge", "merges", tokens_.size() - first_count, wanted});
  }
  bool some_pair = false;
  learned.token_count = one_byte_count_ + text_.count_tokens(some_pair);
  if (some_pair && learned.stopped == StopReason::kNoPairs) {
    learned.stopped = StopReason::kMinFrequency;
  }
  learned.tokens = tokens_.all_bytes();
  return learned;
}

template <typename Symbol>
LearnedMerges learn(const WordLayout& layout, const WordWalk& words, const LearnRequest& request,
                    uint32_t symbol_limit, const base::ProgressFn& progress,
                    const std::function<void()>& laid_out) {
  Learner<Symbol> learner(layout, words, request, symbol_limit);
  if (laid_out) {
    laid_out();
  }
  return learner.run(progress);
}

// An upper bound: symbols; positions in lists that are up to half garbage, somewhat more than a
// unit each; records; and the program with the tokenizer that is made.
uint64_t needed_memory(const WordLayout& layout, const LearnRequest& request, uint64_t symbol_bytes,
                       uint64_t symbol_limit) {
  constexpr uint64_t kProgram = uint64_t{32} << 20;
  constexpr uint64_t kPairBytes = 128;
  constexpr uint64_t kFirstPairs = 65536;
  constexpr uint64_t kSymbolBytes = 400;  // with the token's entries in all tables
  return kProgram + layout.slot_count() * symbol_bytes + layout.slot_count() * 9 / 2 +
         2 * request.tuning.limits.least_garbage + kPairBytes * (kFirstPairs + 2 * symbol_limit) +
         kSymbolBytes * symbol_limit;
}

void check_memory(const WordLayout& layout, const LearnRequest& request, uint64_t symbol_bytes,
                  uint64_t symbol_limit) {
  const uint64_t needed = needed_memory(layout, request, symbol_bytes, symbol_limit);
  if (request.memory_limit != 0 && needed > request.memory_limit) {
    throw base::UsageError("memory limit: learning from " + std::to_string(layout.word_count()) +
                           " distinct pre-tokens of " + std::to_string(layout.byte_count()) +
                           " bytes needs " + std::to_string(needed) +
                           " bytes of memory; a limit of that size would do");
  }
}

}  // namespace

LearnedMerges learn_merges(const WordWalk& words, const LearnRequest& request,
                           const base::ProgressFn& progress,
                           const std::function<void()>& laid_out) {
  const WordLayout layout(words);
  // Every merge makes the text a token shorter at least.
  const uint64_t symbol_limit = std::min(request.token_limit, 256 + layout.byte_count());
  const bool narrow =
      symbol_limit <= SymbolText<uint16_t>::kMostSymbols && !request.tuning.wide_symbols;
  check_memory(layout, request, narrow ? sizeof(uint16_t) : sizeof(uint32_t), symbol_limit);
  if (narrow) {
    return learn<uint16_t>(layout, words, request, static_cast<uint32_t>(symbol_limit), progress,
                           laid_out);
  }
  return learn<uint32_t>(layout, words, request, static_cast<uint32_t>(symbol_limit), progress,
                         laid_out);
}

}  // namespace netcl::text
