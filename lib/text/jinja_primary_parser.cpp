// SPDX-License-Identifier: Apache-2.0
// Names, literals, tuples, lists and dicts.
#include <cstdlib>

#include "text/jinja_expression_parser.h"

namespace netcl::text::jinja {

std::optional<Int> integer_of(std::string_view digits) {
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    const char prefix = digits[1];
    base = prefix == 'x' || prefix == 'X'   ? 16
           : prefix == 'o' || prefix == 'O' ? 8
           : prefix == 'b' || prefix == 'B' ? 2
                                            : 10;
    digits.remove_prefix(base == 10 ? 0 : 2);
  }
  Int value = 0;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (__builtin_mul_overflow(value, Int{base}, &value) ||
        __builtin_add_overflow(value, Int{digit}, &value)) {
      return std::nullopt;
    }
  }
  return value;
}

ExprPtr ExpressionParser::parse_primary() {
  const Token token = now();
  if (token.is_operator("(")) {
    take();
    ExprPtr inner = parse_tuple({true, "", true});
    expect_operator(")");
    return inner;
  }
  if (token.is_operator("[")) {
    return parse_list();
  }
  if (token.is_operator("{")) {
    return parse_dict();
  }
  ExprPtr value = make(ExprKind::kConstant, token.place);
  switch (token.kind) {
    case TokenKind::kName:
      take();
      if (token.text == "true" || token.text == "True") {
        value->constant = Value::boolean(true, true);
      } else if (token.text == "false" || token.text == "False") {
        value->constant = Value::boolean(false, true);
      } else if (token.text == "none" || token.text == "None") {
        value->constant = Value::none(true);
      } else {
        value->kind = ExprKind::kName;
        value->name = token.text;
        special_names_.varargs |= token.text == "varargs";
        special_names_.kwargs |= token.text == "kwargs";
        special_names_.caller |= token.text == "caller";
      }
      return value;
    case TokenKind::kString: {
      std::string text;
      while (now().kind == TokenKind::kString) {
        text += take().text;
      }
      value->constant = Value::string(std::move(text), kTrusted);
      return value;
    }
    case TokenKind::kInteger: {
      const std::optional<Int> number = integer_of(take().text);
      if (!number) {
        fail(token.place, "the integer has more than 127 bits");
      }
      value->constant = Value::integer(*number, true);
      return value;
    }
    case TokenKind::kFloat:
      value->constant = Value::real(std::strtod(take().text.c_str(), nullptr), true);
      return value;
    default:
      fail_expected("an expression");
  }
}

bool ExpressionParser::is_tuple_end(const TupleRules& rules) const {
  const Token& token = now();
  return token.kind == TokenKind::kBlockEnd || token.kind == TokenKind::kVariableEnd ||
         token.is_operator(")") || (!rules.end_name.empty() && token.is_name(rules.end_name));
}

ExprPtr ExpressionParser::parse_tuple(const TupleRules& rules) {
  const Place place = now().place;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (is_tuple_end(rules)) {
      break;
    }
    items.push_back(parse_expression(rules.with_conditional));
    if (!skip_operator(",")) {
      break;
    }
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) {
    return std::move(items[0]);
  }
  if (items.empty() && !rules.in_parentheses) {
    fail_expected("an expression");
  }
  return make(ExprKind::kTuple, place, std::move(items));
}

ExprPtr ExpressionParser::parse_list() {
  const Place place = take().place;
  std::vector<ExprPtr> items;
  while (!now().is_operator("]")) {
    if (!items.empty()) {
      expect_operator(",");
      if (now().is_operator("]")) {
        break;
      }
    }
    items.push_back(parse_expression());
  }
  take();
  return make(ExprKind::kList, place, std::move(items));
}

ExprPtr ExpressionParser::parse_dict() {
  const Place place = take().place;
  std::vector<ExprPtr> items;
  while (!now().is_operator("}")) {
    if (!items.empty()) {
      expect_operator(",");
      if (now().is_operator("}")) {
        break;
      }
    }
    items.push_back(parse_expression());
    expect_operator(":");
    items.push_back(parse_expression());
  }
  take();
  return make(ExprKind::kDict, place, std::move(items));
}

}  // namespace netcl::text::jinja
