// SPDX-License-Identifier: Apache-2.0
// Template source to tokens, with trim_blocks and lstrip_blocks on, as chat templates are run.
#ifndef NETCL_TEXT_JINJA_LEXER_H_
#define NETCL_TEXT_JINJA_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace netcl::text::jinja {

// A place in a template: line and column (in characters) from 1.
struct Place {
  uint32_t line = 1;
  uint32_t column = 1;
};

enum class TokenKind : uint8_t {
  kText,           // what stands outside of tags, stripped as the tags around it say
  kBlockBegin,     // {%
  kBlockEnd,       // %}
  kVariableBegin,  // {{
  kVariableEnd,    // }}
  kName,
  kString,   // its value, escapes resolved
  kInteger,  // its digits, without underscores
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  Place place;

  bool is(TokenKind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
  bool is_name(std::string_view name) const { return is(TokenKind::kName, name); }
  bool is_operator(std::string_view sign) const { return is(TokenKind::kOperator, sign); }
};

// Tokens of `source`, kEnd last. `name` is the template's name in messages. Throws FormatError
// ("name:line:column: ...") for ill-formed UTF-8, unknown characters, unclosed comments, strings
// and raw blocks, and brackets that do not match.
std::vector<Token> tokenize(std::string_view source, std::string_view name);

// Throws the FormatError of a place in a template.
[[noreturn]] void fail_at(std::string_view name, Place place, const std::string& message);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_LEXER_H_
