// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_translator.h"

#include <cstdio>
#include <optional>

#include "base/error.h"
#include "text/code_point_set.h"
#include "text/regex_class_parser.h"
#include "text/regex_classes.h"
#include "text/regex_reader.h"

namespace netcl::text {

namespace {

constexpr uint32_t kMaxRepeat = 65535;  // PCRE2's limit

std::string emit_code_point(char32_t c) {
  if (is_ascii_letter(c) || is_ascii_digit(c)) {
    return std::string(1, static_cast<char>(c));
  }
  char text[16];
  std::snprintf(text, sizeof text, "\\x{%X}", static_cast<unsigned>(c));
  return text;
}

// PCRE2 refuses surrogates as ends of ranges; they never occur in text.
std::string emit_set(const CodePointSet& set) {
  if (set == CodePointSet::all()) {
    return "(?s:.)";
  }
  CodePointSet scalar_values = {{0, 0xD7FF}, {0xE000, kMaxCodePoint}};
  scalar_values.intersect(set);
  const auto& ranges = scalar_values.ranges();
  if (ranges.empty()) {
    return "(?!)";
  }
  if (ranges.size() == 1 && ranges[0].first == ranges[0].last) {
    return emit_code_point(ranges[0].first);
  }
  std::string out = "[";
  for (const CodePointSet::Range& range : ranges) {
    out += emit_code_point(range.first);
    if (range.last > range.first) {
      out += range.last > range.first + 1 ? "-" : "";
      out += emit_code_point(range.last);
    }
  }
  return out + "]";
}

CodePointSet all_but_line_feed() {
  CodePointSet set = {{'\n', '\n'}};
  set.complement();
  return set;
}

// Recursive descent; each parse_ function returns the PCRE2 text of what it read.
class Translator {
 public:
  Translator(std::string_view pattern, RegexDialect dialect)
      : in_(pattern), dialect_(dialect), classes_(in_, options_, dialect) {}

  std::string translate() {
    const std::string_view pattern = in_.pattern();
    if (const size_t bad = find_ill_formed(pattern); bad < pattern.size()) {
      in_.fail(bad, "the pattern is not valid UTF-8");
    }
    std::string out = parse_alternation();
    if (!in_.at_end()) {
      in_.fail(in_.pos(), "unmatched ')'");
    }
    return out;
  }

 private:
  struct Atom {
    std::string text;
    bool can_repeat = true;
  };

  struct Interval {
    std::string text;
    bool fixed = false;  // {n}
  };

  bool oniguruma() const { return dialect_ == RegexDialect::kOniguruma; }

  std::string parse_alternation();
  std::string parse_branch();
  std::string parse_quantified(Atom atom);
  std::optional<Interval> parse_interval();
  std::optional<uint32_t> parse_number();
  void skip_comments();
  Atom parse_atom();
  Atom parse_group();
  Atom finish_group(size_t open, const std::string& prefix, bool can_repeat = true);
  Atom parse_options(size_t open);
  void skip_group_name(size_t open, char close);
  Atom parse_escape();
  Atom anchor(char kind) const;
  Atom word_boundary(bool negated) const;
  std::string emit_literal(char32_t c) const;

  RegexReader in_;
  RegexDialect dialect_;
  RegexOptions options_;
  RegexClassParser classes_;
};

std::string Translator::parse_alternation() {
  const RegexReader::Nested nested(in_);
  std::string out = parse_branch();
  while (in_.accept("|")) {
    out += '|';
    out += parse_branch();
  }
  return out;
}

std::string Translator::parse_branch() {
  std::string out;
  while (true) {
    skip_comments();
    if (in_.at_end() || in_.looking_at("|") || in_.looking_at(")")) {
      return out;
    }
    out += parse_quantified(parse_atom());
  }
}

void Translator::skip_comments() {
  while (in_.looking_at("(?#")) {
    const size_t close = in_.pattern().find(')', in_.pos());
    if (close == std::string_view::npos) {
      in_.fail(in_.pos(), "unterminated comment group");
    }
    in_.seek(close + 1);
  }
}

std::optional<uint32_t> Translator::parse_number() {
  const size_t begin = in_.pos();
  uint32_t value = 0;
  for (; is_ascii_digit(static_cast<unsigned char>(in_.peek())); in_.seek(in_.pos() + 1)) {
    value = value * 10 + static_cast<uint32_t>(in_.peek() - '0');
    if (value > kMaxRepeat) {
      in_.fail(begin, std::string("repeat count above ").append(std::to_string(kMaxRepeat)));
    }
  }
  return in_.pos() > begin ? std::optional(value) : std::nullopt;
}

// {n}, {n,}, {,m} or {n,m}. Anything else leaves the cursor alone: the brace is a literal.
std::optional<Translator::Interval> Translator::parse_interval() {
  const size_t open = in_.pos();
  if (!in_.accept("{")) {
    return std::nullopt;
  }
  const std::optional<uint32_t> low = parse_number();
  const bool comma = in_.accept(",");
  const std::optional<uint32_t> high = comma ? parse_number() : low;
  if ((!low && !high) || !in_.accept("}")) {
    in_.seek(open);
    return std::nullopt;
  }
  if (low && high && *low > *high) {
    in_.fail(open, "the lower repeat count is above the upper one");
  }
  Interval interval{std::string("{").append(std::to_string(low.value_or(0))), !comma};
  if (comma) {
    interval.text += ',';
    interval.text += high ? std::to_string(*high) : "";
  }
  interval.text += '}';
  return interval;
}

std::string Translator::parse_quantified(Atom atom) {
  for (bool repeated = false;; repeated = true) {
    skip_comments();
    const size_t begin = in_.pos();
    std::string quantifier;
    const std::optional<Interval> interval = parse_interval();
    if (interval) {
      quantifier = interval->text;
    } else if (in_.looking_at("*") || in_.looking_at("+") || in_.looking_at("?")) {
      quantifier = in_.peek();
      in_.seek(begin + 1);
    } else {
      return atom.text;
    }
    if (!atom.can_repeat) {
      in_.fail(begin, "an assertion or an option cannot be repeated");
    }
    if (repeated && !oniguruma()) {
      in_.fail(begin, "a repeat of a repeat is not supported");
    }
    // In Oniguruma's syntax an interval is never possessive and a fixed one never lazy: there the
    // sign is a quantifier of its own.
    if (!(oniguruma() && interval && interval->fixed) && in_.accept("?")) {
      quantifier += "?";
    } else if (!(oniguruma() && interval) && in_.accept("+")) {
      quantifier += "+";
    }
    if (repeated) {
      atom.text = std::string("(?:").append(atom.text).append(")");
    }
    atom.text += quantifier;
  }
}

Translator::Atom Translator::parse_atom() {
  const size_t begin = in_.pos();
  const char c = in_.peek();
  switch (c) {
    case '(':
      return parse_group();
    case '[':
      return {emit_set(classes_.parse_bracket())};
    case '\\':
      return parse_escape();
    case '.':
      in_.seek(begin + 1);
      return {emit_set(options_.dot_matches_newline ? CodePointSet::all() : all_but_line_feed())};
    case '^':
    case '$':
      in_.seek(begin + 1);
      return anchor(c);
    case '*':
    case '+':
    case '?':
      in_.fail(begin, "nothing to repeat");
    case '{':
      if (parse_interval()) {
        in_.fail(begin, "nothing to repeat");
      }
      break;
    default:
      break;
  }
  return {emit_literal(in_.next_code_point())};
}

// Spelled with look-around so that PCRE2's newline setting does not matter.
Translator::Atom Translator::anchor(char kind) const {
  if (oniguruma()) {
    // ^ does not match after a final LF; $ matches on both sides of it.
    return {kind == '^' ? "(?<![^\\n])(?:(?=(?s:.))|(?<!\\n))" : "(?![^\\n])", false};
  }
  if (options_.multi_line) {
    return {kind == '^' ? "(?<![^\\n])" : "(?![^\\n])", false};
  }
  return {kind == '^' ? "\\A" : "\\z", false};
}

Translator::Atom Translator::word_boundary(bool negated) const {
  const std::string word = emit_set(*find_escape_class('w', dialect_));
  const auto look = [&](std::string_view kind) { return std::string(kind) + word + ')'; };
  std::string out = "(?:" + look("(?<=") + look(negated ? "(?=" : "(?!") + '|' + look("(?<!") +
                    look(negated ? "(?!" : "(?=") + ')';
  return {out, false};
}

std::string Translator::emit_literal(char32_t c) const {
  CodePointSet set = {{c, c}};
  if (options_.ignore_case) {
    set.close_over_case();
  }
  return emit_set(set);
}

// The rest of the group opened at `open`, after its type.
Translator::Atom Translator::finish_group(size_t open, const std::string& prefix, bool can_repeat) {
  const RegexOptions outer = options_;
  std::string out = prefix + parse_alternation();
  options_ = outer;
  if (!in_.accept(")")) {
    in_.fail(open, "unterminated group");
  }
  return {out + ")", can_repeat};
}

void Translator::skip_group_name(size_t open, char close) {
  const size_t begin = in_.pos();
  const size_t end = in_.pattern().find(close, begin);
  if (end == std::string_view::npos || end == begin) {
    in_.fail(open, "group name is empty or unterminated");
  }
  while (in_.pos() < end) {
    const size_t at = in_.pos();
    const char32_t c = in_.next_code_point();
    if (!is_letter(c) && c != '_' && (at == begin || (!is_number(c) && !is_mark(c)))) {
      in_.fail(at, "character not allowed in a group name");
    }
  }
  in_.seek(end + 1);
}

Translator::Atom Translator::parse_group() {
  const size_t open = in_.pos();
  in_.accept("(");
  if (in_.looking_at("*")) {
    in_.fail(open, "callouts and verbs are not supported");
  }
  if (!in_.accept("?") || in_.accept(":")) {
    return finish_group(open, "(?:");
  }
  if (in_.accept(">")) {
    return finish_group(open, "(?>");
  }
  for (const std::string look : {"<=", "<!", "=", "!"}) {
    if (in_.accept(look)) {
      return finish_group(open, "(?" + look, false);
    }
  }
  const bool quoted_name = oniguruma() && in_.accept("'");
  if (quoted_name || in_.accept("<") || (!oniguruma() && in_.accept("P<"))) {
    skip_group_name(open, quoted_name ? '\'' : '>');
    return finish_group(open, "(?:");
  }
  return parse_options(open);
}

// (?i-m) or (?i-m:...), after the question mark.
Translator::Atom Translator::parse_options(size_t open) {
  const size_t begin = in_.pos();
  RegexOptions options = options_;
  bool value = true;
  for (; !in_.at_end() && !in_.looking_at(":") && !in_.looking_at(")"); in_.seek(in_.pos() + 1)) {
    const char c = in_.peek();
    if (c == '-' && value) {
      value = false;
    } else if (c == 'i') {
      options.ignore_case = value;
    } else if (c == (oniguruma() ? 'm' : 's')) {
      options.dot_matches_newline = value;
    } else if (c == 'm') {
      options.multi_line = value;
    } else if (is_ascii_letter(static_cast<unsigned char>(c)) && c != 'P') {
      in_.fail(in_.pos(), std::string("option '") + c + "' is not supported");
    } else {
      in_.fail(open, "this type of group is not supported");
    }
  }
  if (in_.at_end() || in_.pos() == begin) {
    in_.fail(open, in_.at_end() ? "unterminated group" : "this type of group is not supported");
  }
  const RegexOptions outer = options_;
  options_ = options;
  if (in_.accept(":")) {
    Atom atom = finish_group(open, "(?:");
    options_ = outer;
    return atom;
  }
  in_.accept(")");
  if (!oniguruma()) {
    return {"", false};
  }
  // Oniguruma reads the rest of the enclosing group, with its alternatives, under the options.
  Atom atom{"(?:", false};
  atom.text += parse_alternation();
  atom.text += ')';
  options_ = outer;
  return atom;
}

Translator::Atom Translator::parse_escape() {
  const size_t backslash = in_.pos();
  in_.accept("\\");
  if (const std::optional<CodePointSet> set = classes_.parse_set_escape()) {
    return {emit_set(*set)};
  }
  const char c = in_.peek();
  in_.seek(backslash + 2);
  switch (c) {
    case 'A':
    case 'z':
      return {std::string("\\") + c, false};
    case 'b':
    case 'B':
      return word_boundary(c == 'B');
    default:
      break;
  }
  if (oniguruma()) {
    switch (c) {
      case 'Z':
        return {"(?=\\n?\\z)", false};
      case 'N':
        return {emit_set(all_but_line_feed())};
      case 'O':
        return {emit_set(CodePointSet::all())};
      case 'R':
        return {"(?>\\x{D}\\x{A}|[\\x{A}-\\x{D}\\x{85}\\x{2028}\\x{2029}])"};
      default:
        break;
    }
  }
  in_.seek(backslash + 1);
  return {emit_literal(classes_.parse_character_escape(false))};
}

}  // namespace

std::string translate_pattern(std::string_view pattern, RegexDialect dialect) {
  return Translator(pattern, dialect).translate();
}

std::string escape_pattern(std::string_view literal) {
  std::string out;
  for (const char c : literal) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

}  // namespace netcl::text
