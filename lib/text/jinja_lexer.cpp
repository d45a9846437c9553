// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_lexer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/jinja_chars.h"
#include "text/jinja_literals.h"

namespace netcl::text::jinja {

namespace {

// Longer operators first.
constexpr std::array<std::string_view, 28> kOperators = {
    "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]",
    "(",  ")",  "{",  "}",  ">",  "<",  "=", ".", ":", "|", ",", ";", "!", ""};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A letter, digit or underscore of any script.
bool is_word(char32_t c) {
  return c == '_' || in_categories(c, kLetters | kNumbers);
}

// Every line ending becomes \n, and one at the very end is dropped.
std::string normalized(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] != '\r') {
      text += source[at];
    } else if (at + 1 == source.size() || source[at + 1] != '\n') {
      text += '\n';
    }
  }
  if (text.ends_with('\n')) {
    text.pop_back();
  }
  return text;
}

class Lexer {
 public:
  Lexer(std::string source, std::string_view name) : source_(std::move(source)), name_(name) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      read_text();
    }
    add(TokenKind::kEnd, "", at_);
    return std::move(tokens_);
  }

 private:
  bool sees(std::string_view text, size_t at) const {
    return std::string_view(source_).substr(at, text.size()) == text;
  }

  // Place of a byte; bytes are asked for in ascending order, nearly always.
  Place place_of(size_t byte) {
    if (byte < counted_) {
      counted_ = 0;
      place_ = Place();
    }
    for (; counted_ < byte; ++counted_) {
      const char c = source_[counted_];
      if (c == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
        ++place_.column;
      }
    }
    return place_;
  }

  void add(TokenKind kind, std::string text, size_t at) {
    tokens_.push_back({kind, std::move(text), place_of(at)});
  }

  void add_text(size_t begin, size_t end) {
    if (begin < end) {
      add(TokenKind::kText, source_.substr(begin, end - begin), begin);
    }
  }

  // End of the text before a tag, which begins with `sign` ('-', '+' or none). lstrip_blocks takes
  // white space between the begin of the line and a block or comment.
  size_t stripped_end(size_t begin, size_t end, char sign, bool is_variable) const {
    if (sign == '-') {
      return skip_space_back(source_, begin, end);
    }
    if (sign == '+' || is_variable) {
      return end;
    }
    const size_t newline = end == begin ? std::string::npos : source_.rfind('\n', end - 1);
    const bool is_in_text = newline != std::string::npos && newline >= begin;
    if (!is_in_text && !begins_line_) {
      return end;
    }
    const size_t line = is_in_text ? newline + 1 : begin;
    return skip_space_back(source_, line, end) == line ? line : end;
  }

  // A tag was read up to `end`.
  void go_on_at(size_t end) {
    at_ = end;
    begins_line_ = end > 0 && source_[end - 1] == '\n';
  }

  // End of the end of a block or comment at `at`, where `mark` stands with its sign: "-%}" takes
  // the white space that follows, "%}" one newline, "+%}" nothing.
  size_t after_block_end(size_t at, std::string_view mark) const {
    const bool has_sign = source_[at] == '-' || source_[at] == '+';
    const size_t end = at + (has_sign ? 1 : 0) + mark.size();
    if (source_[at] == '-') {
      return skip_space(source_, end);
    }
    return !has_sign && end < source_.size() && source_[end] == '\n' ? end + 1 : end;
  }

  // Text up to the next tag, and that tag.
  void read_text() {
    const size_t begin = at_;
    size_t tag = begin;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        add_text(begin, source_.size());
        at_ = source_.size();
        return;
      }
      const char kind = source_[tag + 1];
      if (kind == '{' || kind == '%' || kind == '#') {
        break;
      }
    }
    const char kind = source_[tag + 1];
    const char next = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const char sign = next == '-' || next == '+' ? next : '\0';
    add_text(begin, stripped_end(begin, tag, sign, kind == '{'));
    const size_t inner = tag + (sign == '\0' ? 2 : 3);
    if (kind == '#') {
      read_comment(tag, inner);
    } else if (kind == '%' && is_raw(inner)) {
      read_raw(tag, inner);
    } else {
      add(kind == '%' ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, "", tag);
      read_tag(tag, inner, kind == '%');
    }
  }

  void read_comment(size_t tag, size_t inner) {
    const size_t mark = source_.find("#}", inner);
    if (mark == std::string::npos) {
      fail(tag, "the comment has no end; add '#}'");
    }
    const bool has_sign = mark > inner && (source_[mark - 1] == '-' || source_[mark - 1] == '+');
    go_on_at(after_block_end(mark - (has_sign ? 1 : 0), "#}"));
  }

  // The end of `{% raw %}` whose inside begins at `inner`; 0 when it is another tag.
  size_t after_raw_begin(size_t inner) const {
    size_t at = skip_space(source_, inner);
    if (!sees("raw", at)) {
      return 0;
    }
    at = skip_space(source_, at + 3);
    if (sees("-%}", at)) {
      return skip_space(source_, at + 3);
    }
    return sees("%}", at) ? at + 2 : 0;
  }
  bool is_raw(size_t inner) const { return after_raw_begin(inner) != 0; }

  void read_raw(size_t tag, size_t inner) {
    const size_t begin = after_raw_begin(inner);
    begins_line_ = source_[begin - 1] == '\n';
    for (size_t end = source_.find("{%", begin); end != std::string::npos;
         end = source_.find("{%", end + 2)) {
      size_t at = end + 2;
      const char sign =
          at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
      at = skip_space(source_, at + (sign == '\0' ? 0 : 1));
      if (!sees("endraw", at)) {
        continue;
      }
      at = skip_space(source_, at + 6);
      if (!sees("%}", at) && !sees("-%}", at) && !sees("+%}", at)) {
        continue;
      }
      add_text(begin, stripped_end(begin, end, sign, false));
      go_on_at(after_block_end(at, "%}"));
      return;
    }
    fail(tag, "the raw block has no end; add '{% endraw %}'");
  }

  // Tokens of the tag that begins at `tag`, up to and with its end.
  void read_tag(size_t tag, size_t inner, bool is_block) {
    at_ = inner;
    std::string open;  // brackets, as their closing ones
    for (;;) {
      if (at_ >= source_.size()) {
        fail(tag, std::string("the tag has no end; add '") + (is_block ? "%}'" : "}}'"));
      }
      if (open.empty() && read_tag_end(is_block)) {
        return;
      }
      const size_t after = skip_space(source_, at_);
      if (after > at_) {
        at_ = after;
        continue;
      }
      read_token(open);
    }
  }

  bool read_tag_end(bool is_block) {
    const size_t begin = at_;
    if (!is_block) {
      if (!sees("}}", at_) && !sees("-}}", at_)) {
        return false;
      }
      add(TokenKind::kVariableEnd, "", begin);
      go_on_at(source_[at_] == '-' ? skip_space(source_, at_ + 3) : at_ + 2);
      return true;
    }
    if (!sees("%}", at_) && !sees("-%}", at_) && !sees("+%}", at_)) {
      return false;
    }
    add(TokenKind::kBlockEnd, "", begin);
    go_on_at(after_block_end(at_, "%}"));
    return true;
  }

  void read_token(std::string& open) {
    const size_t begin = at_;
    const char c = source_[at_];
    if (c == '\'' || c == '"') {
      const size_t end = string_literal_end(source_, at_);
      if (end == 0) {
        fail(begin, "the string has no end");
      }
      std::string error;
      std::string value = unescape(source_.substr(begin + 1, end - begin - 2), error);
      if (!error.empty()) {
        fail(begin, error);
      }
      add(TokenKind::kString, std::move(value), begin);
      at_ = end;
      return;
    }
    if (is_digit(c)) {
      const bool follows_dot = begin > 0 && source_[begin - 1] == '.';
      const NumberLiteral number = number_literal(source_, begin, !follows_dot);
      add(number.is_float ? TokenKind::kFloat : TokenKind::kInteger, number.digits, begin);
      at_ = number.end;
      return;
    }
    const DecodedChar first = decode_utf8(source_, at_);
    if (is_word(first.code_point)) {
      while (at_ < source_.size() && is_word(decode_utf8(source_, at_).code_point)) {
        at_ += decode_utf8(source_, at_).byte_count;
      }
      add(TokenKind::kName, source_.substr(begin, at_ - begin), begin);
      return;
    }
    read_operator(open);
  }

  void read_operator(std::string& open) {
    const size_t begin = at_;
    const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                     [&](std::string_view sign) { return sees(sign, begin); });
    const std::string_view sign = *found;
    if (sign.empty() || sign == "!") {
      const DecodedChar c = decode_utf8(source_, begin);
      fail(begin, "unexpected character " +
                      base::quote(std::string_view(source_).substr(begin, c.byte_count)));
    }
    if (sign == "(" || sign == "[" || sign == "{") {
      open += sign == "(" ? ')' : sign == "[" ? ']' : '}';
    } else if (sign == ")" || sign == "]" || sign == "}") {
      if (open.empty() || open.back() != sign[0]) {
        fail(begin, "unexpected '" + std::string(sign) + "'" +
                        (open.empty() ? "" : ", expected '" + open.substr(open.size() - 1) + "'"));
      }
      open.pop_back();
    }
    add(TokenKind::kOperator, std::string(sign), begin);
    at_ += sign.size();
  }

  [[noreturn]] void fail(size_t at, const std::string& message) {
    fail_at(name_, place_of(at), message);
  }

  std::string source_;
  std::string_view name_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool begins_line_ = true;  // nothing but a newline stands before what is read next
  size_t counted_ = 0;
  Place place_;
};

// Place of a byte of text that is valid UTF-8 up to it.
Place place_in(std::string_view source, size_t byte) {
  Place place;
  for (size_t at = 0; at < byte; ++at) {
    const char c = source[at];
    if (c == '\n' || (c == '\r' && !source.substr(at + 1).starts_with('\n'))) {
      ++place.line;
      place.column = 1;
    } else if (c != '\r' && (static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::string_view name) {
  if (const size_t bad = find_ill_formed(source); bad != source.size()) {
    fail_at(name, place_in(source, bad), "the template is not valid UTF-8 from here on");
  }
  return Lexer(normalized(source), name).run();
}

void fail_at(std::string_view name, Place place, const std::string& message) {
  throw base::FormatError(base::at_line(name, place.line) + ":" + std::to_string(place.column) +
                          ": " + message);
}

}  // namespace netcl::text::jinja
