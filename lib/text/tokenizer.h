// SPDX-License-Identifier: Apache-2.0
// BPE tokenizer, on bytes or (Llama 2) on characters: text to ids and back. Encoding runs in this
// order:
//   1. added tokens (special tokens among them) are found in the text, leftmost first, the longest
//      where several begin at one place, and cut it into segments;
//   2. the normalizer, if there is one, rewrites each segment (added tokens with `normalized` are
//      then looked for in the result);
//   3. the pre-tokenizer splits each segment into pieces;
//   4. BPE turns the bytes of each piece into ids.
// Input is any byte string (a vocabulary that lacks bytes which UTF-8 never uses refuses those, see
// encode); without a normalizer (and without added tokens that eat blanks) decode
// gives back exactly the bytes that were encoded. A tokenizer on characters refuses text that is
// not valid UTF-8. Files are read and written by tokenizer_file.h,
// training is bpe_trainer.h.
#ifndef NETCL_TEXT_TOKENIZER_H_
#define NETCL_TEXT_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_span.h"

namespace netcl::base {
class ThreadPool;
}

namespace netcl::text {

struct TokenizerParts;  // tokenizer_parts.h: what a tokenizer is made of
struct TrainerOptions;  // bpe_trainer.h
class TokenizerState;   // tokenizer_state.h

// What the text of an added token in the input means. `special` is the flag of the added token.
//   kRefuse: the text of a special one is an error, unless EncodeOptions::allowed names it
//   kPlain:  special ones are ordinary text, except those that EncodeOptions::allowed names
//   kAllow:  special ones become their ids
//   kNone:   no added token is recognised at all, special or not (text from strangers)
// In the first three, added tokens that are not special always become their ids.
enum class SpecialPolicy { kRefuse, kPlain, kAllow, kNone };

inline constexpr size_t kDefaultCacheBytes = size_t{128} << 20;

inline constexpr uint64_t kLeastMaxPiece = 64;
inline constexpr uint64_t kDefaultMaxPiece = uint64_t{1} << 30;
inline constexpr uint64_t kMostMaxPiece = UINT32_MAX - 1;

struct EncodeOptions {
  SpecialPolicy special = SpecialPolicy::kRefuse;
  // Contents of special tokens that become their ids under kRefuse and kPlain. A name that is no
  // added token of the tokenizer is a UsageError; so is any name under kNone.
  std::vector<std::string> allowed;
  // Bytes of the text that added tokens, special or not, may be made from (ascending, apart); what
  // lies outside is ordinary text, and nothing else changes. Without it all bytes may.
  std::optional<std::vector<ByteSpan>> trusted;
  // Adds what the file's post-processor adds around one text (BOS, EOS, [CLS] ...).
  bool apply_template = false;
  // What the error about a refused special token tells the user to do.
  std::string_view refused_hint = "allow it, or have it read as plain text";
  // Memory for ids of pieces seen before, of each thread that encodes: see piece_cache.h. More
  // makes texts with many different words faster, up to a point.
  size_t cache_bytes = kDefaultCacheBytes;
  // Longest piece that the pre-tokenizer may leave, and longest text between added tokens that the
  // normalizer may be given or make, in bytes: what memory depends on, beside the text and its ids.
  // A longer one is a FormatError with its place. kLeastMaxPiece to kMostMaxPiece.
  uint64_t max_piece = kDefaultMaxPiece;
  // Place shown in errors: "<where>@<where_offset + byte in the text>".
  std::string where = "text";
  uint64_t where_offset = 0;
};

// spans[i] are the bytes, of the text given to encode, that ids[i] was made from. A token from text
// that a normalizer rewrote has the span of the whole characters it came from (so neighbours may
// overlap); a token for text that was inserted (prefix space, template) has an empty span.
struct Encoding {
  std::vector<uint32_t> ids;
  std::vector<ByteSpan> spans;
};

struct DecodeOptions {
  // Leaves out added tokens with special = true.
  bool skip_special = false;
  // The ids go on from ids that were decoded before: nothing is taken off the beginning.
  bool continues = false;
  // Place shown in errors: "<where>: id 7 at position <where_position + index>".
  std::string where = "ids";
  uint64_t where_position = 0;
};

// Immutable; a copy shares the tables. Every member function is safe from several threads at once.
class BpeTokenizer {
 public:
  // Throws FormatError (naming parts.where) when the parts contradict each other: a merge of ids
  // that are no tokens or whose bytes do not join to the result's, a byte of UTF-8 without a token.
  explicit BpeTokenizer(TokenizerParts parts);

  // Trains on the texts that `next` returns, one after the other, until it returns nothing; nothing
  // is learned across two texts. Same as BpeTrainer; throws as it does.
  static BpeTokenizer train_from_iterator(
      const std::function<std::optional<std::string_view>()>& next, const TrainerOptions& options);
  // The same for texts in memory.
  static BpeTokenizer train(std::span<const std::string> texts, const TrainerOptions& options);

  // Ids of a text. Throws FormatError for a refused special token (message names the token and its
  // byte offset), for a byte that the vocabulary lacks, or when a regex splitter hits its limit;
  // UsageError for a bad `allowed`. O(n log n) in the worst case, whatever the input; memory of the
  // order of the text.
  std::vector<uint32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The same ids, by all threads of the pool where the text is long and can_be_cut(), or its
  // pre-tokenizer is one known pattern: into parts of half a megabyte and more.
  std::vector<uint32_t> encode(std::string_view text, const EncodeOptions& options,
                               base::ThreadPool& pool) const;
  // The same ids, handed to `take` in order, a part as soon as it and those before it are there; by
  // one thread at a time, not always the calling one.
  using TakeIds = std::function<void(std::span<const uint32_t>)>;
  void encode(std::string_view text, const EncodeOptions& options, base::ThreadPool& pool,
              const TakeIds& take) const;
  // Whether the parts of a text cut by find_cut() have the ids of the whole: the pre-tokenizer is
  // one known pattern, the normalizer one normal form at most, and no added token depends on what
  // is on the other side of such a place.
  bool can_be_cut() const;
  // The first such place at or after `from`, or text.size(): find_safe_cut() of document_cut.h.
  size_t find_cut(std::string_view text, size_t from) const;
  // Ids and the bytes that each was made from.
  Encoding encode_with_spans(std::string_view text, const EncodeOptions& options = {}) const;
  // Number of ids that encode() would return.
  size_t count(std::string_view text, const EncodeOptions& options = {}) const;

  // Bytes of the tokens, joined; not necessarily valid UTF-8. Throws FormatError naming the id and
  // its position when an id is in a gap or past the end.
  std::string decode(std::span<const uint32_t> ids, const DecodeOptions& options = {}) const;

  // The character that decode() takes off the beginning of the text (the space that the normalizer
  // of a tokenizer on characters puts there); 0 when there is none.
  char stripped_character() const;

  // Bytes of one token (content for an added token); empty when the id has none.
  std::string_view token_bytes(uint32_t id) const;
  bool contains(uint32_t id) const { return !token_bytes(id).empty(); }
  // True for an added token with special = true.
  bool is_special(uint32_t id) const;
  // Id of the added token with this content, special or not.
  std::optional<uint32_t> find_added(std::string_view content) const;
  // Id of the ordinary token with exactly these bytes.
  std::optional<uint32_t> find_token(std::string_view bytes) const;

  // Largest id plus one. Rows of an embedding table; ids below it may be gaps (contains()).
  uint32_t id_limit() const;
  // Number of ids that have a token, added ones included.
  size_t vocab_size() const;

  // Length of the longest prefix of `ids` with at most `limit` ids that does not end inside a UTF-8
  // character of the whole sequence. Throws like decode().
  size_t prefix_at_character(std::span<const uint32_t> ids, size_t limit) const;

  // What the tokenizer is made of, for the file writers.
  const TokenizerParts& parts() const;

 private:
  std::shared_ptr<const TokenizerState> state_;
};

// What happens with bytes that are not well-formed UTF-8: passed on; each maximal ill-formed part
// replaced by U+FFFD (as the WHATWG decoder does); refused.
enum class Utf8Errors { kRaw, kReplace, kStrict };

// Decodes ids that arrive bit by bit and never hands out an unfinished UTF-8 character: bytes that
// may still become one are held back. The parts joined are the one-shot decode (kRaw), or that
// decode with its ill-formed parts replaced (kReplace). Not thread-safe; keeps its own copy of the
// (shared) tokenizer.
class StreamDecoder {
 public:
  explicit StreamDecoder(BpeTokenizer tokenizer, DecodeOptions options = {},
                         Utf8Errors errors = Utf8Errors::kRaw);
  // Appends to `out` what can be shown now. Throws FormatError like decode(), and under kStrict at
  // the first ill-formed byte, naming its offset in the output.
  void push(std::span<const uint32_t> ids, std::string& out);
  // Appends what is held back: as it is, or as exactly one U+FFFD, or as an error (kStrict). The
  // decoder then starts anew.
  void finish(std::string& out);

 private:
  void drain(bool at_end, std::string& out);

  BpeTokenizer tokenizer_;
  DecodeOptions options_;
  Utf8Errors errors_;
  bool at_start_ = true;     // of the text: stripped_character() may come
  std::string held_;         // at most the bytes of one unfinished character between calls
  uint64_t ids_done_ = 0;    // position of the next id, for messages
  uint64_t bytes_done_ = 0;  // decoded bytes handed on, for messages
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_TOKENIZER_H_
