// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_trainer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/merge_learner.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"
#include "text/word_counts.h"

namespace netcl::text {

using base::quote;
using base::UsageError;

namespace {

void check_options(const TrainerOptions& options) {
  const uint64_t least = min_vocab_size(options.specials.size());
  if (options.vocab_size < least) {
    throw UsageError("vocabulary size " + std::to_string(options.vocab_size) +
                     " is too small; with " + std::to_string(options.specials.size()) +
                     " special tokens the minimum is " + std::to_string(least));
  }
  if (options.vocab_size > kMaxIdCount) {
    throw UsageError("vocabulary size " + std::to_string(options.vocab_size) +
                     " is too large; the maximum is " + std::to_string(kMaxIdCount));
  }
  if (options.max_token_length == 1) {
    throw UsageError("longest token 1 allows no merge; it must be at least 2 bytes");
  }
  std::set<std::string> seen;
  for (const std::string& special : options.specials) {
    if (special.empty() || !is_valid_utf8(special)) {
      throw UsageError("special token " + quote(special) +
                       (special.empty() ? " is empty" : " is not valid UTF-8"));
    }
    if (!seen.insert(special).second) {
      throw UsageError("special token " + quote(special) + " is given twice");
    }
  }
}

// A prefix space must come before the split, which only the ByteLevel step can do, and that one
// only splits with the gpt2 pattern or not at all.
std::vector<PreTokenizerStep> make_steps(const TrainerOptions& options) {
  if (!options.pattern_regex.empty()) {
    if (options.add_prefix_space) {
      throw UsageError("a prefix space goes with the patterns gpt2 and none only");
    }
    return {make_split_step(options.pattern_regex, false, SplitBehavior::kIsolated, false),
            make_byte_level_step(false, false)};
  }
  if (options.pattern == "none") {
    return {make_byte_level_step(options.add_prefix_space, false)};
  }
  std::shared_ptr<const PreSplitter> splitter = make_named_splitter(options.pattern);
  if (splitter->name() == "gpt2") {
    return {make_byte_level_step(options.add_prefix_space, true)};
  }
  if (options.add_prefix_space) {
    throw UsageError("a prefix space goes with the patterns gpt2 and none only");
  }
  return {make_split_step(std::move(splitter)), make_byte_level_step(false, false)};
}

std::vector<AddedToken> make_specials(const TrainerOptions& options) {
  std::vector<AddedToken> specials;
  uint32_t id = 0;
  for (const std::string& content : options.specials) {
    specials.push_back({.content = content, .id = id++});
  }
  return specials;
}

}  // namespace

struct BpeTrainer::State {
  TrainerOptions options;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> specials;  // ids as if they came first
  AddedTokenMatcher matcher;
  WordCounts words;
  PreTokenized pre_tokenized;
  uint64_t documents = 0;
  uint64_t bytes = 0;

  void add_text(std::string_view text) {
    pre_tokenizer.split(text, pre_tokenized);
    for (const Piece& piece : pre_tokenized.pieces) {
      words.add(pre_tokenized.text.substr(piece.begin, piece.end - piece.begin), 1);
    }
  }
};

BpeTrainer::BpeTrainer(TrainerOptions options) {
  check_options(options);
  state_ = std::make_unique<State>();
  state_->pre_tokenizer = PreTokenizer(make_steps(options));
  state_->specials = make_specials(options);
  state_->matcher = AddedTokenMatcher(state_->specials, options.specials);
  state_->options = std::move(options);
}

BpeTrainer::BpeTrainer(BpeTrainer&&) noexcept = default;
BpeTrainer& BpeTrainer::operator=(BpeTrainer&&) noexcept = default;
BpeTrainer::~BpeTrainer() = default;

void BpeTrainer::add_document(std::string_view text, std::string_view where) {
  std::vector<AddedMatch> cuts;
  state_->matcher.find(text, {}, cuts);
  size_t at = 0;
  try {
    for (const AddedMatch& cut : cuts) {
      state_->add_text(text.substr(at, cut.begin - at));
      at = cut.end;
    }
    state_->add_text(text.substr(at));
  } catch (const base::FormatError& error) {
    throw base::FormatError(std::string(where) + ": " + error.what());
  }
  state_->documents += 1;
  state_->bytes += text.size();
}

void BpeTrainer::add_pre_token(std::string_view bytes, uint64_t count) {
  std::vector<AddedMatch> cuts;
  state_->matcher.find(bytes, {}, cuts);
  cuts.push_back({bytes.size(), bytes.size(), bytes.size(), 0});
  size_t at = 0;
  for (const AddedMatch& cut : cuts) {
    if (cut.begin > at && count > 0) {
      state_->words.add(bytes.substr(at, cut.begin - at), count);
    }
    at = cut.end;
  }
}

TrainResult BpeTrainer::train(const base::ProgressFn& progress) const {
  const TrainerOptions& options = state_->options;
  const uint32_t special_count = static_cast<uint32_t>(options.specials.size());
  const bool specials_first = options.special_place == SpecialPlace::kFirst;
  const uint32_t first_byte_id = specials_first ? special_count : 0;

  LearnRequest request;
  request.first_byte_id = first_byte_id;
  for (uint32_t place = 0; place < 256; ++place) {
    request.bytes_in_order[place] = options.byte_order == ByteOrder::kGpt2
                                        ? bytes_in_printable_order()[place]
                                        : static_cast<uint8_t>(place);
  }
  request.token_limit = options.vocab_size - special_count;
  request.min_frequency = std::max<uint64_t>(options.min_frequency, 1);
  request.max_token_length = options.max_token_length;
  LearnedMerges learned = learn_merges(state_->words, request, progress);

  TokenizerParts parts;
  parts.where = "trainer";
  std::vector<VocabularyEntry> entries;
  for (uint32_t i = 0; i < learned.tokens.size(); ++i) {
    entries.push_back({first_byte_id + i, learned.tokens[i]});
  }
  parts.vocabulary = Vocabulary(entries);
  parts.merges = std::move(learned.merges);
  parts.pre_tokenizer = state_->pre_tokenizer;
  parts.added_tokens = state_->specials;
  if (!specials_first) {
    for (AddedToken& token : parts.added_tokens) {
      token.id += static_cast<uint32_t>(learned.tokens.size());
    }
  }
  TrainReport report;
  report.documents = state_->documents;
  report.bytes = state_->bytes;
  report.pre_tokens = state_->words.total();
  report.distinct_pre_tokens = state_->words.size();
  report.merges = parts.merges.size();
  report.reused_ids = parts.merges.size() - (learned.tokens.size() - 256);
  report.first_merge_count = learned.first_count;
  report.last_merge_count = learned.last_count;
  report.stopped = learned.stopped;
  return {BpeTokenizer(std::move(parts)), report};
}

}  // namespace netcl::text
