// SPDX-License-Identifier: Apache-2.0
// Expressions.
#include "base/error.h"
#include "text/jinja_interpreter.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

Value Interpreter::evaluate(const Expr& expr, const ScopePtr& scope) {
  const Nesting nesting(*this);
  at(expr.place);
  budget.step();
  switch (expr.kind) {
    case ExprKind::kConstant:
      return expr.constant;
    case ExprKind::kName:
      return look_up(expr, scope);
    case ExprKind::kList:
      return Value::list(evaluate_all(expr.children, scope));
    case ExprKind::kTuple:
      return Value::tuple(evaluate_all(expr.children, scope));
    case ExprKind::kDict:
      return evaluate_dict(expr, scope);
    case ExprKind::kNot:
      return Value::boolean(!truth(evaluate(*expr.children[0], scope), budget));
    case ExprKind::kNegate:
    case ExprKind::kPlus: {
      const Value value = evaluate(*expr.children[0], scope);
      at(expr.place);
      return expr.kind == ExprKind::kNegate ? negated(value) : plus(value);
    }
    case ExprKind::kArithmetic:
      return evaluate_arithmetic(expr, scope);
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      Value left = evaluate(*expr.children[0], scope);
      const bool is_decided = truth(left, budget) == (expr.kind == ExprKind::kOr);
      return is_decided ? left : evaluate(*expr.children[1], scope);
    }
    case ExprKind::kConcat:
      return evaluate_concat(expr, scope);
    case ExprKind::kCompare:
      return evaluate_compare(expr, scope);
    case ExprKind::kConditional:
      return evaluate_conditional(expr, scope);
    case ExprKind::kAttribute: {
      const Value value = evaluate(*expr.children[0], scope);
      at(expr.place);
      return get_attribute(value, expr.name, *this);
    }
    case ExprKind::kItem:
      return evaluate_item(expr, scope);
    case ExprKind::kSlice:
      return evaluate_slice(expr, scope);
    case ExprKind::kCall:
      return evaluate_call(expr, scope, nullptr);
    case ExprKind::kFilter:
      return evaluate_filter(expr, scope, nullptr);
    case ExprKind::kTest:
      return evaluate_test(expr, scope);
  }
  return {};
}

Value Interpreter::look_up(const Expr& expr, const ScopePtr& scope) {
  for (const Scope* at = scope.get(); at != nullptr; at = at->parent.get()) {
    if (const Value* found = at->find(expr.name)) {
      return *found;
    }
  }
  return Value::undefined(base::quote(expr.name) + " is undefined");
}

std::vector<Value> Interpreter::evaluate_all(const std::vector<ExprPtr>& exprs,
                                             const ScopePtr& scope) {
  std::vector<Value> values;
  values.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) {
    values.push_back(evaluate(*expr, scope));
  }
  budget.made(values.size() * sizeof(Value));
  return values;
}

Value Interpreter::evaluate_dict(const Expr& expr, const ScopePtr& scope) {
  Dict dict;
  for (size_t i = 0; i < expr.children.size(); i += 2) {
    const Value key = evaluate(*expr.children[i], scope);
    Value value = evaluate(*expr.children[i + 1], scope);
    at(expr.children[i]->place);
    dict.set(key, std::move(value), budget);
  }
  budget.made(dict.entries.size() * 4 * sizeof(Value));
  return Value::dict(std::move(dict));
}

Value Interpreter::evaluate_concat(const Expr& expr, const ScopePtr& scope) {
  Text text;
  for (const ExprPtr& part : expr.children) {
    const Value value = evaluate(*part, scope);
    at(part->place);
    text.append(to_str(value, budget));
  }
  budget.made(text.memory());
  return Value::string(std::move(text));
}

bool Interpreter::compares(const std::string& sign, const Value& left, const Value& right) {
  if (sign == "==" || sign == "!=") {
    return equal(left, right, budget) == (sign == "==");
  }
  if (sign == "in" || sign == "not in") {
    return contains(right, left, budget) == (sign == "in");
  }
  const std::optional<int> order = compare(left, right, budget, sign);
  return order && (sign == "<"    ? *order < 0
                   : sign == "<=" ? *order <= 0
                   : sign == ">"  ? *order > 0
                                  : *order >= 0);
}

// a < b < c compares neighbours and stops at the first that does not hold.
Value Interpreter::evaluate_compare(const Expr& expr, const ScopePtr& scope) {
  Value left = evaluate(*expr.children[0], scope);
  for (size_t i = 0; i < expr.operators.size(); ++i) {
    Value right = evaluate(*expr.children[i + 1], scope);
    at(expr.children[i + 1]->place);
    if (!compares(expr.operators[i], left, right)) {
      return Value::boolean(false);
    }
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_conditional(const Expr& expr, const ScopePtr& scope) {
  if (truth(evaluate(*expr.children[0], scope), budget)) {
    return evaluate(*expr.children[1], scope);
  }
  if (expr.children.size() > 2) {
    return evaluate(*expr.children[2], scope);
  }
  return Value::undefined("the condition on line " + std::to_string(expr.place.line) +
                          " is false and there is no else");
}

Value Interpreter::evaluate_arithmetic(const Expr& expr, const ScopePtr& scope) {
  const Value left = evaluate(*expr.children[0], scope);
  const Value right = evaluate(*expr.children[1], scope);
  at(expr.place);
  return arithmetic(expr.name, left, right, budget);
}

Value Interpreter::evaluate_item(const Expr& expr, const ScopePtr& scope) {
  const Value value = evaluate(*expr.children[0], scope);
  const Value key = evaluate(*expr.children[1], scope);
  at(expr.place);
  return get_item(value, key, *this);
}

Value Interpreter::evaluate_slice(const Expr& expr, const ScopePtr& scope) {
  const Value value = evaluate(*expr.children[0], scope);
  std::vector<Value> parts;
  for (size_t i = 1; i < 4; ++i) {
    const Expr* part = expr.children[i].get();
    parts.push_back(part == nullptr ? Value::none() : evaluate(*part, scope));
  }
  at(expr.place);
  return get_slice(value, parts[0], parts[1], parts[2], budget);
}

Arguments Interpreter::evaluate_arguments(const CallArguments& arguments, const ScopePtr& scope) {
  Arguments values;
  values.positional = evaluate_all(arguments.positional, scope);
  values.charge.set(values.memory());
  for (const auto& [name, expr] : arguments.named) {
    values.named.emplace_back(name, evaluate(*expr, scope));
  }
  if (arguments.star != nullptr) {
    for (Value& value : elements(evaluate(*arguments.star, scope), budget)) {
      values.positional.push_back(std::move(value));
    }
    values.charge.set(values.memory());
  }
  if (arguments.star_star != nullptr) {
    const Value named = evaluate(*arguments.star_star, scope);
    if (!named.is(Kind::kDict)) {
      throw Failure("'**' needs a dict, not " + type_name(named));
    }
    for (const auto& [key, value] : named.as_dict().entries) {
      const std::string& name = string_of(key, "'**'");
      budget.step(1 + values.named.size() / 16);
      for (const auto& [other, its_value] : values.named) {
        if (other == name) {
          throw Failure("the argument " + base::quote(name) + " is given twice");
        }
      }
      values.named.emplace_back(name, value);
    }
    values.charge.set(values.memory());
  }
  return values;
}

Value Interpreter::evaluate_call(const Expr& expr, const ScopePtr& scope, const Value* caller) {
  const Value callee = evaluate(*expr.children[0], scope);
  Arguments arguments = evaluate_arguments(expr.arguments, scope);
  if (caller != nullptr) {
    arguments.named.emplace_back("caller", *caller);
  }
  at(expr.place);
  Value result = call(callee, arguments);
  if (result.is_string()) {
    budget.made(result.text().memory());
  }
  return result;
}

Value Interpreter::evaluate_filter(const Expr& expr, const ScopePtr& scope, const Value* input) {
  const Nesting nesting(*this);
  Value value;
  if (expr.children[0] == nullptr) {
    value = *input;
  } else if (input != nullptr && expr.children[0]->kind == ExprKind::kFilter) {
    value = evaluate_filter(*expr.children[0], scope, input);
  } else {
    value = evaluate(*expr.children[0], scope);
  }
  Arguments arguments = evaluate_arguments(expr.arguments, scope);
  at(expr.place);
  return apply_filter(expr.name, value, arguments);
}

Value Interpreter::evaluate_test(const Expr& expr, const ScopePtr& scope) {
  const Value value = evaluate(*expr.children[0], scope);
  Arguments arguments = evaluate_arguments(expr.arguments, scope);
  at(expr.place);
  return Value::boolean(apply_test(expr.name, value, arguments));
}

}  // namespace netcl::text::jinja
