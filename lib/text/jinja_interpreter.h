// SPDX-License-Identifier: Apache-2.0
// Walks the syntax tree of a template and writes its text.
#ifndef NETCL_TEXT_JINJA_INTERPRETER_H_
#define NETCL_TEXT_JINJA_INTERPRETER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja_ast.h"
#include "text/jinja_engine.h"

namespace netcl::text::jinja {

// The variables of a block; those of the blocks around it are its parents'. An object, as macros
// keep scopes alive.
struct Scope : Object {
  std::vector<std::pair<std::string, Value>> variables;
  std::shared_ptr<Scope> parent;

  void set(std::string_view name, Value value);
  const Value* find(std::string_view name) const;  // here only
  void charge_variables();
};
using ScopePtr = std::shared_ptr<Scope>;

class Interpreter : public Engine {
 public:
  using Engine::Engine;
  ~Interpreter() override;

  // The text of the template. Throws Failure; place() says where it was.
  Text run(const Tree& tree, const std::vector<std::pair<std::string, Value>>& variables);
  Place place() const { return place_; }

 private:
  enum class Flow { kNormal, kBreak, kContinue };

  Flow execute(const Body& body, const ScopePtr& scope);
  Flow execute(const Statement& statement, const ScopePtr& scope);
  // The output of a body as a text of its own.
  Text capture(const Body& body, const ScopePtr& scope, Flow& flow);
  void print(const Statement& statement, const ScopePtr& scope);
  void write(const Text& text);
  // What a filter or call block gives, which Jinja does not turn into a string.
  void write_string(const Value& value);
  Flow execute_if(const Statement& statement, const ScopePtr& scope);
  Flow execute_for(const Statement& statement, const ScopePtr& scope);
  Flow run_loop(const Statement& statement, const ScopePtr& scope, const Value& iterable,
                int depth0);
  std::function<std::optional<Value>()> loop_items(const Statement& statement,
                                                   const ScopePtr& scope, const Value& iterable);
  void execute_set(const Statement& statement, const ScopePtr& scope);
  Flow execute_set_block(const Statement& statement, const ScopePtr& scope);
  Flow execute_filter(const Statement& statement, const ScopePtr& scope);
  Flow execute_with(const Statement& statement, const ScopePtr& scope);
  void execute_call(const Statement& statement, const ScopePtr& scope);
  void execute_generation(const Statement& statement, const ScopePtr& scope);
  void assign(const Expr& target, const Value& value, const ScopePtr& scope);

  Value make_macro(const Statement& statement, const ScopePtr& scope);
  Value call_macro(const Statement& statement, const ScopePtr& scope, Arguments& arguments);
  ScopePtr bind_macro(const Statement& statement, const ScopePtr& scope, Arguments& arguments);

  Value evaluate(const Expr& expr, const ScopePtr& scope);
  Value look_up(const Expr& expr, const ScopePtr& scope);
  std::vector<Value> evaluate_all(const std::vector<ExprPtr>& exprs, const ScopePtr& scope);
  Value evaluate_dict(const Expr& expr, const ScopePtr& scope);
  Value evaluate_concat(const Expr& expr, const ScopePtr& scope);
  Value evaluate_compare(const Expr& expr, const ScopePtr& scope);
  bool compares(const std::string& sign, const Value& left, const Value& right);
  Value evaluate_conditional(const Expr& expr, const ScopePtr& scope);
  Value evaluate_arithmetic(const Expr& expr, const ScopePtr& scope);
  Value evaluate_item(const Expr& expr, const ScopePtr& scope);
  Value evaluate_slice(const Expr& expr, const ScopePtr& scope);
  Value evaluate_call(const Expr& expr, const ScopePtr& scope, const Value* caller);
  Value evaluate_test(const Expr& expr, const ScopePtr& scope);
  // A chain of filters on `input`, which stands for the missing value of filter blocks.
  Value evaluate_filter(const Expr& expr, const ScopePtr& scope, const Value* input);
  Arguments evaluate_arguments(const CallArguments& arguments, const ScopePtr& scope);

  void at(Place place) { place_ = place; }
  ScopePtr inner(const ScopePtr& scope) const;
  // The scope of a body, with the names that are its own from the begin.
  ScopePtr inner(const ScopePtr& scope, const OwnNames& own_names) const;

  // Counts a level of nesting for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(Interpreter& interpreter);
    ~Nesting() { --interpreter_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Interpreter& interpreter_;
  };

  Place place_;
  Text* out_ = nullptr;
  size_t captured_bytes_ = 0;  // of the outputs around the one being written
  int depth_ = 0;
  std::vector<ScopePtr> macro_scopes_;  // where macros were made, which may refer to themselves
};

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_INTERPRETER_H_
