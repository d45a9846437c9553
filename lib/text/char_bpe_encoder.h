// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding that starts from characters (Llama 2 and others that came from sentencepiece),
// where the byte-level encoder (bpe_encoder.h) starts from bytes. A character that is no token
// becomes the tokens <0x00> ... <0xFF> of its bytes, or the unknown token, or nothing, as the model
// says. Then the neighbouring pair of lowest rank is merged, the leftmost of equals, until no pair
// has a rank: O(n log n) for any input.
//
// A piece is often a whole text, but merging stays within its words: most models have no merge of
// something before U+2581, which stands for a space, and none with a line feed. Such words are
// encoded each alone, and those seen before are looked up.
#ifndef NETCL_TEXT_CHAR_BPE_ENCODER_H_
#define NETCL_TEXT_CHAR_BPE_ENCODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bpe_encoder.h"
#include "text/byte_span.h"
#include "text/pair_map.h"
#include "text/piece_cache.h"
#include "text/vocabulary.h"

namespace netcl::text {

// What a tokenizer that works on characters has beside vocabulary and merges.
struct CharModel {
  bool byte_fallback = false;
  // Stands for a character that is neither a token nor bytes; without it, such a character is left
  // out (as Hugging Face does).
  std::optional<uint32_t> unknown_id;
  bool fuse_unknown = false;  // a run of unknown characters is one unknown token
  // Decoding: these strings in every token become others, then <0xXX> becomes a byte
  // (`byte_tokens`), the tokens are joined, and one `strip_first`, if it is not 0, is taken off the
  // beginning.
  std::vector<std::pair<std::string, std::string>> replacements;
  bool byte_tokens = false;
  char strip_first = 0;
};

// The byte that "<0x0A>" stands for.
std::optional<uint8_t> byte_of_token(std::string_view token);

// What a token is decoded to, before anything is taken off the beginning.
std::string decoded_token(const CharModel& model, std::string_view token);

// Immutable; encode() is safe from several threads, each with a scratch of its own. Refers to
// vocabulary and model, which must outlive it.
class CharBpeEncoder {
 public:
  struct Node {
    uint32_t id;
    uint32_t previous;
    uint32_t next;
  };
  // Bytes of the word that a node stands for: characters that are left out lie in none.
  struct Extent {
    uint32_t begin;
    uint32_t end;
  };
  // Working memory, reused from piece to piece.
  struct Scratch {
    std::vector<Node> nodes;
    std::vector<Extent> extents;  // of the nodes, for spans
    std::vector<uint64_t> heap;
    std::vector<uint32_t> word_ids;
  };

  // Two merges of the same pair: the later counts. Throws FormatError, beginning with `where`, when
  // byte_fallback lacks some of the tokens for the bytes of UTF-8 but not all of them.
  CharBpeEncoder(const Vocabulary& vocabulary, const CharModel& model,
                 std::span<const Merge> merges, bool ignore_merges, const std::string& where);

  // Appends the ids of `piece`, well-formed UTF-8 of at most 4 GiB - 2 bytes. The cache must have
  // been filled by this encoder only. Memory: some 24 bytes a character of the longest word,
  // with spans 40.
  void encode(std::string_view piece, PieceCache& cache, Scratch& scratch,
              std::vector<uint32_t>& ids) const;
  // The same without a cache; `spans` gets the bytes of the piece that each id was made from.
  void encode(std::string_view piece, Scratch& scratch, std::vector<uint32_t>& ids,
              std::vector<ByteSpan>& spans) const;

 private:
  void find_word_borders(std::span<const Merge> merges);
  bool ends_word(std::string_view before) const;
  size_t word_end(std::string_view piece, size_t begin) const;
  uint32_t whole_piece(std::string_view piece) const;
  void encode_word(std::string_view word, size_t room, PieceCache& cache, Scratch& scratch,
                   std::vector<uint32_t>& ids) const;
  void merge_word(std::string_view word, Scratch& scratch, bool with_extents) const;
  void start_symbols(std::string_view word, std::vector<Node>& nodes,
                     std::vector<Extent>* extents) const;

  const Vocabulary* vocabulary_;
  const CharModel* model_;
  bool whole_piece_first_;
  bool has_byte_tokens_ = false;
  std::array<uint32_t, 256> byte_ids_{};
  PairMap ranks_;
  std::vector<uint32_t> results_;  // by rank
  bool has_words_ = false;
  bool ends_at_line_feed_ = false;
  bool only_blanks_are_joined_ = false;
  std::vector<uint32_t> joined_to_blank_;  // characters that are merged with a U+2581 behind them
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_CHAR_BPE_ENCODER_H_
