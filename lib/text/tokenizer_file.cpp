// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_file.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "text/base64.h"

namespace netcl::text {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool looks_like_json(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

constexpr std::string_view kVocabName = "vocab.json";

// The format of JSON text that does not tell, damaged most often, by the name of its file: the
// reader of that format says what is wrong with it.
TokenizerFormat json_format_of_name(std::string_view name) {
  return name.ends_with(kVocabName)      ? TokenizerFormat::kVocabMerges
         : name.ends_with("tekken.json") ? TokenizerFormat::kTekken
                                         : TokenizerFormat::kTokenizerJson;
}

// Looks at the first members of a JSON object: a vocab.json has nothing but numbers, the two others
// are known by the name of their first list or object.
TokenizerFormat json_format(std::string_view text, std::string_view name) {
  constexpr std::string_view kBlanks = " \t\r\n";
  constexpr std::array<std::string_view, 6> kTekkenKeys = {
      R"("config")", R"("vocab")", R"("special_tokens")",
      R"("image")",  R"("audio")", R"("multimodal")"};
  constexpr std::array<std::string_view, 8> kTokenizerKeys = {
      R"("truncation")",    R"("padding")",        R"("added_tokens")", R"("normalizer")",
      R"("pre_tokenizer")", R"("post_processor")", R"("decoder")",      R"("model")"};
  constexpr int kMembers = 8;
  const auto is_in = [](const auto& keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  size_t at = text.find('{');
  bool numbers_alone = false;
  for (int member = 0; member < kMembers && at != std::string_view::npos; ++member) {
    const size_t key = text.find_first_not_of(kBlanks, at + 1);
    if (key == std::string_view::npos || text[key] != '"') {
      break;
    }
    const size_t key_end = std::min(base::json_string_end(text, key), text.size());
    const size_t colon = text.find_first_not_of(kBlanks, key_end);
    if (colon == std::string_view::npos || text[colon] != ':') {
      break;
    }
    const size_t value = text.find_first_not_of(kBlanks, colon + 1);
    if (value == std::string_view::npos) {
      break;
    }
    if (text[value] == '{' || text[value] == '[') {
      const std::string_view field = text.substr(key, key_end - key);
      return is_in(kTekkenKeys, field)      ? TokenizerFormat::kTekken
             : is_in(kTokenizerKeys, field) ? TokenizerFormat::kTokenizerJson
                                            : json_format_of_name(name);
    }
    const bool is_number = text[value] == '-' || (text[value] >= '0' && text[value] <= '9');
    numbers_alone = is_number && (member == 0 || numbers_alone);
    const size_t value_end = text[value] == '"' ? base::json_string_end(text, value) : value;
    at = text.find_first_of(",}", std::min(value_end, text.size()));
    if (at != std::string_view::npos && text[at] == '}') {
      break;
    }
  }
  return numbers_alone ? TokenizerFormat::kVocabMerges : json_format_of_name(name);
}

std::string file_of_directory(const std::string& path) {
  std::error_code error;
  for (const char* name : {"tokenizer.json", "vocab.json"}) {
    std::string file = (fs::path(path) / name).string();
    if (fs::exists(file, error)) {
      return file;
    }
  }
  throw base::IoError(path + ": this directory has neither tokenizer.json nor vocab.json");
}

// Whether the first line with anything on it is that of a .tiktoken file.
bool looks_like_ranks(std::string_view first_line) {
  const size_t space = first_line.find(' ');
  return space != std::string_view::npos && space + 1 < first_line.size() &&
         from_base64(first_line.substr(0, space)) &&
         first_line.find_first_not_of("0123456789", space + 1) == std::string_view::npos;
}

std::string_view first_line_of(std::string_view bytes) {
  const size_t begin = bytes.find_first_not_of("\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return bytes.substr(begin, bytes.find_first_of("\r\n", begin) - begin);
}

// A file that is no tokenizer of any kind, most often a corpus given in its place, is told as such
// and not as a damaged .tiktoken file, unless that is its name.
void refuse_no_tokenizer(std::string_view bytes, const std::string& where) {
  const std::string_view first_line = first_line_of(bytes);
  if (base::has_extension(where, ".tiktoken") || looks_like_ranks(first_line)) {
    return;
  }
  if (first_line.starts_with("#version")) {
    throw base::FormatError(where +
                            ": looks like a merges.txt; name the vocab.json that goes with it");
  }
  constexpr size_t kLookedAt = 4096;
  const std::string_view head = bytes.substr(0, kLookedAt);
  const bool is_binary = std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && (byte < '\t' || byte > '\r') && byte != 0x1B;
  });
  const std::string look = first_line.empty() ? "is empty"
                           : is_binary
                               ? "looks like binary data"
                               : "looks like text that begins with " + base::quote(first_line, 40);
  throw base::FormatError(where + ": " + look +
                          "; a tokenizer is a tokenizer.json, a .tiktoken, a vocab.json with "
                          "merges.txt beside it, or a tekken.json");
}

// Any JSON object of numbers passes for a vocab.json: where the merges are missing it is said why
// they were looked for.
base::FileBytes open_merges(const std::string& vocab_path) {
  constexpr std::string_view kNeeded = "a vocab.json needs its merges.txt beside it";
  if (vocab_path == "-") {
    throw base::UsageError("<stdin>: " + std::string(kNeeded) + "; name the file or its directory");
  }
  const std::string path = merges_path_of(vocab_path);
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw base::IoError(vocab_path + ": looks like a vocab.json; " + std::string(kNeeded) +
                        ", and there is no " + path);
  }
  return base::FileBytes::open(path);
}

void refuse_options(const TokenizerFileOptions& options, const std::string& where,
                    std::string_view kind) {
  if (!options.pattern_name.empty() || !options.pattern_regex.empty() ||
      !options.specials_path.empty() || options.specials) {
    throw base::UsageError(where + ": a " + std::string(kind) +
                           " carries its own pattern and special tokens; leave "
                           "out the pattern and specials options");
  }
}

}  // namespace

std::string merges_path_of(const std::string& vocab_path) {
  if (vocab_path.ends_with(kVocabName)) {
    return vocab_path.substr(0, vocab_path.size() - kVocabName.size()) + "merges.txt";
  }
  return (fs::path(vocab_path).parent_path() / "merges.txt").string();
}

std::string_view format_name(TokenizerFormat format) {
  switch (format) {
    case TokenizerFormat::kTiktoken:
      return ".tiktoken";
    case TokenizerFormat::kVocabMerges:
      return "vocab.json + merges.txt";
    case TokenizerFormat::kTekken:
      return "tekken.json";
    case TokenizerFormat::kTokenizerJson:
      break;
  }
  return "tokenizer.json";
}

TokenizerFile load_tokenizer_file(const std::string& path, const TokenizerFileOptions& options) {
  std::error_code error;
  const std::string file_path = fs::is_directory(path, error) ? file_of_directory(path) : path;
  const base::FileBytes file = base::FileBytes::open(file_path);
  const std::string where = base::display_path(file_path);
  if (const base::CompressedKind* kind = base::find_compressed_kind(file.view())) {
    throw base::FormatError(where + ": is " + kind->name + "-compressed; unpack it first, with '" +
                            kind->command + "'");
  }
  if (file.view().starts_with(kByteOrderMark)) {
    throw base::FormatError(where +
                            ": byte order mark before the tokenizer; remove the first 3 bytes");
  }
  const TokenizerFormat format =
      looks_like_json(file.view()) ? json_format(file.view(), where) : TokenizerFormat::kTiktoken;
  switch (format) {
    case TokenizerFormat::kTiktoken:
      refuse_no_tokenizer(file.view(), where);
      return {parse_tiktoken(file.view(), where, options), format};
    case TokenizerFormat::kVocabMerges: {
      const base::FileBytes merges = open_merges(file_path);
      return {parse_vocab_merges(file.view(), merges.view(), where, merges.path(), options),
              format};
    }
    case TokenizerFormat::kTekken:
      refuse_options(options, where, format_name(format));
      return {parse_tekken_json(file.view(), where), format};
    case TokenizerFormat::kTokenizerJson:
      break;
  }
  refuse_options(options, where, format_name(format));
  return {parse_tokenizer_json(file.view(), where), format};
}

BpeTokenizer load_tokenizer(const std::string& path, const TokenizerFileOptions& options) {
  return load_tokenizer_file(path, options).tokenizer;
}

}  // namespace netcl::text
