// SPDX-License-Identifier: Apache-2.0
// Byte-pair training (Sennrich, Haddow, Birch 2016, on bytes): the pair of neighbouring tokens that
// occurs most often in the pre-tokens of the corpus becomes a token, again and again. The result
// equals that of Hugging Face's BpeTrainer, merge for merge:
//   - counts are exact 64-bit sums over pre-tokens, overlapping windows counted ("aaa" holds the
//     pair (a, a) twice); a merge replaces left to right without overlap;
//   - the highest count wins, ties go to the smallest (left id, right id);
//   - ids: special tokens first, then the 256 bytes, then the merges (or the special tokens last).
// The corpus is never stored: a document is split and its pre-tokens are counted, so memory grows
// with the number of distinct pre-tokens (of each thread, where several count) or, with a limit,
// disk space does; learning needs all distinct pre-tokens in memory. The result does not
// depend on the order of documents nor on the number of threads.
#ifndef NETCL_TEXT_BPE_TRAINER_H_
#define NETCL_TEXT_BPE_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/thread_pool.h"
#include "text/counts_format.h"
#include "text/tokenizer.h"

namespace netcl::text {

enum class SpecialPlace { kFirst, kLast };

// Order of the 256 byte tokens: kGpt2 = the order of their printable forms ('!' first, space 220th;
// what gpt2, cl100k and Hugging Face use), kRaw = 0..255.
enum class ByteOrder { kGpt2, kRaw };

struct TrainerOptions {
  // Number of ids in all: special tokens, 256 bytes and merges.
  uint64_t vocab_size = 32000;
  // A name of splitter_names(), or "none": a document is one pre-token. "cl100k" stands for the
  // original pattern string.
  std::string pattern = "cl100k";
  // Any other split pattern; when not empty, `pattern` is not looked at.
  std::string pattern_regex;
  // Special tokens in id order. Their text is cut out of the corpus (a document border stands in
  // its place): leftmost first, the longest where several begin at one place.
  std::vector<std::string> specials;
  SpecialPlace special_place = SpecialPlace::kFirst;
  // A pair that occurs less often is not merged.
  uint64_t min_frequency = 1;
  // Longest allowed token in bytes, at least 2; 0 = no limit. (Hugging Face's number is one more.)
  uint64_t max_token_length = 0;
  ByteOrder byte_order = ByteOrder::kGpt2;
  // Each document (and each part between special tokens) that does not begin with a space is read
  // as if it did; the tokenizer then encodes in the same way. Patterns gpt2 and none only.
  bool add_prefix_space = false;
  // Bytes of memory that training takes at most, with those of the process around it; 0 = no limit.
  // Counts that would take more go to files without names in temp_dir. Not limited: what a regex
  // splitter notes of one text (16 bytes a piece).
  uint64_t memory_limit = 0;
  std::string temp_dir;  // an existing directory; with memory_limit only
};

enum class StopReason { kVocabSize, kNoPairs, kMinFrequency };

struct TrainReport {
  uint64_t documents = 0;
  uint64_t bytes = 0;       // of the documents
  uint64_t pre_tokens = 0;  // sum of counts
  uint64_t distinct_pre_tokens = 0;
  uint64_t merges = 0;      // length of the merge list
  uint64_t reused_ids = 0;  // merges whose bytes were a token already (merge_learner.h: none)
  uint64_t first_merge_count = 0;  // occurrences of the first and the last merged pair
  uint64_t last_merge_count = 0;
  uint64_t tokens = 0;  // of all pre-tokens, cut by the merges learned
  StopReason stopped = StopReason::kNoPairs;
};

struct TrainResult {
  BpeTokenizer tokenizer;
  TrainReport report;
};

// One merge of a run. Tokens are numbered without special tokens: 0 to 255 are the bytes in the
// order of byte_order, 256 is what the first merge made.
struct TrainedMerge {
  uint32_t left = 0;
  uint32_t right = 0;
  uint64_t count = 0;  // occurrences of the pair
  friend bool operator==(const TrainedMerge&, const TrainedMerge&) = default;
};

// For a run that keeps its merges for a later one, or goes on from those of an earlier one.
struct MergeLog {
  // The first merges, which are made anew and must be these; as many as the vocabulary has room
  // for.
  std::span<const TrainedMerge> known;
  // Names the place of one of them in errors, by its index; may be empty.
  std::function<std::string(size_t)> known_where;
  // Gets every merge behind the known ones as soon as it is chosen; may be empty.
  std::function<void(const TrainedMerge&)> learned;
};

// A text to count; `where` names it in errors.
struct TrainerDocument {
  std::string_view text;
  std::string_view where = "text";
  uint64_t where_offset = 0;  // of the text's first byte in what `where` names
  // false: goes on where an earlier one was cut (may_cut_texts()) and is no further document.
  bool begins = true;
  // The text lies in a FileBytes that is_mapped(): its pages are given back as they are counted,
  // every 4 MiB. A text that is not cut, for its options or for want of a place, is resident as a
  // whole when its last piece is counted, and all of it is given back then.
  bool is_mapped = false;
};

// Smallest vocab_size for a number of special tokens: 256 + special_count.
inline constexpr uint64_t min_vocab_size(size_t special_count) {
  return 256 + special_count;
}

// Collects counts, then trains. Not thread-safe; add_documents() brings its threads along. Movable.
// After an exception from anything but the constructor the counts are incomplete.
class BpeTrainer {
 public:
  // Throws UsageError: vocab_size too small (the message names the minimum) or beyond what ids
  // hold, a special token that is empty, given twice, not valid UTF-8 or written in a
  // tokenizer.json as a byte token is ("A", U+0120), max_token_length = 1, an unknown pattern name;
  // FormatError for a regex that cannot be translated.
  explicit BpeTrainer(TrainerOptions options);
  BpeTrainer(BpeTrainer&&) noexcept;
  BpeTrainer& operator=(BpeTrainer&&) noexcept;
  ~BpeTrainer();

  // Counts the pre-tokens of one text; any bytes. May be called again and again. `where` names the
  // text in errors. Throws FormatError when a regex splitter hits its limit.
  void add_document(std::string_view text, std::string_view where = "text");

  // The same for several texts on the threads of `pool`, one call after another. Of several errors
  // the one of the earliest text is thrown. One text is split by one thread, except that with a
  // named pattern and no prefix space a text of 128 KiB and more is cut about every 64 KiB where
  // that changes no piece (document_cut.h): after a line feed, between a character that is no white
  // space and a letter. Texts with no such place, or special tokens with a line feed before their
  // last byte, keep a text on one thread. With a memory limit, throws UsageError naming the limit
  // that would do when the threads or one pre-token need more, IoError when the disk is full.
  void add_documents(std::span<const TrainerDocument> documents, base::ThreadPool& pool);

  // Whether a long text may be given in parts: cut by find_safe_cut() (document_cut.h) it has the
  // same pieces. So with a named pattern, no prefix space and no special token with a line feed
  // before its last byte.
  bool may_cut_texts() const;

  // Adds `count` occurrences of one pre-token (not split any further, but the text of special
  // tokens is cut out); lets word counts stand in for a corpus. Throws UsageError when
  // the bytes of all occurrences together would pass 2^63 - 1.
  void add_pre_token(std::string_view bytes, uint64_t count);
  // Adds the size of the corpus that counted pre-tokens come from, for the report. Throws
  // UsageError when a sum would pass 2^63 - 1.
  void add_counted_corpus(uint64_t documents, uint64_t bytes);

  // What was added so far; words are counted once all threads' are put together.
  CountsTotals totals() const;
  // Occurrences of pre-tokens so far; cheap.
  uint64_t pre_token_count() const;
  // Calls `use` with every distinct pre-token and its occurrences, ascending by bytes.
  void for_each_pre_token(const std::function<void(std::string_view, uint64_t)>& use) const;

  // Learns the merges. Throws UsageError when the counts of all threads together are too large, or
  // learning needs more memory than the limit, naming one that would do.
  // Progress: phase "merge", unit "merges". The counts stay, so train() may be
  // called after more documents; the result does not depend on earlier calls.
  // Time: about the sum over merges of the occurrences of the merged pair, plus a heap step per
  // changed pair. Memory: merge_learner.h.
  // Throws FormatError for known merges of `log` that are not those of the counts, and what
  // log.learned throws.
  TrainResult train(const base::ProgressFn& progress = {}, const MergeLog& log = {}) const&;
  // The same, without the memory of the counts: the trainer may then only be destroyed.
  TrainResult train(const base::ProgressFn& progress = {}, const MergeLog& log = {}) &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BPE_TRAINER_H_
