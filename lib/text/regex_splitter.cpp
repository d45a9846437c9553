// SPDX-License-Identifier: Apache-2.0
#include "text/regex_splitter.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"
#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr uint32_t kMatchLimit = 100'000'000;
constexpr uint32_t kHeapLimitKib = 1u << 20;
// PCRE2's limit is one of each attempt at a place. A pattern that looks far ahead at every place of
// a long run (a*b|a in a text of a) stays below it and takes time by the square of the run; so the
// search of a text has a limit of its own, which ordinary patterns stay far below.
constexpr double kSearchSeconds = 5;
constexpr double kSearchSecondsPerByte = 5e-6;
// How often the clock is read: it takes longer than many a match.
constexpr size_t kMatchesPerLook = 32;
// Of one call of PCRE2, so that a search without matches comes back between.
constexpr size_t kStartsPerCall = 1024;
constexpr size_t kStartsPerSlowCall = 16;
constexpr size_t kJitStackStart = 64u << 10;
constexpr size_t kJitStackMax = 64u << 20;

std::string pcre2_message(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

template <auto kFree>
struct Pcre2Delete {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <class T, auto kFree>
using Pcre2Ptr = std::unique_ptr<T, Pcre2Delete<kFree>>;

Pcre2Ptr<pcre2_code, pcre2_code_free> compile(const std::string& translated,
                                              std::string_view source) {
  const Pcre2Ptr<pcre2_compile_context, pcre2_compile_context_free> context(
      pcre2_compile_context_create(nullptr));
  if (!context) {
    throw std::bad_alloc();
  }
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Pcre2Ptr<pcre2_code, pcre2_code_free> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_USE_OFFSET_LIMIT, &error, &offset, context.get()));
  if (!code) {
    throw base::FormatError("pattern: cannot be compiled: " + pcre2_message(error) + " in " +
                            base::quote(source, 200));
  }
  // Without just-in-time support the interpreter does the work.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return code;
}

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The time of this thread that the search of one text may take, from the first look at the clock:
// short texts, which most are, see none.
class SearchTime {
 public:
  explicit SearchTime(size_t text_bytes)
      : allowed_(kSearchSeconds + kSearchSecondsPerByte * static_cast<double>(text_bytes)) {}
  // After a call of PCRE2, which may have found nothing in up to starts_per_call() places.
  bool is_over(bool found) {
    if (found && ++matches_ % kMatchesPerLook != 0) {
      return false;
    }
    const double now = thread_seconds();
    begin_ = begin_ == 0 ? now : begin_;
    is_slow_ = now - begin_ > kSearchSeconds / 10;
    return now - begin_ > allowed_;
  }
  size_t starts_per_call() const { return is_slow_ ? kStartsPerSlowCall : kStartsPerCall; }
  double allowed() const { return allowed_; }

 private:
  double allowed_;
  double begin_ = 0;
  size_t matches_ = 0;
  bool is_slow_ = false;
};

// What one running split() needs of PCRE2.
struct Workspace {
  explicit Workspace(const pcre2_code* code)
      : data(pcre2_match_data_create_from_pattern(code, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        jit_stack(pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr)) {
    if (!data || !context || !jit_stack) {
      throw std::bad_alloc();
    }
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_heap_limit(context.get(), kHeapLimitKib);
    pcre2_jit_stack_assign(context.get(), nullptr, jit_stack.get());
  }
  Pcre2Ptr<pcre2_match_data, pcre2_match_data_free> data;
  Pcre2Ptr<pcre2_match_context, pcre2_match_context_free> context;
  Pcre2Ptr<pcre2_jit_stack, pcre2_jit_stack_free> jit_stack;
};

// A text as PCRE2 may read it, and the way back to the offsets of the original.
class Subject {
 public:
  explicit Subject(std::string_view text) : text_(text) {
    size_t pos = find_ill_formed(text);
    if (pos == text.size()) {
      return;
    }
    for (size_t begin = 0;;) {
      copy_.append(text, begin, pos - begin);
      if (pos == text.size()) {
        break;
      }
      replaced_.push_back(copy_.size());
      append_utf8(kReplacementCharacter, copy_);
      begin = pos + 1;
      pos = find_ill_formed(text, begin);
    }
    text_ = copy_;
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  std::string_view text() const { return text_; }
  // Offset in the original of a character boundary of text().
  size_t original(size_t offset) const {
    // Each replacement before the offset is three bytes for one.
    const auto before = std::lower_bound(replaced_.begin(), replaced_.end(), offset);
    return offset - 2 * static_cast<size_t>(before - replaced_.begin());
  }

 private:
  std::string_view text_;
  std::string copy_;
  std::vector<size_t> replaced_;  // where the replacements are in copy_
};

// A stretch of the text between two decisions of the search.
struct Span {
  Piece piece;
  bool is_match = false;
};

// Joins a match to the span before it unless that span is a match too.
std::vector<Span> merged_with_previous(const std::vector<Span>& spans) {
  std::vector<Span> merged;
  bool previous_match = false;
  for (const Span& span : spans) {
    if (span.is_match && !previous_match && !merged.empty()) {
      merged.back().piece.end = span.piece.end;
    } else {
      merged.push_back(span);
    }
    previous_match = span.is_match;
  }
  return merged;
}

std::vector<Span> merged_with_next(const std::vector<Span>& spans) {
  std::vector<Span> merged;
  bool next_match = false;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    if (span->is_match && !next_match && !merged.empty()) {
      merged.back().piece.begin = span->piece.begin;
    } else {
      merged.push_back(*span);
    }
    next_match = span->is_match;
  }
  std::reverse(merged.begin(), merged.end());
  return merged;
}

std::vector<Span> contiguous(const std::vector<Span>& spans) {
  std::vector<Span> joined;
  bool previous_match = false;
  for (const Span& span : spans) {
    if (span.is_match == previous_match && !joined.empty()) {
      joined.back().piece.end = span.piece.end;
    } else {
      joined.push_back(span);
    }
    previous_match = span.is_match;
  }
  return joined;
}

class Pcre2Splitter final : public PreSplitter, public RegexMatcher {
 public:
  Pcre2Splitter(std::string_view regex, SplitBehavior behavior, bool invert, RegexDialect dialect)
      : pattern_(regex),
        behavior_(behavior),
        invert_(invert),
        code_(compile(translate_pattern(regex, dialect), regex)) {}

  void split(std::string_view text, std::vector<Piece>& pieces) const override {
    if (text.empty()) {
      return;
    }
    std::vector<Span> spans = find_spans(text);
    switch (behavior_) {
      case SplitBehavior::kIsolated:
        break;
      case SplitBehavior::kRemoved:
        std::erase_if(spans, [](const Span& span) { return span.is_match; });
        break;
      case SplitBehavior::kMergedWithPrevious:
        spans = merged_with_previous(spans);
        break;
      case SplitBehavior::kMergedWithNext:
        spans = merged_with_next(spans);
        break;
      case SplitBehavior::kContiguous:
        spans = contiguous(spans);
        break;
    }
    for (const Span& span : spans) {
      if (span.piece.begin < span.piece.end) {
        pieces.push_back(span.piece);
      }
    }
  }

  void find(std::string_view text, const std::function<void(const Piece&)>& use) const override {
    if (text.empty()) {
      return;
    }
    const Subject subject(text);
    for_each_match(subject, [&](const Piece& match) {
      use({subject.original(match.begin), subject.original(match.end)});
    });
  }

  const std::string& pattern() const override { return pattern_; }
  std::string_view name() const override { return {}; }

 private:
  // Matches and the gaps between them, in order, as offsets of the original text. Empty matches are
  // among them, since they take part in merging.
  std::vector<Span> find_spans(std::string_view text) const {
    const Subject subject(text);
    std::vector<Span> spans;
    size_t gap_begin = 0;
    for_each_match(subject, [&](const Piece& match) {
      if (gap_begin != match.begin) {
        spans.push_back({{gap_begin, match.begin}, invert_});
      }
      spans.push_back({match, !invert_});
      gap_begin = match.end;
    });
    if (gap_begin != subject.text().size()) {
      spans.push_back({{gap_begin, subject.text().size()}, invert_});
    }
    for (Span& span : spans) {
      span.piece = {subject.original(span.piece.begin), subject.original(span.piece.end)};
    }
    return spans;
  }

  // Calls use() with each match, in offsets of the subject.
  template <typename Use>
  void for_each_match(const Subject& subject, const Use& use) const {
    std::unique_ptr<Workspace> workspace = take_workspace();
    size_t search_from = 0;
    std::optional<size_t> last_match_end;
    const std::string_view searched = subject.text();
    SearchTime time(searched.size());
    while (search_from <= searched.size()) {
      const std::optional<Piece> match = search(subject, search_from, *workspace, time);
      if (!match) {
        break;
      }
      if (match->begin == match->end && last_match_end == match->end) {
        search_from += search_from < searched.size() ? decode_utf8(searched, search_from).byte_count
                                                     : size_t{1};
        continue;
      }
      search_from = match->end;
      last_match_end = match->end;
      use(*match);
    }
    give_back(std::move(workspace));
  }

  // The first match that begins at `from` or later.
  std::optional<Piece> search(const Subject& subject, size_t from, Workspace& workspace,
                              SearchTime& time) const {
    const std::string_view text = subject.text();
    for (;;) {
      const size_t next = next_call(text, from, time.starts_per_call());
      const std::optional<Piece> match = search_before(next, subject, from, workspace);
      const bool is_last = !match && next > text.size();
      if (!is_last && time.is_over(match.has_value())) {
        refuse(subject, from,
               "the search takes longer than " +
                   std::to_string(static_cast<uint64_t>(time.allowed())) +
                   " s, so its time grows with the square of a run");
      }
      if (match || is_last) {
        return match;
      }
      from = next;
    }
  }

  // Where the call after that from `from` begins; text.size() + 1 when there is none.
  static size_t next_call(std::string_view text, size_t from, size_t starts) {
    if (text.size() - from <= starts) {
      return text.size() + 1;
    }
    size_t next = from + starts;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) {
      ++next;
    }
    return next;
  }

  [[noreturn]] void refuse(const Subject& subject, size_t from, const std::string& why) const {
    throw RegexLimitError(subject.original(from), "pattern " + base::quote(pattern_) + ": " + why +
                                                      "; shorten the run or use a simpler pattern");
  }

  // The first match that begins at `from` or later, before `end`.
  std::optional<Piece> search_before(size_t end, const Subject& subject, size_t from,
                                     Workspace& workspace) const {
    const std::string_view text = subject.text();
    pcre2_set_offset_limit(workspace.context.get(), end > text.size() ? PCRE2_UNSET : end - 1);
    const auto run = [&](uint32_t options) {
      return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         PCRE2_NO_UTF_CHECK | options, workspace.data.get(),
                         workspace.context.get());
    };
    int result = run(0);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) {
      result = run(PCRE2_NO_JIT);
    }
    if (result == PCRE2_ERROR_NOMATCH) {
      return std::nullopt;
    }
    if (result < 0) {
      refuse(subject, from, pcre2_message(result));
    }
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(workspace.data.get());
    return Piece{offsets[0], offsets[1]};
  }

  std::unique_ptr<Workspace> take_workspace() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Workspace> workspace = std::move(idle_.back());
        idle_.pop_back();
        return workspace;
      }
    }
    return std::make_unique<Workspace>(code_.get());
  }

  void give_back(std::unique_ptr<Workspace> workspace) const {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  }

  std::string pattern_;
  SplitBehavior behavior_;
  bool invert_;
  Pcre2Ptr<pcre2_code, pcre2_code_free> code_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;  // one per concurrent split() so far
};

}  // namespace

std::shared_ptr<const PreSplitter> make_pcre2_splitter(std::string_view regex,
                                                       SplitBehavior behavior, bool invert,
                                                       RegexDialect dialect) {
  return std::make_shared<Pcre2Splitter>(regex, behavior, invert, dialect);
}

std::shared_ptr<const RegexMatcher> make_regex_matcher(std::string_view regex,
                                                       RegexDialect dialect) {
  return std::make_shared<Pcre2Splitter>(regex, SplitBehavior::kIsolated, false, dialect);
}

}  // namespace netcl::text
