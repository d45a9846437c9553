// SPDX-License-Identifier: Apache-2.0
#include "text/counts_format.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "text/bpe_trainer.h"
#include "text/unicode.h"

namespace netcl::text {

using base::FormatError;
using base::quote;

namespace {

// Escaped are the bytes below kFirstPlain, with kLowEscape, and those above kLastPlain, with
// kHighEscape. Both marks lie outside of what is left plain, on the side that they stand for.
constexpr uint8_t kFirstPlain = 0x22;
constexpr uint8_t kLastPlain = 0x7D;
constexpr char kLowEscape = 0x21;
constexpr char kHighEscape = 0x7E;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool is_plain(uint8_t byte) {
  return byte >= kFirstPlain && byte <= kLastPlain;
}

const char* yes_or_no(bool value) {
  return value ? "true" : "false";
}

std::string pattern_of(const CountsHeader& header) {
  return header.pattern_regex.empty() ? quote(header.pattern)
                                      : "the regex " + quote(header.pattern_regex);
}

std::string specials_of(const CountsHeader& header) {
  std::string names;
  for (const std::string& special : header.specials) {
    names += (names.empty() ? "" : ", ") + quote(special);
  }
  return names.empty() ? "none" : names;
}

}  // namespace

CountsHeader counts_header_of(const TrainerOptions& options) {
  CountsHeader header;
  header.pattern = options.pattern_regex.empty() ? options.pattern : "";
  header.pattern_regex = options.pattern_regex;
  header.add_prefix_space = options.add_prefix_space;
  header.specials = options.specials;
  return header;
}

void apply_counts_header(const CountsHeader& header, TrainerOptions& options) {
  options.pattern = header.pattern;
  options.pattern_regex = header.pattern_regex;
  options.add_prefix_space = header.add_prefix_space;
  options.specials = header.specials;
}

base::Json counts_header_json(const CountsHeader& header) {
  if (!is_valid_utf8(header.pattern_regex) || !is_valid_utf8(header.pattern)) {
    throw base::UsageError("the split pattern is not valid UTF-8 and cannot stand in a file");
  }
  base::Json json;
  if (header.pattern_regex.empty()) {
    json["pattern"] = header.pattern;
  } else {
    json["pattern_regex"] = header.pattern_regex;
  }
  json["add_prefix_space"] = header.add_prefix_space;
  json["special_tokens"] = header.specials;
  return json;
}

CountsHeader parse_counts_header_json(const base::Json& object, const std::string& where) {
  CountsHeader header;
  const bool is_regex = object.contains("pattern_regex");
  (is_regex ? header.pattern_regex : header.pattern) =
      base::require_string(object, is_regex ? "pattern_regex" : "pattern", where);
  if ((is_regex ? header.pattern_regex : header.pattern).empty()) {
    throw FormatError(where + ": the pattern is empty");
  }
  if (is_regex && object.contains("pattern")) {
    throw FormatError(where + ": has both 'pattern' and 'pattern_regex'; give one");
  }
  header.add_prefix_space = base::require_bool(object, "add_prefix_space", where);
  const base::Json& specials = base::require_field(object, "special_tokens", where);
  if (!specials.is_array() || !std::all_of(specials.begin(), specials.end(),
                                           [](const auto& one) { return one.is_string(); })) {
    throw FormatError(where + ": field 'special_tokens': must be a list of strings");
  }
  header.specials = specials.get<std::vector<std::string>>();
  return header;
}

std::string make_header_line(std::string_view magic, uint64_t version, const base::Json& object) {
  constexpr bool kAsciiOnly = true;
  return std::string(magic) + " " + std::to_string(version) + " " +
         object.dump(-1, ' ', kAsciiOnly);
}

base::Json parse_header_line(std::string_view line, std::string_view magic, uint64_t version,
                             std::string_view written_by, const std::string& where) {
  if (!line.starts_with(magic) || line.substr(magic.size(), 1) != " ") {
    throw FormatError(where + ": begins with " + quote(line, 24) + ", not with " +
                      std::string(magic) + "; such files are written by bpe-train " +
                      std::string(written_by));
  }
  line.remove_prefix(magic.size() + 1);
  const size_t space = std::min(line.find(' '), line.size());
  if (line.substr(0, space) != std::to_string(version)) {
    throw FormatError(where + ": has version " + quote(line.substr(0, space)) +
                      "; this program reads version " + std::to_string(version));
  }
  base::Json object = base::parse_json(line.substr(std::min(space + 1, line.size())), where);
  if (!object.is_object()) {
    throw FormatError(where + ": the options are no JSON object");
  }
  return object;
}

std::string describe_difference(const CountsHeader& found, const CountsHeader& wanted) {
  if (found.pattern != wanted.pattern || found.pattern_regex != wanted.pattern_regex) {
    return "the pattern is " + pattern_of(found) + ", not " + pattern_of(wanted);
  }
  if (found.add_prefix_space != wanted.add_prefix_space) {
    return std::string("the prefix space is ") + yes_or_no(found.add_prefix_space) + ", not " +
           yes_or_no(wanted.add_prefix_space);
  }
  if (found.specials != wanted.specials) {
    return "the special tokens are " + specials_of(found) + ", not " + specials_of(wanted);
  }
  return "";
}

void append_escaped(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (is_plain(byte)) {
      out += c;
    } else {
      out += byte < kFirstPlain ? kLowEscape : kHighEscape;
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
    }
  }
}

bool append_unescaped(std::string_view escaped, std::string& out) {
  for (size_t at = 0; at < escaped.size(); ++at) {
    const char c = escaped[at];
    if (is_plain(static_cast<uint8_t>(c))) {
      out += c;
      continue;
    }
    if ((c != kLowEscape && c != kHighEscape) || escaped.size() - at < 3) {
      return false;
    }
    const size_t high = kHexDigits.find(escaped[at + 1]);
    const size_t low = kHexDigits.find(escaped[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) {
      return false;
    }
    const uint8_t byte = static_cast<uint8_t>(high << 4 | low);
    if (c == kLowEscape ? byte >= kFirstPlain : byte <= kLastPlain) {
      return false;
    }
    out += static_cast<char>(byte);
    at += 2;
  }
  return true;
}

uint64_t parse_count(std::string_view text, uint64_t least, const std::string& where) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = !text.empty() && end == text.data() + text.size() &&
                         (error == std::errc() || error == std::errc::result_out_of_range) &&
                         (text[0] != '0' || text.size() == 1);
  if (!is_number) {
    throw FormatError(where + ": " + quote(text) + " is not a count; it must be digits alone");
  }
  if (error != std::errc() || value < least || value > kMostCount) {
    throw FormatError(where + ": the count " + quote(text) + " is out of range; allowed is " +
                      std::to_string(least) + " to " + std::to_string(kMostCount));
  }
  return value;
}

}  // namespace netcl::text
