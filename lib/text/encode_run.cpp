// SPDX-License-Identifier: Apache-2.0
#include "text/encode_run.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"
#include "text/document_cut.h"
#include "text/piece_encoder.h"
#include "text/regex_splitter.h"
#include "text/tokenizer_state.h"
#include "text/unicode.h"

namespace netcl::text {

using base::FormatError;
using base::quote;
using base::UsageError;

namespace {

// Shorter texts are not encoded in parallel.
constexpr size_t kLeastParallel = size_t{1} << 21;
// Of a text that is: the ids of a part fit a core's cache, and a thread that is held up costs
// little.
constexpr size_t kPartBytes = size_t{1} << 19;

// Work on parts that are finished in any order and taken up in theirs.
class InOrder {
 public:
  explicit InOrder(size_t count) : finished_(count) {}

  // Part `part` is finished: calls take(next) for every part that can be taken up now, unless
  // another thread is at it. Once take() has thrown, nothing is taken up any more.
  template <typename Take>
  void finish(size_t part, const Take& take) {
    std::unique_lock lock(mutex_);
    finished_[part] = true;
    if (taking_) {
      return;
    }
    taking_ = true;
    while (next_ < finished_.size() && finished_[next_]) {
      const size_t taken = next_++;
      lock.unlock();
      take(taken);
      lock.lock();
    }
    taking_ = false;
  }

 private:
  std::mutex mutex_;
  std::vector<bool> finished_;
  size_t next_ = 0;
  bool taking_ = false;
};

// Memory of parts that have been taken up, for those that come: it is in the processor's cache and
// need not be asked of the system again.
class SpareIds {
 public:
  std::vector<uint32_t> take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) {
      return {};
    }
    std::vector<uint32_t> ids = std::move(spare_.back());
    spare_.pop_back();
    return ids;
  }
  void give(std::vector<uint32_t> ids) {
    ids.clear();
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(ids));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<uint32_t>> spare_;
};

// One encode call.
class EncodeRun {
 public:
  EncodeRun(const TokenizerState& state, const EncodeOptions& options, std::vector<uint32_t>& ids,
            std::vector<ByteSpan>* spans, base::ThreadPool* pool,
            const BpeTokenizer::TakeIds* take = nullptr)
      : state_(state),
        options_(options),
        ids_(ids),
        spans_(spans),
        pool_(pool),
        take_(take),
        pieces_(state.encoders, state.encoder, options.cache_bytes) {
    set_policy();
    if (options.max_piece < kLeastMaxPiece || options.max_piece > kMostMaxPiece) {
      throw UsageError("max_piece " + std::to_string(options.max_piece) + " is not between " +
                       std::to_string(kLeastMaxPiece) + " and " + std::to_string(kMostMaxPiece));
    }
    pieces_->set_max_piece(options.max_piece);
  }

  void encode(std::string_view text) {
    text_ = text;
    if (state_.char_encoder) {
      require_utf8(text);
    }
    if (options_.apply_template) {
      add_template(state_.parts.template_prefix, 0);
    }
    std::vector<AddedMatch> matches;
    if (options_.special != SpecialPolicy::kNone) {
      if (options_.trusted) {
        state_.raw_matcher.find(text, ignored_, *options_.trusted, matches);
      } else {
        state_.raw_matcher.find(text, ignored_, matches);
      }
    }
    size_t at = 0;
    for (const AddedMatch& match : matches) {
      encode_segment(at, match.begin);
      accept(match, match.content_begin, {match.begin, match.end});
      at = match.end;
    }
    encode_segment(at, text.size());
    if (options_.apply_template) {
      add_template(state_.parts.template_suffix, text.size());
    }
    hand_over();
  }

 private:
  struct PartIds {
    std::vector<uint32_t> ids;
    std::exception_ptr error;
  };

  void set_policy() {
    const std::vector<AddedToken>& added = state_.parts.added_tokens;
    if (options_.special == SpecialPolicy::kNone && !options_.allowed.empty()) {
      throw UsageError("special token " + quote(options_.allowed[0]) +
                       " is allowed while no added token is to be recognised");
    }
    std::vector<bool> stopped(added.size());
    if (options_.special == SpecialPolicy::kRefuse || options_.special == SpecialPolicy::kPlain) {
      for (size_t i = 0; i < added.size(); ++i) {
        stopped[i] = added[i].special;
      }
    }
    for (const std::string& name : options_.allowed) {
      const auto found = state_.added_by_content.find(name);
      if (found == state_.added_by_content.end()) {
        throw UsageError(state_.parts.where + ": " + quote(name) +
                         " is no added token of this tokenizer");
      }
      stopped[found->second] = false;
    }
    (options_.special == SpecialPolicy::kRefuse ? refused_ : ignored_) = std::move(stopped);
  }

  void add_template(const std::vector<uint32_t>& ids, size_t at) {
    for (const uint32_t id : ids) {
      add(id, {at, at});
    }
  }

  void add(uint32_t id, ByteSpan span) {
    ids_.push_back(id);
    if (spans_ != nullptr) {
      spans_->push_back(span);
    }
  }

  // An added token was found; `content_at` is where its own text starts in the whole text.
  void accept(const AddedMatch& match, uint64_t content_at, ByteSpan span) {
    const AddedToken& token = state_.parts.added_tokens[match.token];
    if (match.token < refused_.size() && refused_[match.token]) {
      throw FormatError(base::at_byte(options_.where, options_.where_offset + content_at) +
                        ": the input holds the special token " + quote(token.content) + "; " +
                        std::string(options_.refused_hint));
    }
    add(token.id, span);
  }

  // Text between added tokens, [begin, end) of the whole text. What a normal form makes of a long
  // one would be a copy of it that leaves the processor's cache, so it is taken in parts.
  void encode_segment(size_t begin, size_t end) {
    if (state_.parts.normalizer.form() == nullptr || !state_.can_be_cut || spans_ != nullptr ||
        begin >= end || end - begin <= part_bytes()) {
      encode_stretch(begin, end);
      return;
    }
    const std::string_view segment = text_.substr(begin, end - begin);
    const std::vector<std::string_view> parts =
        cut(segment, state_.parts.normalizer.form(), part_bytes());
    const auto place = [&](std::string_view part) {
      return static_cast<size_t>(part.data() - text_.data());
    };
    if (pool_ != nullptr && pool_->thread_count() > 1 && segment.size() >= kLeastParallel) {
      encode_parts(segment.size(), parts, [&](std::string_view part, std::vector<uint32_t>& ids) {
        EncodeRun run(state_, options_, ids, nullptr, nullptr);
        run.text_ = text_;
        run.encode_stretch(place(part), place(part) + part.size());
      });
      return;
    }
    const size_t first_id = ids_.size();
    for (const std::string_view part : parts) {
      const size_t part_end = place(part) + part.size();
      encode_stretch(place(part), part_end);
      reserve_expected_ids(first_id, part_end - begin, segment.size(), ids_);
    }
  }

  void encode_stretch(size_t begin, size_t end) {
    if (begin >= end) {
      return;
    }
    const std::string_view segment = text_.substr(begin, end - begin);
    NormalizedText normalized;
    const bool rewritten = !state_.parts.normalizer.empty() &&
                           state_.parts.normalizer.apply(
                               segment, normalized,
                               {options_.max_piece, options_.where, options_.where_offset + begin});
    const std::string_view text = rewritten ? normalized.text() : segment;
    const auto original = [&](size_t from, size_t to) {
      const ByteSpan span = rewritten ? normalized.original(from, to) : ByteSpan{from, to};
      return ByteSpan{span.begin + begin, span.end + begin};
    };
    std::vector<AddedMatch> matches;
    if (options_.special != SpecialPolicy::kNone) {
      state_.normalized_matcher.find(text, ignored_, matches);
    }
    size_t at = 0;
    for (const AddedMatch& match : matches) {
      const size_t content_end =
          match.content_begin + state_.normalized_matcher.length(match.token);
      if (options_.trusted &&
          !is_within(original(match.content_begin, content_end), *options_.trusted)) {
        continue;
      }
      encode_plain(text, at, match.begin, original);
      accept(match, original(match.content_begin, match.end).begin,
             original(match.begin, match.end));
      at = match.end;
    }
    encode_plain(text, at, text.size(), original);
  }

  // Normalized text without added tokens, [begin, end) of `text`.
  template <typename Original>
  void encode_plain(std::string_view text, size_t begin, size_t end, const Original& original) {
    if (begin >= end) {
      return;
    }
    if (!state_.has_all_bytes) {
      check_bytes(text, begin, end, original);
    }
    const std::string_view plain = text.substr(begin, end - begin);
    if (state_.char_encoder) {
      encode_characters(plain, begin, original);
      return;
    }
    if (spans_ == nullptr && state_.covering_splitter != nullptr) {
      try {
        if (pool_ != nullptr && pool_->thread_count() > 1 && plain.size() >= kLeastParallel) {
          encode_in_parallel(plain);
        } else {
          pieces_->encode_text(plain, *state_.covering_splitter, ids_);
        }
      } catch (const PieceTooLong& error) {
        const size_t at = begin + static_cast<size_t>(error.piece.data() - plain.data());
        refuse_long_piece(original(at, at + error.piece.size()));
      }
      return;
    }
    const PreTokenized& split = split_plain(plain, begin, original);
    for (const Piece& piece : split.pieces) {
      const size_t first = ids_.size();
      if (piece.end - piece.begin > options_.max_piece) {
        refuse_long_piece(
            original(begin + split.original(piece.begin), begin + split.original(piece.end)));
      }
      pieces_->encode_piece(split.text.substr(piece.begin, piece.end - piece.begin), ids_);
      if (spans_ == nullptr) {
        continue;
      }
      size_t at = piece.begin;
      for (size_t i = first; i < ids_.size(); ++i) {
        const size_t next = at + state_.tokens.bytes(ids_[i]).size();
        spans_->push_back(original(begin + split.original(at), begin + split.original(next)));
        at = next;
      }
    }
  }

  // Splits what begins at `begin` of the normalized text.
  template <typename Original>
  const PreTokenized& split_plain(std::string_view plain, size_t begin, const Original& original) {
    PreTokenized& split = pieces_->pre_tokenized();
    try {
      state_.parts.pre_tokenizer.split(plain, split);
    } catch (const RegexLimitError& error) {
      const size_t at = begin + error.offset();
      throw error.at(options_.where_offset + original(at, at).begin, options_.where);
    }
    return split;
  }

  void require_utf8(std::string_view text) const {
    const size_t bad = find_ill_formed(text);
    if (bad != text.size()) {
      throw FormatError(base::at_byte(options_.where, options_.where_offset + bad) + ": the byte " +
                        quote(text.substr(bad, 1)) + " is not UTF-8; the tokenizer " +
                        state_.parts.where + " works on characters and takes valid UTF-8 only");
    }
  }

  template <typename Original>
  void encode_characters(std::string_view plain, size_t begin, const Original& original) {
    const PreTokenized& split = split_plain(plain, begin, original);
    std::vector<ByteSpan> spans;
    for (const Piece& piece : split.pieces) {
      const auto original_of = [&](uint64_t from, uint64_t to) {
        return original(begin + split.original(piece.begin + from),
                        begin + split.original(piece.begin + to));
      };
      const size_t size = piece.end - piece.begin;
      if (size > options_.max_piece) {
        refuse_long_piece(original_of(0, size));
      }
      const std::string_view bytes = split.text.substr(piece.begin, size);
      if (spans_ == nullptr) {
        state_.char_encoder->encode(bytes, pieces_->cache(), pieces_->char_scratch(), ids_);
        continue;
      }
      spans.clear();
      state_.char_encoder->encode(bytes, pieces_->char_scratch(), ids_, spans);
      for (const ByteSpan& span : spans) {
        spans_->push_back(original_of(span.begin, span.end));
      }
    }
  }

  [[noreturn]] void refuse_long_piece(ByteSpan piece) const {
    throw FormatError(base::at_byte(options_.where, options_.where_offset + piece.begin) +
                      ": a piece of " + std::to_string(piece.end - piece.begin) +
                      " bytes without a place to split is longer than the " +
                      std::to_string(options_.max_piece) + " allowed (max-piece)");
  }

  // Of a text that is normalized: no longer than a normalizer may be given, if there are cuts.
  size_t part_bytes() const { return std::min<uint64_t>(kPartBytes, options_.max_piece / 2); }

  static std::vector<std::string_view> cut(std::string_view text, const NormalForm* form,
                                           size_t part_bytes) {
    std::vector<std::string_view> parts;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.size() - begin <= part_bytes
                             ? text.size()
                             : find_safe_cut(text, begin + part_bytes, form);
      parts.push_back(text.substr(begin, end - begin));
      begin = end;
    }
    return parts;
  }

  void encode_in_parallel(std::string_view text) {
    const std::vector<std::string_view> parts = cut(text, nullptr, kPartBytes);
    encode_parts(text.size(), parts, [&](std::string_view part, std::vector<uint32_t>& ids) {
      const PieceEncoderPool::Lease pieces(state_.encoders, state_.encoder, options_.cache_bytes);
      pieces->set_max_piece(options_.max_piece);
      pieces->encode_text(part, *state_.covering_splitter, ids);
    });
  }

  // Calls encode(part, ids) for every part of a text on the threads of the pool.
  template <typename Encode>
  void encode_parts(size_t text_size, const std::vector<std::string_view>& parts,
                    const Encode& encode) {
    std::vector<PartIds> results(parts.size());
    InOrder in_order(parts.size());
    SpareIds spare;
    hand_over();
    const size_t first_id = ids_.size();
    size_t done = 0;
    pool_->parallel_for(parts.size(), [&](size_t part, size_t) {
      PartIds& result = results[part];
      result.ids = spare.take();
      reserve_first_ids(parts[part].size(), result.ids);
      // Kept per part, so that the first one in the text is the one reported.
      try {
        encode(parts[part], result.ids);
      } catch (...) {
        result.error = std::current_exception();
      }
      in_order.finish(part, [&](size_t next) {
        if (results[next].error) {
          std::rethrow_exception(results[next].error);
        }
        std::vector<uint32_t> ids = std::move(results[next].ids);
        if (take_ != nullptr) {
          (*take_)(ids);
        } else {
          ids_.insert(ids_.end(), ids.begin(), ids.end());
          done += parts[next].size();
          reserve_expected_ids(first_id, done, text_size, ids_);
        }
        spare.give(std::move(ids));
      });
    });
  }

  // Sends on what is there.
  void hand_over() {
    if (take_ != nullptr && !ids_.empty()) {
      (*take_)(ids_);
      ids_.clear();
    }
  }

  template <typename Original>
  void check_bytes(std::string_view text, size_t begin, size_t end, const Original& original) {
    for (size_t at = begin; at < end; ++at) {
      if (!state_.has_byte[static_cast<uint8_t>(text[at])]) {
        throw FormatError(
            base::at_byte(options_.where, options_.where_offset + original(at, at + 1).begin) +
            ": the vocabulary of " + state_.parts.where + " has no token for the byte " +
            quote(text.substr(at, 1)) + ", which is never part of UTF-8 text");
      }
    }
  }

  const TokenizerState& state_;
  const EncodeOptions& options_;
  std::vector<uint32_t>& ids_;
  std::vector<ByteSpan>* spans_;
  base::ThreadPool* pool_;
  const BpeTokenizer::TakeIds* take_;
  std::string_view text_;
  std::vector<bool> ignored_;  // by index of the added token: passed over
  std::vector<bool> refused_;  // ... an error
  PieceEncoderPool::Lease pieces_;
};

}  // namespace

void encode_text(const TokenizerState& state, std::string_view text, const EncodeOptions& options,
                 std::vector<uint32_t>& ids, std::vector<ByteSpan>* spans, base::ThreadPool* pool,
                 const BpeTokenizer::TakeIds* take) {
  EncodeRun(state, options, ids, spans, pool, take).encode(text);
}

void reserve_first_ids(size_t text_bytes, std::vector<uint32_t>& ids) {
  ids.reserve(std::min(text_bytes, size_t{1} << 18) / 3 + 8);
}

}  // namespace netcl::text
