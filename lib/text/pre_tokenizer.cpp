// SPDX-License-Identifier: Apache-2.0
#include "text/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/regex_splitter.h"
#include "text/unicode_scripts.h"

namespace netcl::text {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<SplitBehavior, std::string_view>, 5> kBehaviors = {{
    {SplitBehavior::kIsolated, "Isolated"},
    {SplitBehavior::kRemoved, "Removed"},
    {SplitBehavior::kMergedWithPrevious, "MergedWithPrevious"},
    {SplitBehavior::kMergedWithNext, "MergedWithNext"},
    {SplitBehavior::kContiguous, "Contiguous"},
}};

// A regular expression that matches exactly these characters.
std::string escaped(std::string_view literal) {
  constexpr std::string_view kSyntax = "\\.+*?()|[]{}^$#&-~";
  std::string regex;
  for (const char c : literal) {
    if (kSyntax.find(c) != std::string_view::npos) {
      regex += '\\';
    }
    regex += c;
  }
  return regex;
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json split_definition(std::string_view kind, std::string_view pattern, SplitBehavior behavior,
                      bool invert) {
  Json json;
  json["type"] = "Split";
  json["pattern"][std::string(kind)] = std::string(pattern);
  json["behavior"] = behavior_name(behavior);
  json["invert"] = invert;
  return json;
}

PreTokenizerStep regex_step(std::string_view regex, SplitBehavior behavior, const Json& json) {
  PreTokenizerStep step;
  step.splitter = make_regex_splitter(regex, behavior);
  step.definition = dump(json);
  return step;
}

// Splits the printable form of a piece and appends the pieces in bytes of the text.
void split_printable(const PreSplitter& splitter, const PreTokenized& pre_tokenized, Piece piece,
                     std::vector<Piece>& pieces) {
  const std::string_view text = pre_tokenized.text;
  const std::string printable = to_printable(text.substr(piece.begin, piece.end - piece.begin));
  std::vector<Piece> found;
  try {
    splitter.split(printable, found);
  } catch (const RegexLimitError& error) {
    const auto lead = [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; };
    const auto end = printable.begin() + static_cast<ptrdiff_t>(error.offset());
    const auto bytes = static_cast<size_t>(std::count_if(printable.begin(), end, lead));
    throw error.at(pre_tokenized.original(piece.begin + bytes));
  }
  // A byte of the text is one character, so the bytes up to an offset are the lead bytes up to it.
  size_t at = 0;
  size_t byte = piece.begin;
  const auto to_byte = [&](size_t offset) {
    for (; at < offset; ++at) {
      byte += (static_cast<uint8_t>(printable[at]) & 0xC0) != 0x80 ? 1 : 0;
    }
    return byte;
  };
  for (const Piece& part : found) {
    const size_t begin = to_byte(part.begin);
    pieces.push_back({begin, to_byte(part.end)});
  }
}

// Puts a space before every piece that does not begin with one.
void add_prefix_spaces(PreTokenized& out) {
  const std::string_view text = out.text;
  std::string spaced;
  for (Piece& piece : out.pieces) {
    const std::string_view bytes = text.substr(piece.begin, piece.end - piece.begin);
    const size_t begin = spaced.size();
    if (bytes[0] != ' ') {
      out.inserted.push_back(begin);
      spaced += ' ';
    }
    spaced += bytes;
    piece = {begin, spaced.size()};
  }
  out.storage = std::move(spaced);
  out.text = out.storage;
}

}  // namespace

std::string_view behavior_name(SplitBehavior behavior) {
  const auto found = std::find_if(kBehaviors.begin(), kBehaviors.end(),
                                  [&](const auto& entry) { return entry.first == behavior; });
  NETCL_CHECK(found != kBehaviors.end());
  return found->second;
}

std::optional<SplitBehavior> find_behavior(std::string_view name) {
  const auto found = std::find_if(kBehaviors.begin(), kBehaviors.end(),
                                  [&](const auto& entry) { return entry.second == name; });
  return found == kBehaviors.end() ? std::nullopt : std::optional<SplitBehavior>(found->first);
}

PreTokenizerStep make_split_step(std::string_view pattern, bool is_literal, SplitBehavior behavior,
                                 bool invert) {
  PreTokenizerStep step;
  step.splitter =
      make_regex_splitter(is_literal ? escaped(pattern) : std::string(pattern), behavior, invert);
  step.definition =
      dump(split_definition(is_literal ? "String" : "Regex", pattern, behavior, invert));
  return step;
}

PreTokenizerStep make_split_step(std::shared_ptr<const PreSplitter> splitter) {
  PreTokenizerStep step;
  step.definition =
      dump(split_definition("Regex", splitter->pattern(), SplitBehavior::kIsolated, false));
  step.splitter = std::move(splitter);
  return step;
}

PreTokenizerStep make_byte_level_step(bool add_prefix_space, bool use_regex, bool trim_offsets) {
  PreTokenizerStep step;
  step.byte_level = true;
  step.add_prefix_space = add_prefix_space;
  if (use_regex) {
    step.splitter = make_named_splitter("gpt2");
  }
  step.definition = dump(Json{{"type", "ByteLevel"},
                              {"add_prefix_space", add_prefix_space},
                              {"trim_offsets", trim_offsets},
                              {"use_regex", use_regex}});
  return step;
}

PreTokenizerStep make_digits_step(bool individual) {
  return regex_step("\\p{N}", individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous,
                    Json{{"type", "Digits"}, {"individual_digits", individual}});
}

PreTokenizerStep make_punctuation_step(SplitBehavior behavior) {
  return regex_step("[!-/:-@\\[-`{-~\\p{P}]", behavior,
                    Json{{"type", "Punctuation"}, {"behavior", behavior_name(behavior)}});
}

PreTokenizerStep make_whitespace_step() {
  // The class \w of Unicode Technical Standard 18 spelled out, as is_word_character() in
  // added_tokens.cpp.
  const std::string word = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9})"
                           R"(\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
  std::string regex = "[";
  regex.append(word).append(R"(]+|[^\s)").append(word).append("]+");
  PreTokenizerStep step;
  step.splitter = make_regex_splitter(regex, SplitBehavior::kRemoved, true);
  step.definition = dump(Json{{"type", "Whitespace"}});
  return step;
}

PreTokenizerStep make_whitespace_split_step() {
  return regex_step("\\s", SplitBehavior::kRemoved, Json{{"type", "WhitespaceSplit"}});
}

PreTokenizerStep make_char_delimiter_step(std::string_view character) {
  return regex_step(escaped(character), SplitBehavior::kRemoved,
                    Json{{"type", "CharDelimiterSplit"}, {"delimiter", std::string(character)}});
}

PreTokenizerStep make_unicode_scripts_step() {
  PreTokenizerStep step;
  step.splitter = make_script_splitter();
  step.definition = dump(Json{{"type", "UnicodeScripts"}});
  return step;
}

size_t PreTokenized::original(size_t offset) const {
  return offset - static_cast<size_t>(std::lower_bound(inserted.begin(), inserted.end(), offset) -
                                      inserted.begin());
}

PreTokenizer::PreTokenizer(std::vector<PreTokenizerStep> steps) : steps_(std::move(steps)) {
  NETCL_CHECK(std::count_if(steps_.begin(), steps_.end(),
                            [](const PreTokenizerStep& step) { return step.byte_level; }) <= 1);
}

void PreTokenizer::split(std::string_view text, PreTokenized& out) const {
  out.text = text;
  out.inserted.clear();
  out.pieces.clear();
  if (text.empty()) {
    return;
  }
  out.pieces.push_back({0, text.size()});
  bool printable = false;
  for (const PreTokenizerStep& step : steps_) {
    if (step.add_prefix_space) {
      add_prefix_spaces(out);
    }
    if (step.splitter != nullptr) {
      out.scratch.clear();
      for (const Piece& piece : out.pieces) {
        if (printable) {
          split_printable(*step.splitter, out, piece, out.scratch);
          continue;
        }
        const size_t first = out.scratch.size();
        try {
          step.splitter->split(out.text.substr(piece.begin, piece.end - piece.begin), out.scratch);
        } catch (const RegexLimitError& error) {
          throw error.at(out.original(piece.begin + error.offset()));
        }
        for (size_t i = first; piece.begin > 0 && i < out.scratch.size(); ++i) {
          out.scratch[i].begin += piece.begin;
          out.scratch[i].end += piece.begin;
        }
      }
      out.pieces.swap(out.scratch);
    }
    printable = printable || step.byte_level;
  }
}

const PreSplitter* PreTokenizer::covering_splitter() const {
  const PreSplitter* only = nullptr;
  bool printable = false;
  for (const PreTokenizerStep& step : steps_) {
    if (step.add_prefix_space || (step.splitter != nullptr && (printable || only != nullptr ||
                                                               !step.splitter->covers_text()))) {
      return nullptr;
    }
    only = step.splitter != nullptr ? step.splitter.get() : only;
    printable = printable || step.byte_level;
  }
  return only;
}

std::optional<std::string> PreTokenizer::single_pattern() const {
  if (steps_.size() == 1 && !steps_[0].add_prefix_space && steps_[0].splitter != nullptr) {
    return steps_[0].splitter->pattern();
  }
  if (steps_.size() != 2 || !steps_[1].byte_level || steps_[1].add_prefix_space ||
      steps_[1].splitter != nullptr) {
    return std::nullopt;
  }
  // Isolated and Removed-inverted are told apart by the definition: only the former is a pattern.
  const std::string isolated = dump(
      split_definition("Regex", steps_[0].splitter->pattern(), SplitBehavior::kIsolated, false));
  return steps_[0].definition == isolated ? std::optional(steps_[0].splitter->pattern())
                                          : std::nullopt;
}

}  // namespace netcl::text
