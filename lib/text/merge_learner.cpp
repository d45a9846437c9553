// SPDX-License-Identifier: Apache-2.0
#include "text/merge_learner.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "base/error.h"
#include "text/joined_tokens.h"
#include "text/memory_limit_error.h"
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
// What a threshold is multiplied with when its pairs do not fit into memory.
constexpr uint64_t kThresholdRise = 2;
constexpr uint64_t kLeastHeap = 1024;  // entries
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

  // The tokens come by themselves, so that their bytes are made when the memory of the rest is
  // free.
  LearnedMerges run(const base::ProgressFn& progress, JoinedTokens& tokens);

 private:
  static PairStoreLimits merger_limits(const LearnRequest& request) {
    PairStoreLimits limits = request.tuning.limits;
    limits.max_token_length = request.max_token_length;
    return limits;
  }

  void count_all();
  void fill_heap();
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

// Where not all pairs have room, fewer are recorded; of the most frequent pairs alone as many as
// there is room for.
template <typename Symbol>
void Learner<Symbol>::count_all() {
  heap_ = Heap();  // gives its memory back
  highest_below_ = merger_.count_all(threshold_, !scans_);
  while (merger_.is_full()) {
    threshold_ *= kThresholdRise;
    highest_below_ = merger_.count_all(threshold_, !scans_);
    if (merger_.records().size() == 0) {
      threshold_ = highest_below_;
      highest_below_ = merger_.count_all(threshold_, !scans_, true);
      NETCL_CHECK(merger_.records().size() > 0);  // see PairStore::least_memory()
    }
  }
  fill_heap();
}

template <typename Symbol>
void Learner<Symbol>::fill_heap() {
  heap_ = Heap();
  std::vector<Candidate> candidates;
  candidates.reserve(merger_.records().size());
  for (uint32_t record = 0; record < merger_.records().index_limit(); ++record) {
    if (merger_.records()[record].count > 0) {
      candidates.push_back(candidate(record));
    }
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
  const bool cut_ties = highest_below_ >= threshold_;
  if (threshold_ <= request_.min_frequency && !cut_ties) {
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
  if (merger_.is_full()) {
    count_all();
    return;
  }
  for (const uint32_t record : created_) {
    heap_.push(candidate(record));
  }
  if (heap_.size() > 2 * merger_.records().index_limit() + kLeastHeap) {
    fill_heap();  // most entries are of records that are gone
  }
}

template <typename Symbol>
LearnedMerges Learner<Symbol>::run(const base::ProgressFn& progress, JoinedTokens& tokens) {
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
  tokens = std::move(tokens_);
  return learned;
}

template <typename Symbol>
LearnedMerges learn(const WordLayout& layout, const WordWalk& words, const LearnRequest& request,
                    uint32_t symbol_limit, const base::ProgressFn& progress,
                    const std::function<void()>& laid_out, JoinedTokens& tokens) {
  Learner<Symbol> learner(layout, words, request, symbol_limit);
  if (laid_out) {
    laid_out();
  }
  return learner.run(progress, tokens);
}

// The program with what the system hands it in whole pages.
constexpr uint64_t kProgramMemory = uint64_t{10} << 20;
constexpr uint64_t kHugePages = uint64_t{8} << 20;  // up to one each for four buffers
constexpr uint64_t kManySlots = uint64_t{1} << 18;  // from which on buffers have huge pages
// Of tables by symbol while learning, or of a token in those of the tokenizer.
constexpr uint64_t kSymbolBytes = 300;

// How many symbols a text may come to have, and what they take.
struct SymbolShape {
  uint64_t limit = 0;
  bool narrow = false;

  // Every merge makes the text a token shorter at least.
  SymbolShape(const WordLayout& layout, uint64_t token_limit, bool wide)
      : limit(std::min(token_limit, 256 + layout.byte_count())),
        narrow(limit <= SymbolText<uint16_t>::kMostSymbols && !wide) {}
  uint64_t bytes() const { return narrow ? sizeof(uint16_t) : sizeof(uint32_t); }
};

// What learning takes besides pairs and their positions.
uint64_t fixed_memory(const WordLayout& layout, const SymbolShape& symbols) {
  const uint64_t whole_pages = layout.slot_count() < kManySlots ? 0 : kHugePages;
  return kProgramMemory + whole_pages + layout.slot_count() * symbols.bytes() +
         layout.slot_count() / 8 + layout.kept_bytes() + kSymbolBytes * symbols.limit;
}

// What learning takes at least.
uint64_t least_memory(const WordLayout& layout, const SymbolShape& symbols) {
  return fixed_memory(layout, symbols) +
         PairStore<uint32_t>::least_memory(layout.slot_count(), symbols.limit);
}

// Of the tokens as strings: the vocabulary, and a file under way that has each three times, with up
// to two bytes for one.
uint64_t token_memory(uint64_t token_bytes, uint64_t token_count) {
  constexpr uint64_t kCopies = 10;
  return kProgramMemory + kCopies * token_bytes + kSymbolBytes * token_count;
}

// What is enough for learning and for the tokens. How long those are shows when they are learned. A
// sum of lengths that no words pass is useless: a token may be all of a word but one byte, and the
// next one all of it but two. A run of one letter has twice its length, what repeats in a less
// simple way may have somewhat more; so four times is assumed, which names up to nine times what
// repetitive text turns out to need, but hardly ever too little.
uint64_t enough_memory(const WordLayout& layout, const SymbolShape& symbols) {
  const uint64_t token_bytes =
      std::min(layout.longest_word() * (symbols.limit - 256), 4 * layout.byte_count());
  return std::max(least_memory(layout, symbols), token_memory(token_bytes, symbols.limit));
}

[[noreturn]] void throw_limit(const WordLayout& layout, uint64_t needed) {
  throw MemoryLimitError("memory limit: learning from " + std::to_string(layout.word_count()) +
                         " distinct pre-tokens of " + std::to_string(layout.byte_count()) +
                         " bytes needs " + std::to_string(needed) +
                         " bytes of memory; a limit of that size would do");
}

// The request with what its limit leaves for pairs.
LearnRequest within_limit(const WordLayout& layout, const LearnRequest& request,
                          const SymbolShape& symbols) {
  LearnRequest limited = request;
  if (request.memory_limit == 0) {
    return limited;
  }
  if (request.memory_limit < least_memory(layout, symbols)) {
    throw_limit(layout, enough_memory(layout, symbols));
  }
  PairStoreLimits& limits = limited.tuning.limits;
  limits.memory = request.memory_limit - fixed_memory(layout, symbols);
  limits.least_garbage = std::min(limits.least_garbage, limits.memory / 32);
  return limited;
}

}  // namespace

LearnedMerges learn_merges(const WordWalk& words, const LearnRequest& request,
                           const base::ProgressFn& progress,
                           const std::function<void()>& laid_out) {
  const WordLayout layout(words);
  const SymbolShape symbols(layout, request.token_limit, request.tuning.wide_symbols);
  const LearnRequest limited = within_limit(layout, request, symbols);
  const uint32_t limit = static_cast<uint32_t>(symbols.limit);
  JoinedTokens tokens;
  LearnedMerges learned =
      symbols.narrow ? learn<uint16_t>(layout, words, limited, limit, progress, laid_out, tokens)
                     : learn<uint32_t>(layout, words, limited, limit, progress, laid_out, tokens);
  const uint64_t needed = token_memory(tokens.total_bytes(), tokens.size());
  if (request.memory_limit != 0 && needed > request.memory_limit) {
    throw_limit(layout, needed);
  }
  learned.tokens = tokens.all_bytes();
  return learned;
}

uint64_t enough_memory_to_learn(const WordWalk& words, uint64_t token_limit) {
  const WordLayout layout(words);
  return enough_memory(layout, SymbolShape(layout, token_limit, false));
}

}  // namespace netcl::text
