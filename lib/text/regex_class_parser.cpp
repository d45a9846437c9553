// SPDX-License-Identifier: Apache-2.0
#include "text/regex_class_parser.h"

#include <utility>

#include "text/regex_classes.h"

namespace netcl::text {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

CodePointSet RegexClassParser::parse_bracket() {
  const RegexReader::Nested nested(in_);
  const size_t open = in_.pos();
  in_.accept("[");
  const bool negated = in_.accept("^");
  ++bracket_depth_;
  std::optional<CodePointSet> left;  // of &&, which binds weakest
  CodePointSet right;
  for (bool first = true; first || !in_.accept("]"); first = false) {
    if (in_.at_end()) {
      in_.fail(open, "unterminated character class");
    }
    if (in_.accept("&&")) {
      if (left) {
        right.intersect(*left);
      }
      left = std::exchange(right, {});
    } else {
      right.unite(parse_item());
    }
  }
  --bracket_depth_;
  if (left) {
    right.intersect(*left);
  }
  // Oniguruma folds case once, over the outermost class; the regex crate folds each level.
  if (options_.ignore_case && (bracket_depth_ == 0 || !oniguruma())) {
    right.close_over_case();
  }
  if (negated) {
    right.complement();
  }
  return right;
}

// One member of a class: a nested class, a named class, a character or a range.
CodePointSet RegexClassParser::parse_item() {
  const size_t begin = in_.pos();
  if (!oniguruma() && (in_.looking_at("--") || in_.looking_at("~~"))) {
    in_.fail(begin, "class operators -- and ~~ are not supported");
  }
  std::optional<CodePointSet> set;
  if (in_.looking_at("[")) {
    set = parse_posix_bracket();
    if (!set) {
      return parse_bracket();
    }
  } else if (in_.looking_at("\\")) {
    in_.seek(begin + 1);
    set = parse_set_escape();
    if (!set) {
      in_.seek(begin);
    }
  }
  const bool range_follows = in_.looking_at("-") && !in_.looking_at("-]");
  if (set) {
    if (range_follows && !oniguruma()) {
      in_.fail(begin, "a class cannot begin a range");
    }
    return *set;
  }
  const char32_t first = parse_character();
  // Oniguruma takes a hyphen before a nested class or && literally.
  if (!in_.looking_at("-") || in_.looking_at("-]") ||
      (oniguruma() && (in_.looking_at("-[") || in_.looking_at("-&&")))) {
    return {{first, first}};
  }
  if (!oniguruma() && in_.looking_at("--")) {
    in_.fail(in_.pos(), "class operators -- and ~~ are not supported");
  }
  in_.accept("-");
  const size_t last_begin = in_.pos();
  if (in_.at_end()) {
    in_.fail(begin, "unterminated range");
  }
  if (in_.looking_at("\\")) {
    in_.seek(last_begin + 1);
    if (parse_set_escape()) {
      in_.fail(last_begin, "a class cannot end a range");
    }
    in_.seek(last_begin);
  } else if (in_.looking_at("[")) {
    in_.fail(last_begin, "a class cannot end a range");
  }
  const char32_t last = parse_character();
  if (first > last) {
    in_.fail(begin, "range whose ends are in the wrong order");
  }
  return {{first, last}};
}

char32_t RegexClassParser::parse_character() {
  return in_.accept("\\") ? parse_character_escape(true) : in_.next_code_point();
}

// [:name:]. Without a closing ":]" before the next ']' the bracket opens a nested class.
std::optional<CodePointSet> RegexClassParser::parse_posix_bracket() {
  const size_t begin = in_.pos();
  if (!in_.looking_at("[:")) {
    return std::nullopt;
  }
  const std::string_view rest = in_.pattern().substr(begin + 2);
  const size_t close = rest.find(":]");
  if (close == std::string_view::npos || rest.find(']') < close) {
    return std::nullopt;
  }
  std::string_view name = rest.substr(0, close);
  const bool negated = name.starts_with("^");
  name.remove_prefix(negated ? 1 : 0);
  std::optional<CodePointSet> set = find_posix_bracket(name, dialect_);
  if (!set) {
    in_.fail(begin, "POSIX bracket " + base::quote(name) + " is not in the tables");
  }
  in_.seek(begin + 2 + close + 2);
  if (negated) {
    set->complement();
  }
  return set;
}

std::optional<CodePointSet> RegexClassParser::parse_set_escape() {
  const size_t backslash = in_.pos() - 1;
  const char c = in_.peek();
  if (c == 'p' || c == 'P') {
    in_.seek(backslash + 2);
    return parse_property(backslash, c == 'P');
  }
  std::optional<CodePointSet> set = find_escape_class(c, dialect_);
  if (set) {
    in_.seek(backslash + 2);
  }
  return set;
}

// After \p or \P.
CodePointSet RegexClassParser::parse_property(size_t backslash, bool negated) {
  std::string_view name;
  if (in_.accept("{")) {
    if (in_.accept("^")) {
      negated = !negated;
    }
    const size_t close = in_.pattern().find('}', in_.pos());
    if (close == std::string_view::npos) {
      in_.fail(backslash, "unterminated property name");
    }
    name = in_.pattern().substr(in_.pos(), close - in_.pos());
    in_.seek(close + 1);
  } else if (!oniguruma() && is_ascii_letter(static_cast<unsigned char>(in_.peek()))) {
    name = in_.pattern().substr(in_.pos(), 1);
    in_.seek(in_.pos() + 1);
  } else {
    in_.fail(backslash, "a property needs a name in braces");
  }
  std::optional<CodePointSet> set = find_property(name, dialect_);
  if (!set) {
    in_.fail(backslash, "property " + base::quote(name) +
                            " is not in the tables (general categories and Han are)");
  }
  if (options_.ignore_case && !oniguruma()) {
    set->close_over_case();
  }
  if (negated) {
    set->complement();
  }
  return *set;
}

char32_t RegexClassParser::parse_hex(size_t backslash, size_t min_digits, size_t max_digits) {
  uint32_t value = 0;
  size_t count = 0;
  for (; count < max_digits && hex_value(in_.peek()) >= 0; ++count) {
    value = value * 16 + static_cast<uint32_t>(hex_value(in_.peek()));
    in_.seek(in_.pos() + 1);
  }
  if (count < min_digits) {
    in_.fail(backslash, "too few hexadecimal digits");
  }
  return value;
}

// After \x or \u.
char32_t RegexClassParser::parse_code(size_t backslash, char letter) {
  char32_t value = 0;
  if (in_.accept("{")) {
    if (letter == 'u' && oniguruma()) {
      in_.fail(backslash, "\\u needs four hexadecimal digits");
    }
    value = parse_hex(backslash, 1, 8);
    if (!in_.accept("}")) {
      in_.fail(backslash, "unterminated hexadecimal escape");
    }
  } else if (letter == 'u') {
    value = parse_hex(backslash, 4, 4);
  } else {
    value = parse_hex(backslash, 2, 2);
    if (oniguruma() && value >= 0x80) {
      in_.fail(backslash, "\\xHH from 80 up is a raw byte; write \\x{HH}");
    }
  }
  if (value > kMaxCodePoint || (value >= 0xD800 && value <= 0xDFFF)) {
    in_.fail(backslash, "not a Unicode scalar value");
  }
  return value;
}

char32_t RegexClassParser::parse_character_escape(bool in_class) {
  const size_t backslash = in_.pos() - 1;
  if (in_.at_end()) {
    in_.fail(backslash, "the pattern ends in a backslash");
  }
  const char32_t c = in_.next_code_point();
  switch (c) {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'a':
      return '\a';
    case 'e':
      return 0x1B;
    case 'b':
      if (in_class && oniguruma()) {
        return '\b';
      }
      break;
    case 'x':
    case 'u':
      return parse_code(backslash, static_cast<char>(c));
    default:
      break;
  }
  if (is_ascii_letter(c) || is_ascii_digit(c)) {
    in_.fail(backslash, "escape \\" + std::string(1, static_cast<char>(c)) + " is not supported");
  }
  return c;
}

}  // namespace netcl::text
