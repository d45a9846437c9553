// SPDX-License-Identifier: Apache-2.0
// Reader of tekken.json (Mistral): byte ranks whose ids begin after the special tokens, as
// mistral-common reads it. Of the vocabulary only the first default_vocab_size -
// default_num_special_tokens ranks count; special tokens that the file does not name are
// "<SPECIAL_7>" and so on. `image`, `audio` and `multimodal` say how other input becomes ids and
// num_vocab_tokens how long the list was when it was learned: neither changes the ids of a text.
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"
#include "text/base64.h"
#include "text/hf_fields.h"
#include "text/pattern_translator.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

using base::FormatError;
using base::Json;
using base::quote;

namespace {

constexpr size_t kLongestToken = 1 << 16;  // as in .tiktoken files
// Files up to this version may leave the special tokens out; they have these then.
constexpr uint32_t kLastVersionWithFixedSpecials = 7;
constexpr std::array<std::string_view, 20> kFixedSpecials = {
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
};

struct Config {
  std::string pattern;
  uint32_t vocab_size = 0;
  uint32_t special_count = 0;
  uint32_t version = 0;
};

// "v3" -> 3
uint32_t read_version(const HfObject& object) {
  const std::string text = object.text("version");
  uint32_t version = 0;
  if (text.size() < 2 || text.size() > 4 || text[0] != 'v') {
    object.refuse("version", "expected v1, v2, v3, v7 ...");
  }
  for (const char digit : text.substr(1)) {
    if (digit < '0' || digit > '9') {
      object.refuse("version", "expected v1, v2, v3, v7 ...");
    }
    version = version * 10 + static_cast<uint32_t>(digit - '0');
  }
  return version;
}

Config read_config(const HfObject& object) {
  object.allow_only({"pattern", "num_vocab_tokens", "default_vocab_size",
                     "default_num_special_tokens", "version"});
  Config config;
  config.pattern = object.text("pattern");
  config.vocab_size = object.id("default_vocab_size");
  config.special_count = object.id("default_num_special_tokens");
  config.version = read_version(object);
  if (object.has("num_vocab_tokens")) {
    object.id("num_vocab_tokens");
  }
  if (config.special_count >= config.vocab_size) {
    throw FormatError(object.place() + ": default_num_special_tokens " +
                      std::to_string(config.special_count) + " is not below default_vocab_size " +
                      std::to_string(config.vocab_size));
  }
  return config;
}

// The pattern is in the syntax of tiktoken's regex engine, ours and tokenizer.json's in that of
// Oniguruma: a pattern that the two read differently is refused.
void check_pattern(const HfObject& object, const std::string& pattern) {
  bool same = false;
  try {
    same = translate_pattern(pattern, RegexDialect::kFancyRegex) ==
           translate_pattern(pattern, RegexDialect::kOniguruma);
  } catch (const FormatError& error) {
    throw FormatError(object.place() + ": " + error.what());
  }
  if (!same) {
    object.refuse("pattern", "tokenizer.json would read it differently");
  }
}

// Throws unless the field `rank` is the place in the list.
void check_rank(const HfObject& object, size_t place) {
  if (const uint32_t rank = object.id("rank"); rank != place) {
    throw FormatError(object.place() + ": rank " + std::to_string(rank) +
                      " is not the place in the list, " + std::to_string(place));
  }
}

std::vector<AddedToken> read_special_tokens(const HfObject& top, const Config& config) {
  std::vector<AddedToken> tokens;
  if (top.has("special_tokens")) {
    for (const Json& element : top.array("special_tokens")) {
      const HfObject object(
          element, top.place() + ": special_tokens[" + std::to_string(tokens.size()) + "]");
      object.allow_only({"rank", "token_str", "is_control"});
      check_rank(object, tokens.size());
      if (object.has("is_control")) {
        object.flag("is_control");
      }
      tokens.push_back(
          {.content = object.text("token_str"), .id = static_cast<uint32_t>(tokens.size())});
    }
  } else if (config.version <= kLastVersionWithFixedSpecials) {
    for (const std::string_view content : kFixedSpecials) {
      tokens.push_back(
          {.content = std::string(content), .id = static_cast<uint32_t>(tokens.size())});
    }
  } else {
    throw FormatError(top.place() + ": field 'special_tokens' is missing; files above v" +
                      std::to_string(kLastVersionWithFixedSpecials) + " must have it");
  }
  if (tokens.size() > config.special_count) {
    throw FormatError(top.place() + ": " + std::to_string(tokens.size()) +
                      " special tokens, more than the default_num_special_tokens " +
                      std::to_string(config.special_count));
  }
  for (uint32_t id = static_cast<uint32_t>(tokens.size()); id < config.special_count; ++id) {
    tokens.push_back({.content = "<SPECIAL_" + std::to_string(id) + ">", .id = id});
  }
  std::unordered_set<std::string_view> seen;
  for (const AddedToken& token : tokens) {
    if (token.content.empty() || !seen.insert(token.content).second) {
      throw FormatError(top.place() + ": special_tokens[" + std::to_string(token.id) +
                        "]: " + quote(token.content) +
                        (token.content.empty() ? " is empty" : " is given twice"));
    }
  }
  return tokens;
}

Vocabulary read_vocabulary(const HfObject& top, const Config& config) {
  const Json& list = top.array("vocab");
  const size_t count = config.vocab_size - config.special_count;
  if (list.size() < count) {
    throw FormatError(top.place() + ": vocab has " + std::to_string(list.size()) +
                      " entries; default_vocab_size and default_num_special_tokens ask for " +
                      std::to_string(count));
  }
  std::vector<std::string> bytes_of(count);
  std::vector<VocabularyEntry> entries;
  std::unordered_map<std::string_view, size_t> places;
  for (size_t place = 0; place < count; ++place) {
    const HfObject object(list[place], top.place() + ": vocab[" + std::to_string(place) + "]");
    object.allow_only({"rank", "token_bytes", "token_str"});
    check_rank(object, place);
    if (object.has("token_str")) {
      object.text("token_str");  // a form to read; the bytes count
    }
    const std::string text = object.text("token_bytes");
    std::optional<std::string> bytes = from_base64(text);
    if (!bytes || bytes->empty() || bytes->size() > kLongestToken) {
      throw FormatError(object.place() + ": token_bytes " + quote(text) +
                        " is not the base64 of 1 to " + std::to_string(kLongestToken) + " bytes");
    }
    bytes_of[place] = std::move(*bytes);
    const auto [first, is_new] = places.emplace(bytes_of[place], place);
    if (!is_new) {
      throw FormatError(object.place() + ": token " + quote(bytes_of[place]) + " has the rank " +
                        std::to_string(first->second) + " already");
    }
    entries.push_back({static_cast<uint32_t>(place) + config.special_count, bytes_of[place]});
  }
  return Vocabulary(entries);
}

}  // namespace

BpeTokenizer parse_tekken_json(std::string_view bytes, const std::string& where) {
  const Json json = base::parse_json(bytes, where);
  const HfObject top(json, where);
  top.allow_only(
      {"config", "vocab", "special_tokens", "version", "type", "image", "audio", "multimodal"});
  const Config config = read_config(top.object("config"));
  TokenizerParts parts;
  parts.where = where;
  parts.rule = MergeRule::kByteRanks;
  parts.added_tokens = read_special_tokens(top, config);
  parts.vocabulary = read_vocabulary(top, config);
  check_pattern(top.object("config"), config.pattern);
  parts.pre_tokenizer = PreTokenizer(
      {make_split_step(make_regex_splitter(config.pattern)), make_byte_level_step(false, false)});
  return BpeTokenizer(std::move(parts));
}

}  // namespace netcl::text
