// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_names.h"

#include "base/error.h"
#include "text/jinja_engine.h"

namespace netcl::text::jinja {

namespace {

class NameCheck {
 public:
  void check(const Body& body, bool is_conditional) {
    for (const auto& statement : body) {
      check(*statement, is_conditional);
    }
  }

  std::optional<UnknownName> found;

 private:
  void check(const Statement& statement, bool is_conditional) {
    const bool is_if = statement.kind == StatementKind::kIf;
    check(statement.expressions, is_conditional || is_if);
    check(statement.signature.defaults, false);
    for (const Body& body : statement.bodies) {
      check(body, is_if);  // the inside of any other block counts anew
    }
  }

  void check(const std::vector<ExprPtr>& exprs, bool is_conditional) {
    for (const ExprPtr& expr : exprs) {
      check(expr.get(), is_conditional);
    }
  }

  void check(const Expr* expr, bool is_conditional) {
    if (expr == nullptr || found) {
      return;
    }
    is_conditional = is_conditional || expr->kind == ExprKind::kConditional;
    check(expr->children, is_conditional);
    check(expr->arguments.positional, is_conditional);
    for (const auto& [name, value] : expr->arguments.named) {
      check(value.get(), is_conditional);
    }
    check(expr->arguments.star.get(), is_conditional);
    check(expr->arguments.star_star.get(), is_conditional);
    if (is_conditional || found) {
      return;
    }
    if (expr->kind == ExprKind::kFilter && find_filter(expr->name) == nullptr) {
      found = {expr->place, "unknown filter " + base::quote(expr->name)};
    } else if (expr->kind == ExprKind::kTest && find_test(expr->name) == nullptr) {
      found = {expr->place, "unknown test " + base::quote(expr->name)};
    }
  }
};

}  // namespace

std::optional<UnknownName> find_unknown_name(const Body& body) {
  NameCheck names;
  names.check(body, false);
  return names.found;
}

}  // namespace netcl::text::jinja
