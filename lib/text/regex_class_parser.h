// SPDX-License-Identifier: Apache-2.0
// Parses character classes and escapes of regular expressions into code point sets.
#ifndef NETCL_TEXT_REGEX_CLASS_PARSER_H_
#define NETCL_TEXT_REGEX_CLASS_PARSER_H_

#include <optional>

#include "text/code_point_set.h"
#include "text/pattern_translator.h"
#include "text/regex_reader.h"

namespace netcl::text {

// Refers to the reader and the options of the translator; both must outlive it. Every function
// throws FormatError with the offset of what it does not understand.
class RegexClassParser {
 public:
  RegexClassParser(RegexReader& reader, const RegexOptions& options, RegexDialect dialect)
      : in_(reader), options_(options), dialect_(dialect) {}

  // A bracketed class; the cursor is at '[' and ends after the matching ']'.
  CodePointSet parse_bracket();
  // \d, \p{..} and the like; the cursor is after the backslash. Nothing, and the cursor unmoved,
  // when the escape is not a class.
  std::optional<CodePointSet> parse_set_escape();
  // The character that an escape stands for; the cursor is after the backslash.
  char32_t parse_character_escape(bool in_class);

 private:
  bool oniguruma() const { return dialect_ == RegexDialect::kOniguruma; }
  CodePointSet parse_item();
  std::optional<CodePointSet> parse_posix_bracket();
  char32_t parse_character();
  CodePointSet parse_property(size_t backslash, bool negated);
  char32_t parse_hex(size_t backslash, size_t min_digits, size_t max_digits);
  char32_t parse_code(size_t backslash, char letter);

  RegexReader& in_;
  const RegexOptions& options_;
  RegexDialect dialect_;
  int bracket_depth_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_REGEX_CLASS_PARSER_H_
