// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_expression_parser.h"

#include <algorithm>

#include "base/error.h"
#include "text/jinja_parser.h"

namespace netcl::text::jinja {

namespace {

bool is_comparison(const Token& token) {
  return token.kind == TokenKind::kOperator &&
         (token.text == "==" || token.text == "!=" || token.text == "<" || token.text == "<=" ||
          token.text == ">" || token.text == ">=");
}

std::string described(const Token& token) {
  switch (token.kind) {
    case TokenKind::kText:
      return "text";
    case TokenKind::kBlockBegin:
      return "'{%'";
    case TokenKind::kBlockEnd:
      return "the end of the tag";
    case TokenKind::kVariableBegin:
      return "'{{'";
    case TokenKind::kVariableEnd:
      return "the end of the tag";
    case TokenKind::kString:
      return "the string " + base::quote(token.text);
    case TokenKind::kEnd:
      return "the end of the template";
    default:
      return base::quote(token.text);
  }
}

}  // namespace

ExpressionParser::Nesting::Nesting(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.nesting_ > kMaxNesting) {
    --parser_.nesting_;
    parser_.fail(parser_.now().place,
                 "nested deeper than " + std::to_string(kMaxNesting) + " levels");
  }
}

Token ExpressionParser::take() {
  const Token& token = tokens_[at_];
  at_ += token.kind == TokenKind::kEnd ? 0 : 1;
  return token;
}

bool ExpressionParser::skip_name(std::string_view name) {
  const bool is_here = now().is_name(name);
  at_ += is_here ? 1 : 0;
  return is_here;
}

bool ExpressionParser::skip_operator(std::string_view sign) {
  const bool is_here = now().is_operator(sign);
  at_ += is_here ? 1 : 0;
  return is_here;
}

std::string ExpressionParser::expect_name() {
  if (now().kind != TokenKind::kName) {
    fail_expected("a name");
  }
  return take().text;
}

void ExpressionParser::expect_operator(std::string_view sign) {
  if (!skip_operator(sign)) {
    fail_expected("'" + std::string(sign) + "'");
  }
}

void ExpressionParser::fail(Place place, const std::string& message) const {
  fail_at(name_, place, message);
}

void ExpressionParser::fail_expected(const std::string& what) const {
  fail(now().place, "expected " + what + ", found " + described(now()));
}

ExprPtr ExpressionParser::make(ExprKind kind, Place place, std::vector<ExprPtr> children) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->place = place;
  for (const ExprPtr& child : children) {
    if (child != nullptr) {
      expr->height = std::max(expr->height, child->height + 1);
    }
  }
  check_height(*expr);
  expr->children = std::move(children);
  return expr;
}

void ExpressionParser::check_height(const Expr& expr) const {
  if (expr.height > 2 * kMaxNesting) {
    fail(expr.place, "more than " + std::to_string(2 * kMaxNesting) + " operations in a row");
  }
}

void ExpressionParser::set_arguments(Expr& expr, CallArguments arguments) const {
  const auto count = [&](const ExprPtr& argument) {
    if (argument != nullptr) {
      expr.height = std::max(expr.height, argument->height + 1);
    }
  };
  std::for_each(arguments.positional.begin(), arguments.positional.end(), count);
  for (const auto& [name, argument] : arguments.named) {
    count(argument);
  }
  count(arguments.star);
  count(arguments.star_star);
  check_height(expr);
  expr.arguments = std::move(arguments);
}

namespace {

std::vector<ExprPtr> pack(ExprPtr first, ExprPtr second = nullptr, ExprPtr third = nullptr) {
  std::vector<ExprPtr> list;
  list.push_back(std::move(first));
  if (second != nullptr) {
    list.push_back(std::move(second));
  }
  if (third != nullptr) {
    list.push_back(std::move(third));
  }
  return list;
}

}  // namespace

ExprPtr ExpressionParser::parse_expression(bool with_conditional) {
  const Nesting nesting(*this);
  if (!with_conditional) {
    return parse_or();
  }
  Place place = now().place;
  ExprPtr value = parse_or();
  while (skip_name("if")) {
    ExprPtr condition = parse_or();
    ExprPtr other = skip_name("else") ? parse_expression() : nullptr;
    value = make(ExprKind::kConditional, place,
                 pack(std::move(condition), std::move(value), std::move(other)));
    place = now().place;
  }
  return value;
}

ExprPtr ExpressionParser::parse_or() {
  ExprPtr left = parse_and();
  while (now().is_name("or")) {
    const Place place = take().place;
    left = make(ExprKind::kOr, place, pack(std::move(left), parse_and()));
  }
  return left;
}

ExprPtr ExpressionParser::parse_and() {
  ExprPtr left = parse_not();
  while (now().is_name("and")) {
    const Place place = take().place;
    left = make(ExprKind::kAnd, place, pack(std::move(left), parse_not()));
  }
  return left;
}

ExprPtr ExpressionParser::parse_not() {
  if (now().is_name("not")) {
    const Nesting nesting(*this);
    const Place place = take().place;
    return make(ExprKind::kNot, place, pack(parse_not()));
  }
  return parse_compare();
}

ExprPtr ExpressionParser::parse_compare() {
  const Place place = now().place;
  std::vector<ExprPtr> operands;
  std::vector<std::string> operators;
  operands.push_back(parse_sum());
  for (;;) {
    if (is_comparison(now())) {
      operators.push_back(take().text);
    } else if (skip_name("in")) {
      operators.emplace_back("in");
    } else if (now().is_name("not") && ahead().is_name("in")) {
      take();
      take();
      operators.emplace_back("not in");
    } else {
      break;
    }
    operands.push_back(parse_sum());
  }
  if (operators.empty()) {
    return std::move(operands[0]);
  }
  ExprPtr compare = make(ExprKind::kCompare, place, std::move(operands));
  compare->operators = std::move(operators);
  return compare;
}

ExprPtr ExpressionParser::parse_chain(std::initializer_list<std::string_view> signs,
                                      ExprPtr (ExpressionParser::*parse_operand)()) {
  ExprPtr left = (this->*parse_operand)();
  const auto is_sign = [&] {
    return now().kind == TokenKind::kOperator &&
           std::find(signs.begin(), signs.end(), now().text) != signs.end();
  };
  while (is_sign()) {
    const Token sign = take();
    left = make(ExprKind::kArithmetic, sign.place, pack(std::move(left), (this->*parse_operand)()));
    left->name = sign.text;
  }
  return left;
}

ExprPtr ExpressionParser::parse_sum() {
  return parse_chain({"+", "-"}, &ExpressionParser::parse_concat);
}

ExprPtr ExpressionParser::parse_concat() {
  const Place place = now().place;
  std::vector<ExprPtr> parts;
  parts.push_back(parse_product());
  while (skip_operator("~")) {
    parts.push_back(parse_product());
  }
  return parts.size() == 1 ? std::move(parts[0]) : make(ExprKind::kConcat, place, std::move(parts));
}

ExprPtr ExpressionParser::parse_product() {
  return parse_chain({"*", "/", "//", "%"}, &ExpressionParser::parse_power);
}

// Jinja's powers group from the left, and a sign binds closer than they do.
ExprPtr ExpressionParser::parse_power() {
  ExprPtr left = parse_unary(true);
  while (now().is_operator("**")) {
    const Place place = take().place;
    left = make(ExprKind::kArithmetic, place, pack(std::move(left), parse_unary(true)));
    left->name = "**";
  }
  return left;
}

ExprPtr ExpressionParser::parse_unary(bool with_filters) {
  const Nesting nesting(*this);
  ExprPtr value;
  if (now().is_operator("-") || now().is_operator("+")) {
    const Token sign = take();
    const ExprKind kind = sign.text == "-" ? ExprKind::kNegate : ExprKind::kPlus;
    value = make(kind, sign.place, pack(parse_unary(false)));
  } else {
    value = parse_primary();
  }
  value = parse_postfix(std::move(value));
  return with_filters ? parse_filters_and_tests(std::move(value)) : std::move(value);
}

}  // namespace netcl::text::jinja
