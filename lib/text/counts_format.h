// SPDX-License-Identifier: Apache-2.0
// The text format of counted pre-tokens: what counting and merging hand to each other, in files of
// this machine or of many. Pure ASCII lines, each ended by LF:
//
//   !!netcl-counts 1 {"pattern":"cl100k","add_prefix_space":false,"special_tokens":[]}
//   !20the<TAB>1041
//   low<TAB>2
//   ~~bytes<TAB>5221
//   ~~documents<TAB>3
//   ~~pieces<TAB>1043
//   ~~words<TAB>2
//
// The first line names the version and the options that change counting: "pattern" (a name) or
// "pattern_regex", "add_prefix_space", "special_tokens" (cut out of the text, in id order). Then
// every distinct pre-token with its occurrences, at least 1 and at most 2^63 - 1, ascending by
// bytes. Then the sums: bytes and documents of the corpus, occurrences and distinct pre-tokens of
// the lines above. The last line is "~~words"; a file without it is not whole. No line tells the
// size of the corpus, which special tokens and prefix spaces change: bytes and documents are taken
// as they stand.
//
// Escapes keep the order: a byte 0x22 to 0x7D is itself, a lower one is '!' and two hexadecimal
// digits in capital letters, a higher one '~' and two. So whole lines sort as the bytes they stand
// for, the first line comes first and the sums last: `LC_ALL=C sort -m` merges such files, and
// adding up neighbours with equal keys gives the counts of all (all but "~~words" add up).
#ifndef NETCL_TEXT_COUNTS_FORMAT_H_
#define NETCL_TEXT_COUNTS_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"

namespace netcl::text {

struct TrainerOptions;

inline constexpr std::string_view kCountsMagic = "!!netcl-counts";
inline constexpr uint64_t kCountsVersion = 1;
inline constexpr uint64_t kMostCount = static_cast<uint64_t>(INT64_MAX);

// The options that change what is counted.
struct CountsHeader {
  std::string pattern;        // a name; empty with pattern_regex
  std::string pattern_regex;  // any other pattern
  bool add_prefix_space = false;
  std::vector<std::string> specials;
  friend bool operator==(const CountsHeader&, const CountsHeader&) = default;
};

// Of a corpus; pieces are occurrences of pre-tokens, words the distinct ones.
struct CountsTotals {
  uint64_t bytes = 0;
  uint64_t documents = 0;
  uint64_t pieces = 0;
  uint64_t words = 0;
  friend bool operator==(const CountsTotals&, const CountsTotals&) = default;
};

CountsHeader counts_header_of(const TrainerOptions& options);
// Sets the options that `header` holds and leaves the others.
void apply_counts_header(const CountsHeader& header, TrainerOptions& options);

// The header as the members of a JSON object, and back. Throws UsageError for a pattern that is not
// UTF-8; FormatError, beginning with `where`, for members that are missing, unknown or of another
// type.
base::Json counts_header_json(const CountsHeader& header);
CountsHeader parse_counts_header_json(const base::Json& object, const std::string& where);

// "magic version {...}" without LF, in ASCII; the JSON object behind a magic and a version.
std::string make_header_line(std::string_view magic, uint64_t version, const base::Json& object);
// Throws FormatError for another magic, another version or text that is no JSON object.
// `written_by` is the option that writes such files.
base::Json parse_header_line(std::string_view line, std::string_view magic, uint64_t version,
                             std::string_view written_by, const std::string& where);

// In what two headers differ, for messages: "the pattern is 'gpt2', not 'cl100k'"; empty when
// equal.
std::string describe_difference(const CountsHeader& found, const CountsHeader& wanted);

// Appends bytes in their escaped form.
void append_escaped(std::string_view bytes, std::string& out);
// Appends the bytes that an escaped form stands for; false, with `out` in part appended to, when
// the text is not what append_escaped() writes.
bool append_unescaped(std::string_view escaped, std::string& out);

// A decimal number as the writer prints it: digits alone, no leading zero. Throws FormatError,
// beginning with `where`, for anything else and for a number outside [least, kMostCount].
uint64_t parse_count(std::string_view text, uint64_t least, const std::string& where);

}  // namespace netcl::text

#endif  // NETCL_TEXT_COUNTS_FORMAT_H_
