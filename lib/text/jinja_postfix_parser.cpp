// SPDX-License-Identifier: Apache-2.0
// What follows a value in an expression: attributes, items, calls, filters and tests.
#include "text/jinja_expression_parser.h"

namespace netcl::text::jinja {

namespace {

std::vector<ExprPtr> one(ExprPtr value) {
  std::vector<ExprPtr> list;
  list.push_back(std::move(value));
  return list;
}

// Whether the token can begin the argument of a test that is written without parentheses.
bool begins_argument(const Token& token) {
  switch (token.kind) {
    case TokenKind::kName:
      return token.text != "else" && token.text != "or" && token.text != "and";
    case TokenKind::kString:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return true;
    default:
      return token.is_operator("(") || token.is_operator("[") || token.is_operator("{");
  }
}

}  // namespace

ExprPtr ExpressionParser::parse_postfix(ExprPtr value) {
  for (;;) {
    if (now().is_operator(".") || now().is_operator("[")) {
      value = parse_subscript(std::move(value));
    } else if (now().is_operator("(")) {
      value = parse_call(std::move(value));
    } else {
      return value;
    }
  }
}

ExprPtr ExpressionParser::parse_filters_and_tests(ExprPtr value) {
  for (;;) {
    if (now().is_operator("|")) {
      value = parse_filters(std::move(value), false);
    } else if (now().is_name("is")) {
      value = parse_test(std::move(value));
    } else if (now().is_operator("(")) {
      value = parse_call(std::move(value));
    } else {
      return value;
    }
  }
}

ExprPtr ExpressionParser::parse_subscript(ExprPtr value) {
  const Token sign = take();
  if (sign.text == "[") {
    return parse_index(std::move(value));
  }
  const Token name = take();
  if (name.kind == TokenKind::kName) {
    ExprPtr attribute = make(ExprKind::kAttribute, name.place, one(std::move(value)));
    attribute->name = name.text;
    return attribute;
  }
  const std::optional<Int> number =
      name.kind == TokenKind::kInteger ? integer_of(name.text) : std::nullopt;
  if (!number) {
    fail(name.place, "expected a name or an integer after '.'");
  }
  std::vector<ExprPtr> children = one(std::move(value));
  children.push_back(make(ExprKind::kConstant, name.place));
  children.back()->constant = Value::integer(*number, true);
  return make(ExprKind::kItem, name.place, std::move(children));
}

// After '[': an index, several (which are a tuple), or a slice.
ExprPtr ExpressionParser::parse_index(ExprPtr value) {
  const Place place = now().place;
  std::vector<ExprPtr> indices;
  while (!now().is_operator("]")) {
    if (!indices.empty()) {
      expect_operator(",");
    }
    if (!now().is_operator(":")) {
      indices.push_back(parse_expression());
      if (!now().is_operator(":")) {
        continue;
      }
    } else {
      indices.push_back(nullptr);
    }
    if (indices.size() > 1) {
      fail(now().place, "a slice stands alone in its brackets");
    }
    std::vector<ExprPtr> parts;
    parts.push_back(std::move(value));
    parts.push_back(std::move(indices[0]));
    while (parts.size() < 4 && skip_operator(":")) {
      const bool is_empty = now().is_operator(":") || now().is_operator("]");
      parts.push_back(is_empty ? nullptr : parse_expression());
    }
    parts.resize(4);
    expect_operator("]");
    return make(ExprKind::kSlice, place, std::move(parts));
  }
  take();
  if (indices.empty()) {
    fail(place, "expected an index");
  }
  ExprPtr index = indices.size() == 1 ? std::move(indices[0])
                                      : make(ExprKind::kTuple, place, std::move(indices));
  std::vector<ExprPtr> children = one(std::move(value));
  children.push_back(std::move(index));
  return make(ExprKind::kItem, place, std::move(children));
}

ExprPtr ExpressionParser::parse_call(ExprPtr callee) {
  const Place place = now().place;
  CallArguments arguments = parse_arguments();
  ExprPtr call = make(ExprKind::kCall, place, one(std::move(callee)));
  set_arguments(*call, std::move(arguments));
  return call;
}

CallArguments ExpressionParser::parse_arguments() {
  const Nesting nesting(*this);
  CallArguments arguments;
  expect_operator("(");
  bool is_first = true;
  while (!now().is_operator(")")) {
    if (!is_first) {
      expect_operator(",");
      if (now().is_operator(")")) {
        break;
      }
    }
    is_first = false;
    const Place place = now().place;
    const bool has_named = !arguments.named.empty() || arguments.star_star != nullptr;
    if (now().is_operator("*") && arguments.star == nullptr && arguments.star_star == nullptr) {
      take();
      arguments.star = parse_expression();
    } else if (now().is_operator("**") && arguments.star_star == nullptr) {
      take();
      arguments.star_star = parse_expression();
    } else if (now().kind == TokenKind::kName && ahead().is_operator("=") &&
               arguments.star_star == nullptr) {
      std::string name = take().text;
      take();
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else if (has_named || arguments.star != nullptr) {
      fail(place, "a positional argument after named ones");
    } else {
      arguments.positional.push_back(parse_expression());
    }
  }
  take();
  return arguments;
}

std::string ExpressionParser::parse_dotted_name() {
  std::string name = expect_name();
  while (skip_operator(".")) {
    name += "." + expect_name();
  }
  return name;
}

ExprPtr ExpressionParser::parse_filters(ExprPtr value, bool is_started) {
  while (now().is_operator("|") || is_started) {
    if (!is_started) {
      take();
    }
    is_started = false;
    const Place place = now().place;
    std::string name = parse_dotted_name();
    CallArguments arguments;
    if (now().is_operator("(")) {
      arguments = parse_arguments();
    }
    value = make(ExprKind::kFilter, place, one(std::move(value)));
    value->name = std::move(name);
    set_arguments(*value, std::move(arguments));
  }
  return value;
}

ExprPtr ExpressionParser::parse_test(ExprPtr value) {
  take();  // is
  const bool is_negated = skip_name("not");
  const Place place = now().place;
  std::string name = parse_dotted_name();
  CallArguments arguments;
  if (now().is_operator("(")) {
    arguments = parse_arguments();
  } else if (begins_argument(now())) {
    if (now().is_name("is")) {
      fail(now().place, "tests cannot be chained with 'is'");
    }
    const Nesting nesting(*this);
    arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  ExprPtr test = make(ExprKind::kTest, place, one(std::move(value)));
  test->name = std::move(name);
  set_arguments(*test, std::move(arguments));
  return is_negated ? make(ExprKind::kNot, place, one(std::move(test))) : std::move(test);
}

}  // namespace netcl::text::jinja
