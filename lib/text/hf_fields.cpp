// SPDX-License-Identifier: Apache-2.0
#include "text/hf_fields.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace netcl::text {

using base::FormatError;
using base::Json;
using base::quote;

HfObject::HfObject(const Json& value, std::string place)
    : value_(&value), place_(std::move(place)) {
  if (!value.is_object()) {
    throw FormatError(place_ + ": expected an object, found " + value.type_name());
  }
}

bool HfObject::has(std::string_view key) const {
  const auto found = value_->find(std::string(key));
  return found != value_->end() && !found->is_null();
}

std::string HfObject::text(std::string_view key) const {
  return base::require_string(*value_, key, place_);
}

bool HfObject::flag(std::string_view key) const {
  return base::require_bool(*value_, key, place_);
}

bool HfObject::flag_or(std::string_view key, bool absent) const {
  return has(key) ? flag(key) : absent;
}

uint32_t HfObject::id(std::string_view key) const {
  const int64_t value = base::require_int(*value_, key, place_);
  if (value < 0 || value >= int64_t{kMaxIdCount}) {
    throw FormatError(place_ + ": field '" + std::string(key) + "': id " + std::to_string(value) +
                      " is not between 0 and " + std::to_string(kMaxIdCount - 1));
  }
  return static_cast<uint32_t>(value);
}

uint64_t HfObject::count(std::string_view key) const {
  const int64_t value = base::require_int(*value_, key, place_);
  if (value < 0) {
    throw FormatError(place_ + ": field '" + std::string(key) + "': " + std::to_string(value) +
                      " is negative");
  }
  return static_cast<uint64_t>(value);
}

const Json& HfObject::field(std::string_view key) const {
  return base::require_field(*value_, key, place_);
}

const Json& HfObject::array(std::string_view key) const {
  const Json& value = field(key);
  if (!value.is_array()) {
    throw FormatError(place_ + ": field '" + std::string(key) + "': expected an array, found " +
                      value.type_name());
  }
  return value;
}

HfObject HfObject::object(std::string_view key) const {
  return HfObject(field(key), place_ + "." + std::string(key));
}

void HfObject::allow_only(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw FormatError(place_ + ": field " + quote(key) + " is not supported");
    }
  }
}

void HfObject::refuse(std::string_view key, std::string_view hint) const {
  const Json& value = field(key);
  const std::string shown = value.is_string() ? value.get<std::string>() : base::to_text(value);
  throw FormatError(place_ + ": " + std::string(key) + " " + quote(shown) + " is not supported; " +
                    std::string(hint));
}

namespace {

// Calls read(step object) for the object itself, or for each element of its list when its type is
// Sequence; sequences may nest.
template <typename Read>
void for_each_step(const Json& value, const std::string& place, std::string_view list,
                   const Read& read) {
  const HfObject object(value, place);
  if (object.text("type") != "Sequence") {
    read(object);
    return;
  }
  object.allow_only({"type", list});
  size_t index = 0;
  for (const Json& element : object.array(list)) {
    for_each_step(element, place + "[" + std::to_string(index++) + "]", list, read);
  }
}

// The `pattern` of a Split or Replace.
struct HfPattern {
  std::string text;
  bool is_literal = false;
};

HfPattern read_pattern(const HfObject& object) {
  const HfObject pattern = object.object("pattern");
  pattern.allow_only({"String", "Regex"});
  const bool is_literal = pattern.has("String");
  if (is_literal == pattern.has("Regex")) {
    throw FormatError(pattern.place() + ": expected either a String or a Regex");
  }
  const HfPattern read = {pattern.text(is_literal ? "String" : "Regex"), is_literal};
  if (read.text.empty()) {
    throw FormatError(pattern.place() + ": the pattern is empty");
  }
  return read;
}

// make(), with the place of the object in front of what is wrong with a pattern.
template <typename Make>
auto with_place(const HfObject& object, const Make& make) {
  try {
    return make();
  } catch (const FormatError& error) {
    throw FormatError(object.place() + ": " + error.what());
  }
}

NormalizerStep read_normalizer_step(const HfObject& object) {
  using Kind = NormalizerStep::Kind;
  const std::string type = object.text("type");
  NormalizerStep step;
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD" || type == "Lowercase" ||
      type == "StripAccents") {
    object.allow_only({"type"});
    step.kind = type == "NFC"         ? Kind::kNfc
                : type == "NFD"       ? Kind::kNfd
                : type == "NFKC"      ? Kind::kNfkc
                : type == "NFKD"      ? Kind::kNfkd
                : type == "Lowercase" ? Kind::kLowercase
                                      : Kind::kStripAccents;
  } else if (type == "Strip") {
    object.allow_only({"type", "strip_left", "strip_right"});
    step.kind = Kind::kStrip;
    step.left = object.flag("strip_left");
    step.right = object.flag("strip_right");
  } else if (type == "Prepend") {
    object.allow_only({"type", "prepend"});
    step.kind = Kind::kPrepend;
    step.content = object.text("prepend");
  } else if (type == "Replace") {
    object.allow_only({"type", "pattern", "content"});
    const HfPattern pattern = read_pattern(object);
    if (pattern.is_literal) {
      step.kind = Kind::kReplace;
      step.pattern = pattern.text;
      step.content = object.text("content");
    } else {
      step = with_place(
          object, [&] { return make_replace_regex_step(pattern.text, object.text("content")); });
    }
  } else {
    object.refuse("type",
                  "known: NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, "
                  "Sequence");
  }
  return step;
}

SplitBehavior read_behavior(const HfObject& object) {
  const std::optional<SplitBehavior> behavior = find_behavior(object.text("behavior"));
  if (!behavior) {
    object.refuse("behavior",
                  "known: Isolated, Removed, MergedWithPrevious, MergedWithNext, Contiguous");
  }
  return *behavior;
}

PreTokenizerStep read_split(const HfObject& object) {
  object.allow_only({"type", "pattern", "behavior", "invert"});
  const HfPattern pattern = read_pattern(object);
  const SplitBehavior behavior = read_behavior(object);
  return with_place(object, [&] {
    return make_split_step(pattern.text, pattern.is_literal, behavior, object.flag("invert"));
  });
}

void read_pre_tokenizer_step(const HfObject& object, std::vector<PreTokenizerStep>& steps) {
  const std::string type = object.text("type");
  if (type == "ByteLevel") {
    object.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    steps.push_back(make_byte_level_step(object.flag("add_prefix_space"),
                                         object.flag_or("use_regex", true),
                                         object.flag("trim_offsets")));
  } else if (type == "Split") {
    steps.push_back(read_split(object));
  } else if (type == "Digits") {
    object.allow_only({"type", "individual_digits"});
    steps.push_back(make_digits_step(object.flag("individual_digits")));
  } else if (type == "Punctuation") {
    object.allow_only({"type", "behavior"});
    steps.push_back(make_punctuation_step(object.has("behavior") ? read_behavior(object)
                                                                 : SplitBehavior::kIsolated));
  } else if (type == "Whitespace") {
    object.allow_only({"type"});
    steps.push_back(make_whitespace_step());
  } else if (type == "WhitespaceSplit") {
    object.allow_only({"type"});
    steps.push_back(make_whitespace_split_step());
  } else if (type == "BertPreTokenizer") {
    object.allow_only({"type"});
    steps.push_back(make_whitespace_split_step());
    steps.push_back(make_punctuation_step(SplitBehavior::kIsolated));
  } else if (type == "UnicodeScripts") {
    object.allow_only({"type"});
    steps.push_back(make_unicode_scripts_step());
  } else if (type == "CharDelimiterSplit") {
    object.allow_only({"type", "delimiter"});
    steps.push_back(make_char_delimiter_step(object.text("delimiter")));
  } else {
    object.refuse("type",
                  "known: ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, "
                  "BertPreTokenizer, CharDelimiterSplit, UnicodeScripts, Sequence");
  }
}

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

std::vector<NormalizerStep> read_normalizer(const Json& value, const std::string& where) {
  std::vector<NormalizerStep> steps;
  if (!value.is_null()) {
    for_each_step(value, where + ": normalizer", "normalizers",
                  [&](const HfObject& object) { steps.push_back(read_normalizer_step(object)); });
  }
  return steps;
}

std::vector<PreTokenizerStep> read_pre_tokenizer(const Json& value, const std::string& where) {
  std::vector<PreTokenizerStep> steps;
  const std::string place = where + ": pre_tokenizer";
  if (!value.is_null()) {
    for_each_step(value, place, "pretokenizers",
                  [&](const HfObject& object) { read_pre_tokenizer_step(object, steps); });
  }
  const auto byte_levels =
      std::count_if(steps.begin(), steps.end(), [](const auto& step) { return step.byte_level; });
  if (byte_levels > 1) {
    throw FormatError(place + ": " + std::to_string(byte_levels) +
                      " ByteLevel steps; at most one is supported");
  }
  return steps;
}

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
