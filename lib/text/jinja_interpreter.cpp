// SPDX-License-Identifier: Apache-2.0
// Statements. Expressions are in jinja_evaluator.cpp, macros in jinja_macros.cpp.
#include "text/jinja_interpreter.h"

#include "base/error.h"
#include "text/jinja_loop.h"

namespace netcl::text::jinja {

void Scope::set(std::string_view name, Value value) {
  for (auto& [variable, its_value] : variables) {
    if (variable == name) {
      its_value = std::move(value);
      return;
    }
  }
  variables.emplace_back(std::string(name), std::move(value));
  charge_variables();
}

void Scope::charge_variables() {
  charge.set(sizeof(Scope) + 32 + variables.size() * sizeof(variables[0]));
}

const Value* Scope::find(std::string_view name) const {
  for (const auto& [variable, value] : variables) {
    if (variable == name) {
      return &value;
    }
  }
  return nullptr;
}

Interpreter::Nesting::Nesting(Interpreter& interpreter) : interpreter_(interpreter) {
  if (interpreter_.depth_ >= interpreter_.budget.limits().depth) {
    throw Failure("nested deeper than " + std::to_string(interpreter_.budget.limits().depth) +
                  " levels of blocks, expressions and macro calls");
  }
  ++interpreter_.depth_;
}

Interpreter::~Interpreter() {
  // Namespaces, and scopes through their macros, may refer to themselves and to each other.
  for (const std::shared_ptr<Namespace>& space : namespaces_) {
    space->fields.clear();
  }
  for (const ScopePtr& scope : macro_scopes_) {
    scope->variables.clear();
  }
}

Text Interpreter::run(const Tree& tree,
                      const std::vector<std::pair<std::string, Value>>& variables) {
  const auto globals = std::make_shared<Scope>();
  globals->variables = global_functions();
  for (const auto& [name, value] : variables) {
    globals->set(name, value);
  }
  Text out;
  out_ = &out;
  execute(tree.body, inner(globals, tree.own_names));
  out_ = nullptr;
  return out;
}

ScopePtr Interpreter::inner(const ScopePtr& scope) const {
  auto made = std::make_shared<Scope>();
  made->parent = scope;
  made->charge_variables();
  return made;
}

ScopePtr Interpreter::inner(const ScopePtr& scope, const OwnNames& own_names) const {
  ScopePtr made = inner(scope);
  made->variables = own_names;
  made->charge_variables();
  return made;
}

void Interpreter::write(const Text& text) {
  budget.check_output(captured_bytes_ + out_->size() + text.size());
  out_->append(text);
}

void Interpreter::write_string(const Value& value) {
  if (!value.is_string()) {
    throw Failure("a filter or call block must give a string, not " + type_name(value));
  }
  write(value.text());
}

Interpreter::Flow Interpreter::execute(const Body& body, const ScopePtr& scope) {
  const Nesting nesting(*this);
  for (const auto& statement : body) {
    const Flow flow = execute(*statement, scope);
    if (flow != Flow::kNormal) {
      return flow;
    }
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::execute(const Statement& statement, const ScopePtr& scope) {
  at(statement.place);
  budget.step();
  switch (statement.kind) {
    case StatementKind::kText:
      write(statement.text);
      return Flow::kNormal;
    case StatementKind::kPrint:
      print(statement, scope);
      return Flow::kNormal;
    case StatementKind::kFor:
      return execute_for(statement, scope);
    case StatementKind::kIf:
      return execute_if(statement, scope);
    case StatementKind::kSet:
      execute_set(statement, scope);
      return Flow::kNormal;
    case StatementKind::kSetBlock:
      return execute_set_block(statement, scope);
    case StatementKind::kMacro:
      scope->set(statement.name, make_macro(statement, scope));
      return Flow::kNormal;
    case StatementKind::kCall:
      execute_call(statement, scope);
      return Flow::kNormal;
    case StatementKind::kFilter:
      return execute_filter(statement, scope);
    case StatementKind::kWith:
      return execute_with(statement, scope);
    case StatementKind::kGeneration:
      execute_generation(statement, scope);
      return Flow::kNormal;
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNormal;
}

void Interpreter::print(const Statement& statement, const ScopePtr& scope) {
  for (const ExprPtr& expr : statement.expressions) {
    const Value value = evaluate(*expr, scope);
    at(expr->place);
    if (value.is_string()) {
      write(value.text());
    } else {
      write(to_str(value, budget));
    }
  }
}

Text Interpreter::capture(const Body& body, const ScopePtr& scope, Flow& flow) {
  Text text;
  Text* outer = std::exchange(out_, &text);
  MemoryCharge charge;
  charge.set(outer->memory());
  captured_bytes_ += outer->size();
  flow = execute(body, scope);
  captured_bytes_ -= outer->size();
  out_ = outer;
  budget.made(text.memory());
  return text;
}

Interpreter::Flow Interpreter::execute_if(const Statement& statement, const ScopePtr& scope) {
  for (size_t i = 0; i < statement.expressions.size(); ++i) {
    if (truth(evaluate(*statement.expressions[i], scope), budget)) {
      return execute(statement.bodies[i], scope);
    }
  }
  return statement.bodies.size() > statement.expressions.size()
             ? execute(statement.bodies.back(), scope)
             : Flow::kNormal;
}

Interpreter::Flow Interpreter::execute_for(const Statement& statement, const ScopePtr& scope) {
  const Value iterable = evaluate(*statement.expressions[0], scope);
  at(statement.expressions[0]->place);
  return run_loop(statement, scope, iterable, 0);
}

std::function<std::optional<Value>()> Interpreter::loop_items(const Statement& statement,
                                                              const ScopePtr& scope,
                                                              const Value& iterable) {
  std::function<std::optional<Value>()> next = iterate(iterable);
  const Expr* condition = statement.expressions[1].get();
  if (condition == nullptr) {
    return next;
  }
  return [this, &statement, scope, next, condition]() -> std::optional<Value> {
    while (std::optional<Value> item = next()) {
      budget.step();
      const ScopePtr own = inner(scope);
      assign(*statement.targets[0], *item, own);
      if (truth(evaluate(*condition, own), budget)) {
        return item;
      }
    }
    return std::nullopt;
  };
}

Interpreter::Flow Interpreter::run_loop(const Statement& statement, const ScopePtr& scope,
                                        const Value& iterable, int depth0) {
  const bool has_length =
      statement.expressions[1] == nullptr &&
      (iterable.is_sequence() || iterable.is(Kind::kDict) || iterable.is(Kind::kRange));
  // The level of a list with the iterable in it, which refuses to be too deep.
  const int level = Value::list({iterable}).level();
  const auto loop =
      std::make_shared<Loop>(loop_items(statement, scope, iterable),
                             has_length ? length(iterable) : std::nullopt, depth0, level);
  loop->charge.set(sizeof(Loop) + 4 * kClosureBytes);
  if (statement.is_recursive) {
    loop->recurse = [this, &statement, scope, depth0](Engine&, Arguments& arguments) {
      const Bound bound = bind("loop", arguments, {"iterable"}, 1);
      Text text;
      Text* outer = std::exchange(out_, &text);
      MemoryCharge charge;
      charge.set(outer->memory());
      captured_bytes_ += outer->size();
      run_loop(statement, scope, *bound[0], depth0 + 1);
      captured_bytes_ -= outer->size();
      out_ = outer;
      return Value::string(std::move(text));
    };
  }
  const Nesting nesting(*this);
  // As in Jinja, only a round that ends neither by break nor by continue keeps else from running.
  bool runs_else = true;
  for (;;) {
    at(statement.expressions[0]->place);  // filters may be run only now, for this element
    const std::optional<Value> item = loop->advance();
    if (!item) {
      break;
    }
    budget.step();
    const ScopePtr own = inner(scope, statement.own_names[0]);
    own->set("loop", Value(Kind::kLoop, loop));
    at(statement.targets[0]->place);
    assign(*statement.targets[0], *item, own);
    const Flow flow = execute(statement.bodies[0], own);
    if (flow == Flow::kBreak) {
      break;
    }
    runs_else = runs_else && flow == Flow::kContinue;
  }
  loop->finish();
  if (runs_else && statement.bodies.size() > 1) {
    return execute(statement.bodies[1], inner(scope, statement.own_names[1]));
  }
  return Flow::kNormal;
}

void Interpreter::assign(const Expr& target, const Value& value, const ScopePtr& scope) {
  if (target.kind == ExprKind::kName) {
    scope->set(target.name, value);
    return;
  }
  if (target.kind == ExprKind::kAttribute) {
    const Value base = evaluate(*target.children[0], scope);
    at(target.place);
    if (!base.is(Kind::kNamespace)) {
      throw Failure("only attributes of namespaces can be assigned to, not of a value of type " +
                    type_name(base));
    }
    base.as_namespace().set(target.name, value);
    return;
  }
  const std::vector<Value> items = elements(value, budget);
  if (items.size() != target.children.size()) {
    throw Failure("expected " + std::to_string(target.children.size()) + " values to unpack, got " +
                  std::to_string(items.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    assign(*target.children[i], items[i], scope);
  }
}

void Interpreter::execute_set(const Statement& statement, const ScopePtr& scope) {
  const Value value = evaluate(*statement.expressions[0], scope);
  at(statement.targets[0]->place);
  assign(*statement.targets[0], value, scope);
}

Interpreter::Flow Interpreter::execute_set_block(const Statement& statement,
                                                 const ScopePtr& scope) {
  Flow flow = Flow::kNormal;
  Value value =
      Value::string(capture(statement.bodies[0], inner(scope, statement.own_names[0]), flow));
  if (flow != Flow::kNormal) {
    return flow;
  }
  if (statement.expressions[0] != nullptr) {
    value = evaluate_filter(*statement.expressions[0], scope, &value);
  }
  at(statement.targets[0]->place);
  assign(*statement.targets[0], value, scope);
  return flow;
}

Interpreter::Flow Interpreter::execute_filter(const Statement& statement, const ScopePtr& scope) {
  Flow flow = Flow::kNormal;
  const ScopePtr own = inner(scope, statement.own_names[0]);
  const Value text = Value::string(capture(statement.bodies[0], own, flow));
  if (flow == Flow::kNormal) {
    write_string(evaluate_filter(*statement.expressions[0], own, &text));
  }
  return flow;
}

Interpreter::Flow Interpreter::execute_with(const Statement& statement, const ScopePtr& scope) {
  const ScopePtr own = inner(scope, statement.own_names[0]);
  for (size_t i = 0; i < statement.targets.size(); ++i) {
    const Value value = evaluate(*statement.expressions[i], scope);
    assign(*statement.targets[i], value, own);
  }
  return execute(statement.bodies[0], own);
}

void Interpreter::execute_call(const Statement& statement, const ScopePtr& scope) {
  const Value caller = make_macro(statement, scope);
  write_string(evaluate_call(*statement.expressions[0], scope, &caller));
}

void Interpreter::execute_generation(const Statement& statement, const ScopePtr& scope) {
  Flow flow = Flow::kNormal;
  Text text = capture(statement.bodies[0], inner(scope, statement.own_names[0]), flow);
  text.add_marks(kGenerated);
  write(text);
}

}  // namespace netcl::text::jinja
