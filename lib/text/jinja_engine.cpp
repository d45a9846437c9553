// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_engine.h"

#include <algorithm>

#include "base/error.h"
#include "text/jinja_loop.h"

namespace netcl::text::jinja {

Value Engine::call(const Value& callee, Arguments& arguments) {
  budget.step();
  switch (callee.kind()) {
    case Kind::kFunction:
      return callee.as_function().call(*this, arguments);
    case Kind::kLoop:
      if (callee.as_loop().recurse) {
        return callee.as_loop().recurse(*this, arguments);
      }
      throw Failure("the loop is not recursive; mark it with 'recursive' to call it");
    case Kind::kUndefined:
      throw Failure(callee.undefined_message());
    default:
      throw Failure(type_name(callee) + " cannot be called");
  }
}

Value Engine::apply_filter(std::string_view name, const Value& input, Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (filter == nullptr) {
    throw Failure("unknown filter " + base::quote(name));
  }
  budget.step();
  if (input.is_string()) {
    budget.step(input.bytes().size() / 64);
    budget.made(input.bytes().size());
  }
  Value result = filter(*this, input, arguments);
  if (result.is_string()) {
    budget.made(result.text().memory());
  }
  return result;
}

bool Engine::apply_test(std::string_view name, const Value& input, Arguments& arguments) {
  const Test test = find_test(name);
  if (test == nullptr) {
    throw Failure("unknown test " + base::quote(name));
  }
  budget.step();
  return test(*this, input, arguments);
}

Value Engine::make_namespace() {
  auto space = std::make_shared<Namespace>();
  space->charge.set(sizeof(Namespace) + 64);  // with the record of it
  budget.made(sizeof(Namespace));
  namespaces_.push_back(space);
  return {Kind::kNamespace, std::move(space)};
}

Value make_function(std::string name, std::function<Value(Engine&, Arguments&)> call, int level) {
  auto function = std::make_shared<Function>();
  function->charge.set(sizeof(Function) + kClosureBytes);
  function->name = std::move(name);
  function->call = std::move(call);
  function->level = level;
  return {Kind::kFunction, std::move(function)};
}

Bound bind(std::string_view function, Arguments& arguments,
           std::initializer_list<std::string_view> names, size_t required) {
  const std::string shown = "'" + std::string(function) + "'";
  if (arguments.positional.size() > names.size()) {
    throw Failure(shown + " takes at most " + std::to_string(names.size()) + " arguments, not " +
                  std::to_string(arguments.positional.size()));
  }
  Bound bound(arguments.positional.begin(), arguments.positional.end());
  bound.resize(names.size());
  for (const auto& [name, value] : arguments.named) {
    const auto* found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Failure(shown + " has no parameter " + base::quote(name));
    }
    std::optional<Value>& place = bound[static_cast<size_t>(found - names.begin())];
    if (place) {
      throw Failure(shown + " got an argument twice: " + base::quote(name));
    }
    place = value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!bound[i]) {
      throw Failure(shown + " needs its argument '" + std::string(names.begin()[i]) + "'");
    }
  }
  return bound;
}

}  // namespace netcl::text::jinja
