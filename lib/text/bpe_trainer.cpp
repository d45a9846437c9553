// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "text/byte_level.h"
#include "text/corpus_counts.h"
#include "text/document_cut.h"
#include "text/merge_learner.h"
#include "text/regex_splitter.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

namespace netcl::text {

using base::quote;
using base::UsageError;

namespace {

// Enough for a thread to work on between two visits to the pool.
constexpr size_t kPartBytes = size_t{64} << 10;
// Bounds the list of parts when documents are tiny or very many.
constexpr size_t kMaxParts = size_t{1} << 16;

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
    const std::optional<std::string> bytes = from_printable(special);
    if (bytes && bytes->size() == 1) {
      throw UsageError("special token " + quote(special) +
                       " is written like the token of a byte; use a longer text");
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

// Safe cuts are those of the known patterns, and no special token may lie across one.
bool may_cut_documents(const TrainerOptions& options, const PreTokenizer& pre_tokenizer) {
  const std::shared_ptr<const PreSplitter>& splitter = pre_tokenizer.steps().front().splitter;
  return splitter && !splitter->name().empty() && !options.add_prefix_space &&
         std::none_of(options.specials.begin(), options.specials.end(), may_lie_across_cuts);
}

// Whether a text is a pre-token as a whole, whatever it is.
bool is_one_piece(const TrainerOptions& options) {
  return options.pattern_regex.empty() && options.pattern == "none" && options.specials.empty();
}

// Bytes after which the pages of a mapped text are given back.
constexpr size_t kDropBytes = size_t{4} << 20;

// What one thread counts with; apart from the others in memory.
struct alignas(64) CountingThread {
  PreTokenized pre_tokenized;
  std::vector<AddedMatch> cuts;
};

// Of a document: all of it, or from one safe cut to the next.
struct DocumentPart {
  std::string_view text;
  size_t document = 0;
};

}  // namespace

struct BpeTrainer::State {
  TrainerOptions options;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> specials;  // ids as if they came first
  AddedTokenMatcher matcher;
  const PreSplitter* covering_splitter = nullptr;  // of pre_tokenizer, if it does nothing else
  bool may_cut = false;                            // documents, at safe cuts
  CorpusCounts counts;
  std::vector<CountingThread> threads{1};
  uint64_t documents = 0;
  uint64_t bytes = 0;
  uint64_t read_bytes = 0;  // most memory of texts that were read, not mapped

  void count_text(std::string_view text, size_t thread) {
    if (covering_splitter != nullptr) {
      std::array<size_t, WordCounts::kMostPieces> ends;
      for (size_t begin = 0; begin < text.size();) {
        const size_t count = covering_splitter->next_ends(text, begin, ends);
        counts.add_pieces(thread, text, begin, std::span<const size_t>(ends).first(count));
        begin = ends[count - 1];
      }
      return;
    }
    PreTokenized& pre_tokenized = threads[thread].pre_tokenized;
    pre_tokenizer.split(text, pre_tokenized);
    for (const Piece& piece : pre_tokenized.pieces) {
      counts.add(thread, pre_tokenized.text.substr(piece.begin, piece.end - piece.begin), 1);
    }
  }

  // Counts a text without what special tokens cover; where@where_offset is its first byte.
  void count_marked(std::string_view text, std::string_view where, uint64_t where_offset,
                    size_t thread) {
    std::vector<AddedMatch>& cuts = threads[thread].cuts;
    cuts.clear();
    matcher.find(text, {}, cuts);
    size_t at = 0;
    try {
      for (const AddedMatch& cut : cuts) {
        count_text(text.substr(at, cut.begin - at), thread);
        at = cut.end;
      }
      count_text(text.substr(at), thread);
    } catch (const RegexLimitError& error) {
      throw error.at(where_offset + at + error.offset(), where);
    } catch (const base::FormatError& error) {
      throw base::FormatError(std::string(where) + ": " + error.what());
    }
  }

  void count_parts(const std::vector<DocumentPart>& parts, std::span<const TrainerDocument> texts,
                   base::ThreadPool& pool);
  TrainResult train(const base::ProgressFn& progress, const MergeLog& log, bool keep_words);
};

// Parts are handed out in order, so the earliest one that fails has begun when any other fails.
void BpeTrainer::State::count_parts(const std::vector<DocumentPart>& parts,
                                    std::span<const TrainerDocument> texts,
                                    base::ThreadPool& pool) {
  std::vector<size_t> run_begins;  // runs of parts that make a thread's visit worth while
  size_t run_bytes = kPartBytes;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (run_bytes >= kPartBytes) {
      run_begins.push_back(i);
      run_bytes = 0;
    }
    run_bytes += parts[i].text.size() + 1;
  }
  const size_t run_count = run_begins.size();
  run_begins.push_back(parts.size());

  std::mutex mutex;  // guards what follows
  size_t failed_run = std::numeric_limits<size_t>::max();
  std::exception_ptr failure;
  try {
    pool.parallel_for(run_count, [&](size_t run, size_t thread) {
      try {
        for (size_t i = run_begins[run]; i < run_begins[run + 1]; ++i) {
          const TrainerDocument& document = texts[parts[i].document];
          const auto offset = static_cast<size_t>(parts[i].text.data() - document.text.data());
          count_marked(parts[i].text, document.where, document.where_offset + offset, thread);
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (run < failed_run) {
          failed_run = run;
          failure = std::current_exception();
        }
        throw;
      }
    });
  } catch (...) {
    std::rethrow_exception(failure ? failure : std::current_exception());
  }
}

BpeTrainer::BpeTrainer(TrainerOptions options) {
  check_options(options);
  state_ = std::make_unique<State>();
  state_->pre_tokenizer = PreTokenizer(make_steps(options));
  state_->covering_splitter = state_->pre_tokenizer.covering_splitter();
  state_->may_cut = may_cut_documents(options, state_->pre_tokenizer);
  state_->specials = make_specials(options);
  state_->matcher = AddedTokenMatcher(state_->specials, options.specials);
  const uint64_t token_limit = options.vocab_size - options.specials.size();
  state_->counts =
      CorpusCounts(options.memory_limit, options.temp_dir, [token_limit](std::string_view word) {
        return enough_memory_to_learn([&](const WordVisitor& visit) { visit(word, 1); },
                                      token_limit);
      });
  state_->options = std::move(options);
}

BpeTrainer::BpeTrainer(BpeTrainer&&) noexcept = default;
BpeTrainer& BpeTrainer::operator=(BpeTrainer&&) noexcept = default;
BpeTrainer::~BpeTrainer() = default;

void BpeTrainer::add_document(std::string_view text, std::string_view where) {
  state_->counts.set_text_bytes(text.size(),
                                is_one_piece(state_->options) ? text : std::string_view());
  state_->count_marked(text, where, 0, 0);
  state_->documents += 1;
  state_->bytes += text.size();
}

void BpeTrainer::add_documents(std::span<const TrainerDocument> documents, base::ThreadPool& pool) {
  if (state_->threads.size() < pool.thread_count()) {
    state_->counts.use_threads(pool.thread_count());
    state_->threads.resize(pool.thread_count());
  }
  std::vector<DocumentPart> parts;
  // Texts that are not mapped were read with up to as much again, which a reader keeps.
  uint64_t read_bytes = 0;
  for (const TrainerDocument& document : documents) {
    read_bytes += document.is_mapped ? 0 : 2 * document.text.size();
  }
  state_->read_bytes = std::max(state_->read_bytes, read_bytes);
  const auto count = [&] {
    uint64_t longest_mapped = 0;  // which is touched as a whole
    std::string_view longest;
    for (const DocumentPart& part : parts) {
      longest = part.text.size() > longest.size() ? part.text : longest;
      if (documents[part.document].is_mapped) {
        longest_mapped = std::max<uint64_t>(longest_mapped, part.text.size());
      }
    }
    state_->counts.set_text_bytes(state_->read_bytes + longest_mapped,
                                  is_one_piece(state_->options) ? longest : std::string_view());
    state_->count_parts(parts, documents, pool);
    parts.clear();
  };
  for (size_t i = 0; i < documents.size(); ++i) {
    std::string_view rest = documents[i].text;
    state_->documents += documents[i].begins ? 1 : 0;
    state_->bytes += rest.size();
    const char* kept_from = rest.data();  // what is before it was given back
    while (state_->may_cut && rest.size() >= 2 * kPartBytes) {
      const size_t cut = find_safe_cut(rest, kPartBytes);
      parts.push_back({rest.substr(0, cut), i});
      rest.remove_prefix(cut);
      const size_t kept_bytes = static_cast<size_t>(rest.data() - kept_from);
      if (documents[i].is_mapped && kept_bytes >= kDropBytes) {
        count();
        base::drop_mapped_pages({kept_from, kept_bytes});
        kept_from = rest.data();
      } else if (parts.size() >= kMaxParts) {
        count();
      }
    }
    parts.push_back({rest, i});
    if (parts.size() >= kMaxParts || documents[i].is_mapped) {
      count();
    }
    if (documents[i].is_mapped) {
      base::drop_mapped_pages(documents[i].text.substr(kept_from - documents[i].text.data()));
    }
  }
  count();
}

void BpeTrainer::add_pre_token(std::string_view bytes, uint64_t count) {
  std::vector<AddedMatch> cuts;
  state_->matcher.find(bytes, {}, cuts);
  cuts.push_back({bytes.size(), bytes.size(), bytes.size(), 0});
  size_t at = 0;
  for (const AddedMatch& cut : cuts) {
    if (cut.begin > at && count > 0) {
      state_->counts.add(0, bytes.substr(at, cut.begin - at), count);
    }
    at = cut.end;
  }
}

void BpeTrainer::add_counted_corpus(uint64_t documents, uint64_t bytes) {
  if (documents > kMostCount - state_->documents || bytes > kMostCount - state_->bytes) {
    throw UsageError("the documents of the corpus add up to more than 2^63 - 1 bytes");
  }
  state_->documents += documents;
  state_->bytes += bytes;
}

bool BpeTrainer::may_cut_texts() const {
  return state_->may_cut;
}

uint64_t BpeTrainer::pre_token_count() const {
  return state_->counts.total();
}

CountsTotals BpeTrainer::totals() const {
  state_->counts.join();
  return {state_->bytes, state_->documents, state_->counts.total(), state_->counts.size()};
}

void BpeTrainer::for_each_pre_token(
    const std::function<void(std::string_view, uint64_t)>& use) const {
  state_->counts.join();
  state_->counts.for_each_sorted(use);
}

TrainResult BpeTrainer::train(const base::ProgressFn& progress, const MergeLog& log) const& {
  return state_->train(progress, log, true);
}

TrainResult BpeTrainer::train(const base::ProgressFn& progress, const MergeLog& log) && {
  return state_->train(progress, log, false);
}

TrainResult BpeTrainer::State::train(const base::ProgressFn& progress, const MergeLog& log,
                                     bool keep_words) {
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
  size_t merge_count = 0;
  request.merged = [&](const Merge& merge, uint64_t count) {
    const TrainedMerge made{merge.left - first_byte_id, merge.right - first_byte_id, count};
    if (merge_count++ >= log.known.size()) {
      if (log.learned) {
        log.learned(made);
      }
    } else if (made != log.known[merge_count - 1]) {
      throw base::FormatError((log.known_where ? log.known_where(merge_count - 1) + ": " : "") +
                              "merge " + std::to_string(merge_count) +
                              " is not the one that its counts give; the file is damaged");
    }
  };
  counts.join();
  counts.free_memory();
  request.memory_limit = options.memory_limit;
  TrainReport report;
  report.documents = documents;
  report.bytes = bytes;
  report.pre_tokens = counts.total();
  report.distinct_pre_tokens = counts.size();
  LearnedMerges learned =
      learn_merges([&](const WordVisitor& visit) { counts.for_each(visit); }, request, progress,
                   [&] {
                     if (!keep_words) {
                       counts.clear();
                     }
                   });

  TokenizerParts parts;
  parts.where = "trainer";
  std::vector<VocabularyEntry> entries;
  for (uint32_t i = 0; i < learned.tokens.size(); ++i) {
    entries.push_back({first_byte_id + i, learned.tokens[i]});
  }
  parts.vocabulary = Vocabulary(entries);
  const size_t token_count = learned.tokens.size();
  learned.tokens = {};  // they may be long
  parts.merges = std::move(learned.merges);
  parts.pre_tokenizer = pre_tokenizer;
  parts.added_tokens = specials;
  if (!specials_first) {
    for (AddedToken& token : parts.added_tokens) {
      token.id += static_cast<uint32_t>(token_count);
    }
  }
  report.merges = parts.merges.size();
  report.reused_ids = parts.merges.size() - (token_count - 256);
  report.first_merge_count = learned.first_count;
  report.last_merge_count = learned.last_count;
  report.tokens = learned.token_count;
  report.stopped = learned.stopped;
  return {BpeTokenizer(std::move(parts)), report};
}

}  // namespace netcl::text
