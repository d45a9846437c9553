// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_scopes.h"

#include <map>
#include <set>

#include "base/error.h"

namespace netcl::text::jinja {

namespace {

// What a variable of a block is at its begin.
enum class Start {
  kUndefined,
  kOuter,      // what is found outside: in the blocks around, or among the given variables
  kParameter,  // set by what runs the block
};

// The variables of one block, as far as it has been looked at.
struct Symbols {
  const Symbols* parent = nullptr;
  std::map<std::string, Start> starts;
  std::set<std::string> stores;

  bool is_known(const std::string& name) const {
    return starts.contains(name) || (parent != nullptr && parent->is_known(name));
  }
  void load(const std::string& name) {
    if (!is_known(name)) {
      starts[name] = Start::kOuter;
    }
  }
  void store(const std::string& name) {
    stores.insert(name);
    if (!starts.contains(name)) {
      const bool is_outer = parent != nullptr && parent->is_known(name);
      starts[name] = is_outer ? Start::kOuter : Start::kUndefined;
    }
  }
  void declare(const std::string& name) {
    stores.insert(name);
    starts[name] = Start::kParameter;
  }
  // After an if: a name that only its branches set comes from outside when they do not.
  void merge(const std::vector<Symbols>& branches) {
    std::set<std::string> set_in_branches;
    for (const Symbols& branch : branches) {
      for (const std::string& name : branch.stores) {
        if (!stores.contains(name)) {
          set_in_branches.insert(name);
        }
      }
    }
    for (const Symbols& branch : branches) {
      for (const auto& [name, start] : branch.starts) {
        starts[name] = start;
      }
      stores.insert(branch.stores.begin(), branch.stores.end());
    }
    for (const std::string& name : set_in_branches) {
      starts[name] = Start::kOuter;
    }
  }
};

void load_names(const Expr* expr, Symbols& symbols);

void load_names(const std::vector<ExprPtr>& exprs, Symbols& symbols) {
  for (const ExprPtr& expr : exprs) {
    load_names(expr.get(), symbols);
  }
}

void load_names(const Expr* expr, Symbols& symbols) {
  if (expr == nullptr) {
    return;
  }
  if (expr->kind == ExprKind::kName) {
    symbols.load(expr->name);
  }
  load_names(expr->children, symbols);
  load_names(expr->arguments.positional, symbols);
  for (const auto& [name, value] : expr->arguments.named) {
    load_names(value.get(), symbols);
  }
  load_names(expr->arguments.star.get(), symbols);
  load_names(expr->arguments.star_star.get(), symbols);
}

void store_target(const Expr& target, Symbols& symbols, bool as_parameter) {
  if (target.kind == ExprKind::kName) {
    if (as_parameter) {
      symbols.declare(target.name);
    } else {
      symbols.store(target.name);
    }
    return;
  }
  if (target.kind == ExprKind::kAttribute) {
    load_names(target.children[0].get(), symbols);
    return;
  }
  for (const ExprPtr& part : target.children) {
    store_target(*part, symbols, as_parameter);
  }
}

void look_at(const Body& body, Symbols& symbols);

// The branches of an if are looked at each by itself. Those of elif share one look, as in Jinja.
void look_at_if(const Statement& statement, Symbols& symbols) {
  load_names(statement.expressions[0].get(), symbols);
  std::vector<Symbols> branches(3, symbols);
  look_at(statement.bodies[0], branches[0]);
  for (size_t i = 1; i < statement.expressions.size(); ++i) {
    load_names(statement.expressions[i].get(), branches[1]);
    std::vector<Symbols> inner(1, branches[1]);
    look_at(statement.bodies[i], inner[0]);
    branches[1].merge(inner);
  }
  if (statement.bodies.size() > statement.expressions.size()) {
    look_at(statement.bodies.back(), branches[2]);
  }
  symbols.merge(branches);
}

// What a statement means for the block that it stands in; blocks of their own are not entered.
void look_at(const Statement& statement, Symbols& symbols) {
  switch (statement.kind) {
    case StatementKind::kIf:
      look_at_if(statement, symbols);
      break;
    case StatementKind::kFor:
      load_names(statement.expressions[0].get(), symbols);
      break;
    case StatementKind::kSetBlock:
      store_target(*statement.targets[0], symbols, false);
      break;
    case StatementKind::kMacro:
      symbols.store(statement.name);
      break;
    case StatementKind::kSet:
      load_names(statement.expressions, symbols);
      store_target(*statement.targets[0], symbols, false);
      break;
    default:
      load_names(statement.expressions, symbols);
  }
}

void look_at(const Body& body, Symbols& symbols) {
  for (const auto& statement : body) {
    look_at(*statement, symbols);
  }
}

void enter_blocks(Body& body, const Symbols& symbols);

OwnNames finish(Body& body, const Symbols& symbols) {
  enter_blocks(body, symbols);
  OwnNames names;
  for (const auto& [name, start] : symbols.starts) {
    if (start == Start::kUndefined) {
      names.emplace_back(name, Value::undefined(base::quote(name) + " is undefined"));
    }
  }
  return names;
}

// The symbols that a block begins with, before its body is looked at.
Symbols opened(const Statement& statement, const Symbols& parent) {
  Symbols symbols;
  symbols.parent = &parent;
  if (statement.kind == StatementKind::kFor) {
    symbols.declare("loop");
  }
  if (statement.kind == StatementKind::kFor || statement.kind == StatementKind::kWith) {
    for (const ExprPtr& target : statement.targets) {
      store_target(*target, symbols, true);
    }
  }
  const Signature& signature = statement.signature;
  for (const std::string& name : signature.names) {
    symbols.declare(name);
  }
  load_names(signature.defaults, symbols);
  const std::pair<bool, const char*> specials[] = {{signature.uses_varargs, "varargs"},
                                                   {signature.uses_kwargs, "kwargs"},
                                                   {signature.uses_caller, "caller"}};
  for (const auto& [is_used, name] : specials) {
    if (is_used) {
      symbols.declare(name);
    }
  }
  return symbols;
}

void enter(Statement& statement, const Symbols& symbols) {
  if (statement.kind == StatementKind::kIf) {
    for (Body& body : statement.bodies) {
      enter_blocks(body, symbols);
    }
    return;
  }
  for (size_t i = 0; i < statement.bodies.size(); ++i) {
    Symbols own;
    own.parent = &symbols;
    if (i == 0) {
      own = opened(statement, symbols);
    }
    look_at(statement.bodies[i], own);
    if (statement.kind == StatementKind::kFilter) {
      load_names(statement.expressions, own);
    }
    statement.own_names.push_back(finish(statement.bodies[i], own));
  }
}

void enter_blocks(Body& body, const Symbols& symbols) {
  for (const auto& statement : body) {
    enter(*statement, symbols);
  }
}

}  // namespace

OwnNames find_own_names(Body& body) {
  Symbols symbols;
  look_at(body, symbols);
  return finish(body, symbols);
}

}  // namespace netcl::text::jinja
