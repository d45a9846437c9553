// SPDX-License-Identifier: Apache-2.0
// The fields of a tokenizer.json about what happens with ids: post_processor, truncation, padding
// and decoder. The fields about text are in hf_fields.cpp.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/hf_fields.h"

namespace netcl::text {

using base::FormatError;
using base::Json;

namespace {

// `direction`: which end is cut or filled.
bool read_is_left(const HfObject& object) {
  const std::string direction = object.text("direction");
  if (direction != "Left" && direction != "Right") {
    object.refuse("direction", "known: Left, Right");
  }
  return direction == "Left";
}

// ["[CLS]", 101]
uint32_t read_token_pair(const HfObject& object, std::string_view key) {
  const Json& pair = object.array(key);
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_unsigned() ||
      pair[1].get<uint64_t>() >= kMaxIdCount) {
    object.refuse(key, "expected a token and its id");
  }
  return pair[1].get<uint32_t>();
}

void read_template(const HfObject& object, TokenizerParts& parts) {
  object.allow_only({"type", "single", "pair", "special_tokens"});
  std::vector<uint32_t> prefix;
  std::vector<uint32_t> suffix;
  bool seen_text = false;
  for (const Json& element : object.array("single")) {
    const HfObject piece(element, object.place() + ".single");
    piece.allow_only({"SpecialToken", "Sequence"});
    if (piece.has("Sequence")) {
      if (seen_text || piece.object("Sequence").text("id") != "A") {
        throw FormatError(piece.place() + ": expected the sequence A once");
      }
      seen_text = true;
      continue;
    }
    const std::string name = piece.object("SpecialToken").text("id");
    const HfObject token = object.object("special_tokens").object(name);
    for (const Json& id : token.array("ids")) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= kMaxIdCount) {
        token.refuse("ids", "expected ids");
      }
      (seen_text ? suffix : prefix).push_back(id.get<uint32_t>());
    }
  }
  if (!seen_text) {
    throw FormatError(object.place() + ".single: the sequence A is missing");
  }
  parts.template_prefix.insert(parts.template_prefix.begin(), prefix.begin(), prefix.end());
  parts.template_suffix.insert(parts.template_suffix.end(), suffix.begin(), suffix.end());
}

}  // namespace

void read_post_processor(const Json& value, const std::string& where, TokenizerParts& parts) {
  if (value.is_null()) {
    return;
  }
  for_each_step(value, where + ": post_processor", "processors", [&](const HfObject& object) {
    const std::string type = object.text("type");
    if (type == "ByteLevel") {
      // Says how offsets are trimmed; spans here are of the bytes as they are.
      object.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    } else if (type == "TemplateProcessing") {
      read_template(object, parts);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      object.allow_only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
      parts.template_prefix.insert(parts.template_prefix.begin(), read_token_pair(object, "cls"));
      parts.template_suffix.push_back(read_token_pair(object, "sep"));
    } else {
      object.refuse("type",
                    "known: ByteLevel, TemplateProcessing, BertProcessing, RobertaProcessing, "
                    "Sequence");
    }
  });
}

std::optional<Truncation> read_truncation(const Json& value, const std::string& where) {
  if (value.is_null()) {
    return std::nullopt;
  }
  const HfObject object(value, where + ": truncation");
  object.allow_only({"direction", "max_length", "strategy", "stride"});
  Truncation truncation;
  truncation.max_length = object.count("max_length");
  truncation.stride = object.count("stride");
  const std::string strategy = object.text("strategy");
  if (strategy != "LongestFirst" && strategy != "OnlyFirst" && strategy != "OnlySecond") {
    object.refuse("strategy", "known: LongestFirst, OnlyFirst, OnlySecond");
  }
  using Strategy = Truncation::Strategy;
  truncation.strategy = strategy == "LongestFirst" ? Strategy::kLongestFirst
                        : strategy == "OnlyFirst"  ? Strategy::kOnlyFirst
                                                   : Strategy::kOnlySecond;
  truncation.at_left = object.has("direction") && read_is_left(object);
  return truncation;
}

std::optional<Padding> read_padding(const Json& value, const std::string& where) {
  if (value.is_null()) {
    return std::nullopt;
  }
  const HfObject object(value, where + ": padding");
  object.allow_only(
      {"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"});
  Padding padding;
  if (object.field("strategy").is_object()) {
    const HfObject strategy = object.object("strategy");
    strategy.allow_only({"Fixed"});
    padding.fixed_length = strategy.count("Fixed");
  } else if (object.text("strategy") != "BatchLongest") {
    object.refuse("strategy", "known: BatchLongest, {\"Fixed\": N}");
  }
  padding.multiple = object.has("pad_to_multiple_of") ? object.count("pad_to_multiple_of") : 0;
  padding.pad_id = object.id("pad_id");
  padding.pad_type_id = object.count("pad_type_id");
  padding.pad_token = object.text("pad_token");
  padding.at_left = read_is_left(object);
  return padding;
}

void check_decoder(const Json& value, const std::string& where) {
  if (value.is_null()) {
    return;
  }
  for_each_step(value, where + ": decoder", "decoders", [](const HfObject& object) {
    if (object.text("type") != "ByteLevel") {
      object.refuse("type", "known: ByteLevel");
    }
  });
}

void read_char_decoder(const Json& value, const std::string& where, CharModel& model) {
  const std::string place = where + ": decoder";
  if (value.is_null()) {
    throw FormatError(place +
                      ": is missing; a tokenizer without ByteLevel needs one that joins tokens");
  }
  constexpr std::array<std::string_view, 4> kOrder = {"Replace", "ByteFallback", "Fuse", "Strip"};
  size_t last = 0;
  bool fused = false;
  for_each_step(value, place, "decoders", [&](const HfObject& object) {
    const std::string type = object.text("type");
    const size_t step =
        static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), type) - kOrder.begin());
    if (step == kOrder.size() || step < last || (step > 0 && step == last)) {
      object.refuse("type",
                    "known without a ByteLevel pre-tokenizer: Replace, ByteFallback, Fuse, Strip "
                    "in this order");
    }
    last = step;
    if (type == "Replace") {
      object.allow_only({"type", "pattern", "content"});
      const HfPattern pattern = read_pattern(object);
      if (!pattern.is_literal) {
        object.object("pattern").refuse("Regex", "decoders take a String");
      }
      model.replacements.emplace_back(pattern.text, object.text("content"));
    } else if (type == "Strip") {
      object.allow_only({"type", "content", "start", "stop"});
      const std::string content = object.text("content");
      if (content.size() != 1 || static_cast<uint8_t>(content[0]) >= 0x80) {
        object.refuse("content", "one ASCII character is");
      }
      if (!fused || object.count("start") > 1) {
        object.refuse("start", "0 or 1 is, after Fuse");
      }
      if (object.count("stop") != 0) {
        object.refuse("stop", "0 is");
      }
      model.strip_first = object.count("start") == 1 ? content[0] : '\0';
    } else {
      object.allow_only({"type"});
      fused = fused || type == "Fuse";
      model.byte_tokens = model.byte_tokens || type == "ByteFallback";
    }
  });
}

}  // namespace netcl::text
