// SPDX-License-Identifier: Apache-2.0
// Macros, and the bodies of call blocks, which are macros too.
#include <algorithm>

#include "base/error.h"
#include "text/jinja_interpreter.h"

namespace netcl::text::jinja {

Value Interpreter::make_macro(const Statement& statement, const ScopePtr& scope) {
  budget.made(1024);  // about what it, its scope and the record of it take
  if (macro_scopes_.empty() || macro_scopes_.back() != scope) {
    macro_scopes_.push_back(scope);
  }
  auto macro = std::make_shared<Function>();
  macro->charge.set(sizeof(Function) + 2 * kClosureBytes);
  macro->name = statement.name;
  macro->call = [this, &statement, scope](Engine&, Arguments& arguments) {
    return call_macro(statement, scope, arguments);
  };
  const Signature& signature = statement.signature;
  macro->attribute = [&statement, &signature](std::string_view name) -> std::optional<Value> {
    if (name == "name") {
      return Value::string(statement.name, kTrusted);
    }
    if (name == "arguments") {
      std::vector<Value> names;
      for (const std::string& parameter : signature.names) {
        names.push_back(Value::string(parameter, kTrusted));
      }
      return Value::tuple(std::move(names));
    }
    if (name == "catch_varargs") {
      return Value::boolean(signature.uses_varargs);
    }
    if (name == "catch_kwargs") {
      return Value::boolean(signature.uses_kwargs);
    }
    return name == "caller" ? std::optional<Value>(Value::boolean(signature.uses_caller))
                            : std::nullopt;
  };
  return {Kind::kFunction, std::move(macro)};
}

Value Interpreter::call_macro(const Statement& statement, const ScopePtr& scope,
                              Arguments& arguments) {
  const Nesting nesting(*this);
  const ScopePtr own = bind_macro(statement, scope, arguments);
  Flow flow = Flow::kNormal;
  return Value::string(capture(statement.bodies[0], own, flow));
}

// The scope of a call: parameters, and varargs, kwargs and caller where the body reads them.
ScopePtr Interpreter::bind_macro(const Statement& statement, const ScopePtr& scope,
                                 Arguments& arguments) {
  const Signature& signature = statement.signature;
  ScopePtr own = inner(scope, statement.own_names[0]);
  const std::string shown = "macro " + base::quote(statement.name);
  const size_t count = signature.names.size();
  const size_t given = std::min(arguments.positional.size(), count);
  std::vector<bool> is_given(count, false);
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = signature.names[i];
    own->set(name, i < given ? arguments.positional[i]
                             : Value::undefined("parameter '" + name + "' was not provided"));
    is_given[i] = i < given;
  }
  const bool takes_caller =
      signature.uses_caller &&
      std::find(signature.names.begin(), signature.names.end(), "caller") == signature.names.end();
  if (takes_caller) {
    own->set("caller", Value::undefined("no caller is defined"));
  }
  Dict rest;
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(signature.names.begin(), signature.names.end(), name);
    const auto index = static_cast<size_t>(found - signature.names.begin());
    if (found != signature.names.end() && !is_given[index]) {
      own->set(name, value);
      is_given[index] = true;
    } else if (name == "caller" && takes_caller) {
      own->set(name, value);
    } else if (signature.uses_kwargs) {
      // The name may have come through `**`, from anywhere.
      rest.set(Value::string(name, kNoMarks), value, budget);
    } else {
      throw Failure(
          shown +
          (found == signature.names.end() ? " has no parameter " : " got twice its argument ") +
          base::quote(name));
    }
  }
  if (signature.uses_kwargs) {
    own->set("kwargs", Value::dict(std::move(rest)));
  }
  if (signature.uses_varargs) {
    own->set("varargs",
             Value::tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                           arguments.positional.end()}));
  } else if (arguments.positional.size() > count) {
    throw Failure(shown + " takes at most " + std::to_string(count) + " arguments, not " +
                  std::to_string(arguments.positional.size()));
  }
  const size_t required = count - signature.defaults.size();
  for (size_t i = required; i < count; ++i) {
    if (!is_given[i]) {
      own->set(signature.names[i], evaluate(*signature.defaults[i - required], own));
    }
  }
  return own;
}

}  // namespace netcl::text::jinja
