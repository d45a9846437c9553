// SPDX-License-Identifier: Apache-2.0
#include "text/hf_fields.h"

#include <algorithm>

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

HfPattern read_pattern(const HfObject& object) {
  const HfObject pattern = object.object("pattern");
  pattern.allow_only({"String", "Regex"});
  const bool is_literal = pattern.has("String");
  if (is_literal == pattern.has("Regex")) {
    throw FormatError(pattern.place() + ": expected either a String or a Regex");
  }
  HfPattern read = {pattern.text(is_literal ? "String" : "Regex"), is_literal};
  if (read.text.empty()) {
    throw FormatError(pattern.place() + ": the pattern is empty");
  }
  return read;
}

namespace {

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
      const std::string content = object.text("content");
      step = with_place(object, [&] { return make_replace_regex_step(pattern.text, content); });
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
  const bool invert = object.flag("invert");
  return with_place(
      object, [&] { return make_split_step(pattern.text, pattern.is_literal, behavior, invert); });
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

}  // namespace netcl::text
