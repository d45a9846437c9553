// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/big_buffer.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "text/bpe_trainer.h"
#include "text/document_cut.h"
#include "text/piece_encoder.h"
#include "text/token_table.h"
#include "text/tokenizer_parts.h"
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

// Room for the ids of a short text or the begin of a long one; PieceEncoder reserves the rest when
// it knows how many ids a byte the text has.
void reserve_first_ids(size_t text_bytes, std::vector<uint32_t>& ids) {
  ids.reserve(std::min(text_bytes, size_t{1} << 18) / 3 + 8);
}

std::string show_id(uint32_t id) {
  return "id " + std::to_string(id);
}

// Bytes that no well-formed UTF-8 holds: a vocabulary learned from valid text may lack them.
bool never_in_utf8(int byte) {
  return byte == 0xC0 || byte == 0xC1 || byte >= 0xF5;
}

void check_parts(const TokenizerParts& parts) {
  for (int byte = 0; byte < 256 && !parts.characters; ++byte) {
    const char as_char = static_cast<char>(byte);
    if (!never_in_utf8(byte) && !parts.vocabulary.find({&as_char, 1})) {
      throw FormatError(parts.where + ": no token for the byte " + std::to_string(byte) +
                        "; a byte-level vocabulary has one for every byte of UTF-8 text");
    }
  }
  if (parts.merges.size() >= kMaxIdCount) {
    throw FormatError(parts.where + ": " + std::to_string(parts.merges.size()) +
                      " merges; at most " + std::to_string(kMaxIdCount - 1) + " are allowed");
  }
  for (size_t i = 0; i < parts.merges.size() && !parts.merges_join; ++i) {
    const Merge& merge = parts.merges[i];
    const std::string_view left = parts.vocabulary.bytes(merge.left);
    const std::string_view right = parts.vocabulary.bytes(merge.right);
    const std::string_view result = parts.vocabulary.bytes(merge.result);
    if (left.empty() || right.empty() || result.size() != left.size() + right.size() ||
        !result.starts_with(left) || !result.ends_with(right)) {
      throw FormatError(parts.where + ": merge " + std::to_string(i) + " joins " +
                        show_id(merge.left) + " and " + show_id(merge.right) + " to " +
                        show_id(merge.result) + ", whose bytes are not theirs");
    }
  }
}

}  // namespace

const Vocabulary kNoVocabulary;

// The tables behind a tokenizer, and encoding over them.
class TokenizerState {
 public:
  explicit TokenizerState(TokenizerParts given);

  TokenizerParts parts;
  BpeEncoder encoder;                          // of bytes
  std::optional<CharBpeEncoder> char_encoder;  // in its place, of characters
  std::vector<std::string> decoded;            // with char_encoder: what tokens are decoded to
  TokenTable tokens;
  std::vector<bool> special_by_id;
  std::unordered_map<std::string_view, uint32_t> added_by_content;  // index in parts.added_tokens
  AddedTokenMatcher raw_matcher;
  AddedTokenMatcher normalized_matcher;
  size_t token_count = 0;
  const PreSplitter* covering_splitter = nullptr;
  bool can_be_cut = false;
  mutable PieceEncoderPool encoders;
  std::array<bool, 256> has_byte{};
  bool has_all_bytes = true;
};

TokenizerState::TokenizerState(TokenizerParts given)
    : parts(std::move(given)),
      encoder(parts.characters ? kNoVocabulary : parts.vocabulary, parts.rule,
              parts.characters ? std::span<const Merge>() : parts.merges, parts.ignore_merges) {
  if (parts.characters) {
    char_encoder.emplace(parts.vocabulary, *parts.characters, parts.merges, parts.ignore_merges,
                         parts.where);
  }
  covering_splitter = parts.pre_tokenizer.covering_splitter();
  uint32_t limit = parts.vocabulary.id_limit();
  for (const auto& [id, bytes] : parts.decode_only) {
    limit = std::max(limit, id + 1);
  }
  for (const AddedToken& token : parts.added_tokens) {
    limit = std::max(limit, token.id + 1);
  }
  base::BigVector<std::string_view> bytes_by_id(limit);
  special_by_id.resize(limit);
  for (uint32_t id = 0; id < parts.vocabulary.id_limit(); ++id) {
    bytes_by_id[id] = parts.vocabulary.bytes(id);
  }
  for (const auto& [id, bytes] : parts.decode_only) {
    bytes_by_id[id] = bytes;
  }
  std::vector<std::string> raw(parts.added_tokens.size());
  std::vector<std::string> normalized(parts.added_tokens.size());
  for (uint32_t i = 0; i < parts.added_tokens.size(); ++i) {
    const AddedToken& token = parts.added_tokens[i];
    if (bytes_by_id[token.id].empty()) {
      bytes_by_id[token.id] = token.content;
    }
    special_by_id[token.id] = special_by_id[token.id] || token.special;
    added_by_content.emplace(token.content, i);
    (token.normalized ? normalized : raw)[i] =
        token.normalized ? parts.normalizer.normalize(token.content) : token.content;
  }
  raw_matcher = AddedTokenMatcher(parts.added_tokens, raw);
  normalized_matcher = AddedTokenMatcher(parts.added_tokens, normalized);
  can_be_cut = covering_splitter != nullptr &&
               (parts.normalizer.empty() || parts.normalizer.form() != nullptr);
  for (uint32_t i = 0; i < parts.added_tokens.size(); ++i) {
    AddedToken searched = parts.added_tokens[i];  // as it is looked for
    searched.content = searched.normalized ? normalized[i] : raw[i];
    can_be_cut = can_be_cut && (searched.content.empty() || !may_depend_on_cuts(searched));
  }
  if (parts.characters) {
    decoded.reserve(limit);
    for (std::string_view& bytes : bytes_by_id) {
      decoded.push_back(decoded_token(*parts.characters, bytes));
      if (decoded.back().empty() && !bytes.empty()) {
        throw FormatError(parts.where + ": decoder: the token " + quote(bytes) +
                          " becomes nothing, which is not supported");
      }
      bytes = decoded.back();
    }
  }
  token_count =
      static_cast<size_t>(std::count_if(bytes_by_id.begin(), bytes_by_id.end(),
                                        [](std::string_view bytes) { return !bytes.empty(); }));
  tokens = TokenTable(std::move(bytes_by_id));
  for (size_t byte = 0; byte < has_byte.size() && !parts.characters; ++byte) {
    const char as_char = static_cast<char>(byte);
    has_byte[byte] = parts.vocabulary.find_id({&as_char, 1}) != Vocabulary::kNone;
    has_all_bytes = has_all_bytes && has_byte[byte];
  }
}

namespace {

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
    PreTokenized& split = pieces_->pre_tokenized();
    state_.parts.pre_tokenizer.split(plain, split);
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
    PreTokenized& split = pieces_->pre_tokenized();
    state_.parts.pre_tokenizer.split(plain, split);
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

BpeTokenizer::BpeTokenizer(TokenizerParts parts) {
  check_parts(parts);
  parts.merges_join = false;
  state_ = std::make_shared<const TokenizerState>(std::move(parts));
}

BpeTokenizer BpeTokenizer::train_from_iterator(
    const std::function<std::optional<std::string_view>()>& next, const TrainerOptions& options) {
  BpeTrainer trainer(options);
  while (const std::optional<std::string_view> text = next()) {
    trainer.add_document(*text);
  }
  return trainer.train().tokenizer;
}

BpeTokenizer BpeTokenizer::train(std::span<const std::string> texts,
                                 const TrainerOptions& options) {
  size_t index = 0;
  return train_from_iterator(
      [&]() -> std::optional<std::string_view> {
        return index < texts.size() ? std::optional<std::string_view>(texts[index++])
                                    : std::nullopt;
      },
      options);
}

std::vector<uint32_t> BpeTokenizer::encode(std::string_view text,
                                           const EncodeOptions& options) const {
  std::vector<uint32_t> ids;
  reserve_first_ids(text.size(), ids);
  EncodeRun(*state_, options, ids, nullptr, nullptr).encode(text);
  return ids;
}

std::vector<uint32_t> BpeTokenizer::encode(std::string_view text, const EncodeOptions& options,
                                           base::ThreadPool& pool) const {
  std::vector<uint32_t> ids;
  EncodeRun(*state_, options, ids, nullptr, &pool).encode(text);
  return ids;
}

void BpeTokenizer::encode(std::string_view text, const EncodeOptions& options,
                          base::ThreadPool& pool, const TakeIds& take) const {
  std::vector<uint32_t> ids;
  EncodeRun(*state_, options, ids, nullptr, &pool, &take).encode(text);
}

bool BpeTokenizer::can_be_cut() const {
  return state_->can_be_cut;
}

size_t BpeTokenizer::find_cut(std::string_view text, size_t from) const {
  return find_safe_cut(text, from, state_->parts.normalizer.form());
}

Encoding BpeTokenizer::encode_with_spans(std::string_view text,
                                         const EncodeOptions& options) const {
  Encoding encoding;
  EncodeRun(*state_, options, encoding.ids, &encoding.spans, nullptr).encode(text);
  return encoding;
}

size_t BpeTokenizer::count(std::string_view text, const EncodeOptions& options) const {
  return encode(text, options).size();
}

std::string BpeTokenizer::decode(std::span<const uint32_t> ids,
                                 const DecodeOptions& options) const {
  std::string bytes;
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin;  // of a run that is shown
    if (options.skip_special) {
      while (end < ids.size() && !is_special(ids[end])) {
        ++end;
      }
    } else {
      end = ids.size();
    }
    const size_t shown = begin + state_->tokens.append(ids.subspan(begin, end - begin), bytes);
    if (shown < end) {
      const std::string range = ids[shown] < id_limit()
                                    ? "the vocabulary has no token there"
                                    : "ids go up to " + std::to_string(id_limit() - 1);
      throw FormatError(options.where + ": " + show_id(ids[shown]) + " at position " +
                        std::to_string(options.where_position + shown) + "; " + range);
    }
    begin = end + 1;  // past the special token
  }
  const char strip = stripped_character();
  if (!options.continues && strip != 0 && bytes.starts_with(strip)) {
    bytes.erase(0, 1);
  }
  return bytes;
}

char BpeTokenizer::stripped_character() const {
  return state_->parts.characters ? state_->parts.characters->strip_first : '\0';
}

std::string_view BpeTokenizer::token_bytes(uint32_t id) const {
  return state_->tokens.bytes(id);
}

bool BpeTokenizer::is_special(uint32_t id) const {
  return id < state_->special_by_id.size() && state_->special_by_id[id];
}

std::optional<uint32_t> BpeTokenizer::find_added(std::string_view content) const {
  const auto found = state_->added_by_content.find(content);
  return found == state_->added_by_content.end()
             ? std::nullopt
             : std::optional<uint32_t>(state_->parts.added_tokens[found->second].id);
}

std::optional<uint32_t> BpeTokenizer::find_token(std::string_view bytes) const {
  return state_->parts.vocabulary.find(bytes);
}

uint32_t BpeTokenizer::id_limit() const {
  return state_->tokens.id_limit();
}

size_t BpeTokenizer::vocab_size() const {
  return state_->token_count;
}

size_t BpeTokenizer::prefix_at_character(std::span<const uint32_t> ids, size_t limit) const {
  if (limit >= ids.size()) {
    return ids.size();
  }
  // Bytes of a character on both sides of a cut: at most 3 before it and 3 after it.
  constexpr size_t kReach = 3;
  DecodeOptions in_part;
  in_part.continues = true;
  for (size_t keep = limit; keep > 0; --keep) {
    std::string around;
    size_t first = keep;
    while (first > 0 && around.size() < kReach) {
      around.insert(0, decode(ids.subspan(--first, 1), in_part));
    }
    const size_t cut = around.size();
    for (size_t i = keep; i < ids.size() && around.size() < cut + kReach; ++i) {
      around += decode(ids.subspan(i, 1), in_part);
    }
    const size_t from = cut > kReach ? cut - kReach : 0;
    const bool inside = [&] {
      for (size_t at = from; at < cut; ++at) {
        const DecodedChar c = decode_utf8(around, at);
        if (c.well_formed && at + c.byte_count > cut) {
          return true;
        }
      }
      return false;
    }();
    if (!inside) {
      return keep;
    }
  }
  return 0;
}

const TokenizerParts& BpeTokenizer::parts() const {
  return state_->parts;
}

}  // namespace netcl::text
