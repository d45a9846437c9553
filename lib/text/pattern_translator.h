// SPDX-License-Identifier: Apache-2.0
// Translates the regular expressions of tokenizer files into PCRE2 patterns that mean the same
// under PCRE2_UTF without PCRE2_UCP: every character class becomes explicit code point ranges from
// our Unicode 16.0 tables, so nothing depends on the Unicode version inside PCRE2.
//
// Understood: literals, `.`, classes with ranges, negation, nesting, `&&` and POSIX brackets;
// \p{..} \P{..} with general categories (short and long names), Any, Assigned, ASCII, L& and
// Script=Han; \d \D \s \S \w \W \h \H \R \N \O; \t \n \r \f \v \a \e \xHH \x{H..} \uHHHH and
// escaped punctuation; groups (plain, named, non-capturing, atomic), look-ahead and look-behind,
// inline options, comments; greedy, lazy and possessive quantifiers; ^ $ \A \z \Z \b \B.
//
// Case-insensitive parts are expanded: a literal or class matches whatever has the same simple case
// folding (k, K, U+212A; s, S, U+017F; ...). Foldings to several characters (the sharp s as "ss")
// are not expanded; Oniguruma does that. The case pairs are those of utf8proc's Unicode version.
//
// Refused, with the byte offset: back-references, recursion, conditionals, absent operator,
// callouts, \K \G \X \y, scripts other than Han, properties that the tables lack (Alphabetic,
// Lowercase, ...), the option x, class operators `--` and `~~`. Look-behind needs a fixed length
// per alternative.
#ifndef NETCL_TEXT_PATTERN_TRANSLATOR_H_
#define NETCL_TEXT_PATTERN_TRANSLATOR_H_

#include <string>
#include <string_view>

namespace netcl::text {

// Where the two source syntaxes differ in meaning.
enum class RegexDialect {
  // tokenizer.json: Oniguruma's own syntax over UTF-8. X{1,3}+ is (?:X{1,3})+ and X{2}? is
  // (?:X{2})?; ^ and $ match at lines; the option m makes `.` match LF; (?i) holds to the end of
  // the
  // enclosing group with its alternatives; \w has no join controls; POSIX brackets are Unicode;
  // [[:alpha:]], alnum, lower and upper need data that is not in the tables and are refused.
  kOniguruma,
  // tiktoken: fancy-regex over the regex crate. X{1,3}+ is possessive and X{2}? lazy; ^ and $ match
  // at the ends of the text unless the option m is set; s makes `.` match LF; \pL is \p{L}; POSIX
  // brackets are ASCII.
  kFancyRegex,
};

// The pattern in PCRE2 syntax, ASCII only, without capturing groups. Throws FormatError
// "pattern@OFFSET: ..." naming what is not understood.
std::string translate_pattern(std::string_view pattern,
                              RegexDialect dialect = RegexDialect::kOniguruma);

// A pattern in both source dialects that matches exactly `literal` (the `String` patterns of
// tokenizer.json).
std::string escape_pattern(std::string_view literal);

}  // namespace netcl::text

#endif  // NETCL_TEXT_PATTERN_TRANSLATOR_H_
