// SPDX-License-Identifier: Apache-2.0
// Reader of tokenizer.json. Supported: models of type BPE, the normalizers, pre-tokenizers and
// post-processors that hf_fields.cpp names, added tokens with all their flags. With a ByteLevel
// pre-tokenizer the model works on bytes and the decoder is ByteLevel; without one it works on
// characters (char_bpe_encoder.h), with byte_fallback and unk_token, and the decoder is made of
// Replace, ByteFallback, Fuse and Strip. `truncation`, `padding` and templates are applied on
// request (sequence_shape.h): they say how batches are shaped, not what the ids of a text are.
// Added tokens get the ids that Hugging Face `tokenizers` gives them: that of the vocabulary when
// the content is a token there, else the size of the vocabulary and so on; the `id` field is not
// believed.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "text/hf_fields.h"
#include "text/hf_json.h"
#include "text/printable_vocabulary.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

using base::FormatError;
using base::Json;
using base::quote;

namespace {

void check_model_fields(const HfObject& model) {
  model.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"});
  if (model.has("type") && model.text("type") != "BPE") {
    model.refuse("type", "only BPE is");
  }
  if (model.has("dropout") && model.field("dropout") != 0) {
    model.refuse("dropout", "encoding must be deterministic");
  }
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (model.has(key) && !model.text(key).empty()) {
      model.refuse(key, "byte-level tokens carry no affix");
    }
  }
}

// Fields of a model on bytes: every byte has a token, so the unknown token is never used and
// neither is its fusing.
void check_byte_model(const HfObject& model) {
  if (model.flag_or("byte_fallback", false)) {
    model.refuse("byte_fallback", "it is for models without a ByteLevel pre-tokenizer");
  }
  if (model.has("unk_token")) {
    model.text("unk_token");
  }
  model.flag_or("fuse_unk", false);
}

CharModel read_char_model(const HfObject& model, const Json& decoder, const std::string& where) {
  CharModel characters;
  characters.byte_fallback = model.flag_or("byte_fallback", false);
  characters.fuse_unknown = model.flag_or("fuse_unk", false);
  read_char_decoder(decoder, where, characters);
  return characters;
}

std::vector<AddedToken> read_added_tokens(const Json& list, const std::string& where) {
  std::vector<AddedToken> tokens;
  if (list.is_null()) {
    return tokens;
  }
  if (!list.is_array()) {
    throw FormatError(where + ": field 'added_tokens': expected an array, found " +
                      list.type_name());
  }
  std::unordered_set<std::string> seen;
  for (const Json& element : list) {
    const HfObject object(element, where + ": added_tokens[" + std::to_string(tokens.size()) + "]");
    object.allow_only(
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.content = object.text("content");
    token.id = object.id("id");
    token.special = object.flag("special");
    token.single_word = object.flag("single_word");
    token.lstrip = object.flag("lstrip");
    token.rstrip = object.flag("rstrip");
    token.normalized = object.flag("normalized");
    if (token.content.empty() || !seen.insert(token.content).second) {
      throw FormatError(object.place() + ": content " + quote(token.content) +
                        (token.content.empty() ? " is empty" : " was added before"));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The unknown token must be in the vocabulary.
void find_unknown(const HfObject& model, const PrintableVocabulary& vocabulary,
                  CharModel& characters) {
  if (!model.has("unk_token")) {
    return;
  }
  characters.unknown_id = vocabulary.find(model.text("unk_token"));
  if (!characters.unknown_id) {
    model.refuse("unk_token", "it is not in the vocabulary");
  }
}

void number_added_tokens(const PrintableVocabulary& vocabulary, TokenizerParts& parts) {
  uint32_t next = static_cast<uint32_t>(vocabulary.size());
  for (AddedToken& token : parts.added_tokens) {
    if (const std::optional<uint32_t> id = vocabulary.find(token.content)) {
      token.id = *id;
      continue;
    }
    token.id = next++;
    if (vocabulary.has_id(token.id)) {
      throw FormatError(parts.where + ": added token " + quote(token.content) +
                        " would get the id " + std::to_string(token.id) +
                        ", which a token of the vocabulary has; the vocabulary has holes");
    }
  }
}

void check_template_ids(const TokenizerParts& parts) {
  std::unordered_set<uint32_t> added;
  for (const AddedToken& token : parts.added_tokens) {
    added.insert(token.id);
  }
  for (const std::vector<uint32_t>* ids : {&parts.template_prefix, &parts.template_suffix}) {
    for (const uint32_t id : *ids) {
      if (!added.contains(id) && !parts.vocabulary.contains(id)) {
        throw FormatError(parts.where + ": post_processor: id " + std::to_string(id) +
                          " is no token");
      }
    }
  }
}

}  // namespace

BpeTokenizer parse_tokenizer_json(std::string_view bytes, const std::string& where) {
  const HfJson json = parse_hf_json(bytes, where);
  const HfObject top(json.tree, where);
  top.allow_only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                  "post_processor", "decoder", "model"});
  if (top.has("version") && top.text("version") != "1.0") {
    top.refuse("version", "known: 1.0");
  }
  const HfObject model = top.object("model");
  if (!json.has_vocab || !json.has_merges) {
    // Models of another kind have a vocab or merges of another shape: name the kind first.
    if (model.has("type") && model.text("type") != "BPE") {
      model.refuse("type", "only BPE is");
    }
    throw FormatError(model.place() + ": field '" + (json.has_vocab ? "merges" : "vocab") +
                      "' is missing or of the wrong type");
  }
  check_model_fields(model);

  const Json nothing;
  const auto field = [&](std::string_view key) -> const Json& {
    return top.has(key) ? top.field(key) : nothing;
  };
  TokenizerParts parts;
  parts.where = where;
  parts.ignore_merges = model.flag_or("ignore_merges", false);
  parts.normalizer = Normalizer(read_normalizer(field("normalizer"), where));
  parts.pre_tokenizer = PreTokenizer(read_pre_tokenizer(field("pre_tokenizer"), where));
  const std::vector<PreTokenizerStep>& steps = parts.pre_tokenizer.steps();
  if (std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step.byte_level; })) {
    check_byte_model(model);
    check_decoder(field("decoder"), where);
  } else {
    parts.characters = read_char_model(model, field("decoder"), where);
  }
  read_post_processor(field("post_processor"), where, parts);
  parts.truncation = read_truncation(field("truncation"), where);
  parts.padding = read_padding(field("padding"), where);
  parts.added_tokens = read_added_tokens(field("added_tokens"), where);
  const PrintableVocabulary vocabulary(json.vocab, parts, where + ": model.vocab");
  vocabulary.add_merges(
      json.merges,
      [&](size_t index) { return where + ": model.merges[" + std::to_string(index) + "]"; },
      "the vocabulary");
  if (parts.characters) {
    find_unknown(model, vocabulary, *parts.characters);
  }
  number_added_tokens(vocabulary, parts);
  check_template_ids(parts);
  return BpeTokenizer(std::move(parts));
}

}  // namespace netcl::text
