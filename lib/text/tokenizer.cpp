// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.h"

#include <utility>

#include "base/error.h"
#include "text/bpe_trainer.h"
#include "text/document_cut.h"
#include "text/encode_run.h"
#include "text/tokenizer_state.h"
#include "text/unicode.h"

namespace netcl::text {

using base::FormatError;

BpeTokenizer::BpeTokenizer(TokenizerParts parts) {
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
  encode_text(*state_, text, options, ids);
  return ids;
}

std::vector<uint32_t> BpeTokenizer::encode(std::string_view text, const EncodeOptions& options,
                                           base::ThreadPool& pool) const {
  std::vector<uint32_t> ids;
  encode_text(*state_, text, options, ids, nullptr, &pool);
  return ids;
}

void BpeTokenizer::encode(std::string_view text, const EncodeOptions& options,
                          base::ThreadPool& pool, const TakeIds& take) const {
  std::vector<uint32_t> ids;
  encode_text(*state_, text, options, ids, nullptr, &pool, &take);
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
  encode_text(*state_, text, options, encoding.ids, &encoding.spans);
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
      throw FormatError(options.where + ": id " + std::to_string(ids[shown]) + " at position " +
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
