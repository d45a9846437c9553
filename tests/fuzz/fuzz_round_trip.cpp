// SPDX-License-Identifier: Apache-2.0
// The first bytes choose a tokenizer: rule, split pattern and up to 31 merges; the rest is text,
// which it encodes as the slow reference does and decodes to the same bytes, whatever way is taken:
// with or without a cache, with spans, with added tokens, cut in parts, ids decoded bit by bit.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/bpe_reference.h"
#include "text/document_cut.h"
#include "text/pre_splitter.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

namespace {

using namespace netcl;

constexpr size_t kMostMerges = 31;
constexpr size_t kMostTokenBytes = 40;
constexpr size_t kMostPieceBytes = 160;  // that the reference gets, which is quadratic
constexpr std::string_view kAdded = "<|end|>";
// More bytes than pieces have that are merged by scanning.
constexpr std::string_view kLongPiece =
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

// Bytes taken from the front of the input; zeros behind its end.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  unsigned byte() {
    if (bytes_.empty()) {
      return 0;
    }
    const auto first = static_cast<unsigned char>(bytes_[0]);
    bytes_.remove_prefix(1);
    return first;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

struct Model {
  text::ReferenceVocabulary vocabulary;
  text::ReferenceMerges merges;
  text::Merges id_merges;
  text::MergeRule rule = text::MergeRule::kMergeList;
  bool ignore_merges = false;
  bool after_long_piece = false;  // one was encoded before the text
  std::shared_ptr<const text::PreSplitter> splitter;
};

// A byte stands for itself, one from E0 on for a token made before.
std::string part_of_merge(unsigned byte, const std::vector<std::string>& made) {
  return byte < 0xE0 || made.empty() ? std::string(1, static_cast<char>(byte))
                                     : made[(byte - 0xE0) % made.size()];
}

Model read_model(Input& input) {
  Model model;
  const unsigned choice = input.byte();
  model.rule = (choice & 1) != 0 ? text::MergeRule::kByteRanks : text::MergeRule::kMergeList;
  model.ignore_merges = (choice & 2) != 0;
  const std::vector<std::string_view>& names = text::splitter_names();
  model.splitter = text::make_named_splitter(names[(choice >> 2) % names.size()]);
  for (int byte = 0; byte < 256; ++byte) {
    model.vocabulary.emplace(std::string(1, static_cast<char>(byte)), byte);
  }
  std::vector<std::string> made;
  const unsigned merges = input.byte();
  model.after_long_piece = (merges & 0x80) != 0;
  for (size_t count = merges % (kMostMerges + 1); count > 0; --count) {
    const std::string left = part_of_merge(input.byte(), made);
    const std::string right = part_of_merge(input.byte(), made);
    std::string result = left + right;
    if (result.size() > kMostTokenBytes) {
      continue;
    }
    model.vocabulary.emplace(result, static_cast<uint32_t>(model.vocabulary.size()));
    model.merges.emplace_back(left, right);
    model.id_merges.push_back(
        {model.vocabulary.at(left), model.vocabulary.at(right), model.vocabulary.at(result)});
    made.push_back(std::move(result));
  }
  return model;
}

text::BpeTokenizer make_tokenizer(const Model& model) {
  text::TokenizerParts parts;
  std::vector<text::VocabularyEntry> entries;
  for (const auto& [bytes, id] : model.vocabulary) {
    entries.push_back({id, bytes});
  }
  parts.vocabulary = text::Vocabulary(entries);
  parts.rule = model.rule;
  if (model.rule == text::MergeRule::kMergeList) {
    parts.merges = model.id_merges;
    parts.ignore_merges = model.ignore_merges;
  }
  parts.pre_tokenizer = text::PreTokenizer(
      {text::make_split_step(model.splitter), text::make_byte_level_step(false, false)});
  parts.added_tokens.push_back(
      {.content = std::string(kAdded), .id = static_cast<uint32_t>(entries.size())});
  return text::BpeTokenizer(std::move(parts));
}

struct Entry {
  Model model;
  text::BpeTokenizer tokenizer;
};

// The tokenizer that the first bytes ask for. Making one takes milliseconds, and most inputs have
// the tokenizer of one before, so some are kept. Not those that a long piece in the text changes:
// the first one makes what shorter pieces are encoded with from then on (bpe_encoder.cpp), and what
// an input finds shall not depend on the inputs before it.
const Entry& take_tokenizer(Input& input) {
  constexpr size_t kMostKept = 64;
  static auto* const kept = new std::map<std::string, Entry, std::less<>>();
  const std::string_view all = input.rest();
  Model model = read_model(input);
  const std::string_view key = all.substr(0, all.size() - input.rest().size());
  const bool keep = model.after_long_piece || input.rest().size() < kLongPiece.size();
  const auto found = kept->find(key);
  if (keep && found != kept->end()) {
    return found->second;
  }
  text::BpeTokenizer tokenizer = make_tokenizer(model);
  if (model.after_long_piece) {
    tokenizer.encode(kLongPiece);
  }
  if (!keep) {
    static auto* const used_once = new std::optional<Entry>();
    return used_once->emplace(Entry{std::move(model), std::move(tokenizer)});
  }
  if (kept->size() == kMostKept) {
    kept->clear();
  }
  return kept->emplace(key, Entry{std::move(model), std::move(tokenizer)}).first->second;
}

void append(std::vector<uint32_t>& ids, const std::vector<uint32_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

// Nothing when a piece is too long for the reference.
std::optional<std::vector<uint32_t>> reference_ids(const Model& model, std::string_view text) {
  std::vector<text::Piece> pieces;
  model.splitter->split(text, pieces);
  std::vector<uint32_t> ids;
  for (const text::Piece& piece : pieces) {
    if (piece.end - piece.begin > kMostPieceBytes) {
      return std::nullopt;
    }
    const std::string bytes(text.substr(piece.begin, piece.end - piece.begin));
    append(ids, model.rule == text::MergeRule::kByteRanks
                    ? text::reference_encode_ranks(model.vocabulary, bytes)
                    : text::reference_encode_merges(model.vocabulary, model.merges, bytes,
                                                    model.ignore_merges));
  }
  return ids;
}

void check_spans(const text::BpeTokenizer& tokenizer, const text::Encoding& encoding,
                 std::string_view text) {
  NETCL_CHECK(encoding.spans.size() == encoding.ids.size());
  size_t end = 0;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const text::ByteSpan span = encoding.spans[i];
    NETCL_CHECK(span.begin == end && span.end > span.begin && span.end <= text.size());
    NETCL_CHECK(tokenizer.token_bytes(encoding.ids[i]) ==
                text.substr(span.begin, span.end - span.begin));
    end = span.end;
  }
  NETCL_CHECK(end == text.size());
}

// Parts cut at every safe place, or with `step` at some of them, as threads cut a long text.
std::vector<uint32_t> ids_of_parts(const text::BpeTokenizer& tokenizer, std::string_view text,
                                   const text::EncodeOptions& options, size_t step) {
  std::vector<uint32_t> ids;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text::find_safe_cut(text, std::min(begin + step, text.size()));
    append(ids, tokenizer.encode(text.substr(begin, end - begin), options));
    begin = end;
  }
  return ids;
}

std::string decode_stream(const text::BpeTokenizer& tokenizer, const std::vector<uint32_t>& ids) {
  text::StreamDecoder decoder(tokenizer);
  std::string bytes;
  for (const uint32_t id : ids) {
    decoder.push({&id, 1}, bytes);
  }
  decoder.finish(bytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input({reinterpret_cast<const char*>(data), size});
  const auto& [model, tokenizer] = take_tokenizer(input);
  const std::string_view text = input.rest();

  text::EncodeOptions options;
  options.special = text::SpecialPolicy::kNone;
  options.cache_bytes = size_t{1} << 16;
  const std::vector<uint32_t> ids = tokenizer.encode(text, options);
  NETCL_CHECK(tokenizer.decode(ids) == text);
  NETCL_CHECK(decode_stream(tokenizer, ids) == text);
  if (const auto expected = reference_ids(model, text)) {
    NETCL_CHECK(ids == *expected);
  }
  NETCL_CHECK(tokenizer.can_be_cut());
  for (const size_t step : {1, 50}) {
    NETCL_CHECK(ids_of_parts(tokenizer, text, options, step) == ids);
  }
  const text::Encoding encoding = tokenizer.encode_with_spans(text, options);
  NETCL_CHECK(encoding.ids == ids);
  check_spans(tokenizer, encoding, text);
  options.cache_bytes = 0;
  NETCL_CHECK(tokenizer.encode(text, options) == ids);

  options.special = text::SpecialPolicy::kAllow;
  const std::vector<uint32_t> with_added = tokenizer.encode(text, options);
  NETCL_CHECK(tokenizer.decode(with_added) == text);
  NETCL_CHECK(ids_of_parts(tokenizer, text, options, 20) == with_added);
  if (text.find(kAdded) == std::string_view::npos) {
    NETCL_CHECK(with_added == ids);
  }
  return 0;
}
