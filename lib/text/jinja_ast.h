// SPDX-License-Identifier: Apache-2.0
// Syntax trees of templates.
#ifndef NETCL_TEXT_JINJA_AST_H_
#define NETCL_TEXT_JINJA_AST_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja_lexer.h"
#include "text/jinja_value.h"

namespace netcl::text::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star, star_star;  // *args and **kwargs, or null
};

enum class ExprKind : uint8_t {
  kConstant,     // constant
  kName,         // name
  kList,         // children
  kTuple,        // children
  kDict,         // children: key, value, key, value ...
  kNot,          // children[0]
  kNegate,       // children[0]
  kPlus,         // children[0]
  kArithmetic,   // name is the operator; children[0], children[1]
  kAnd,          // children[0], children[1]
  kOr,           // children[0], children[1]
  kConcat,       // children joined by ~
  kCompare,      // children[0] operators[0] children[1] operators[1] ...
  kConditional,  // children: condition, value, and the other value if there is one
  kAttribute,    // children[0].name
  kItem,         // children[0][children[1]]
  kSlice,        // children[0][children[1]:children[2]:children[3]], the last three may be null
  kCall,         // children[0](arguments)
  kFilter,       // children[0]|name(arguments); children[0] is null in filter blocks
  kTest,         // children[0] is name(arguments)
};

struct Expr {
  ExprKind kind = ExprKind::kConstant;
  Place place;
  int height = 1;  // bounded, so that trees can be gone through by recursion
  std::string name;
  Value constant;
  std::vector<ExprPtr> children;
  std::vector<std::string> operators;
  CallArguments arguments;
};

// Variables of a block that are its own from the begin, and what they are then: undefined.
using OwnNames = std::vector<std::pair<std::string, Value>>;

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Signature {
  std::vector<std::string> names;
  std::vector<ExprPtr> defaults;                                        // of the last names
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;  // in the body
};

enum class StatementKind : uint8_t {
  kText,        // text
  kPrint,       // expressions
  kFor,         // target, expressions: iterable and filter (or null); bodies: loop and else
  kIf,          // expressions: conditions; bodies: one each and perhaps one for else
  kSet,         // target, expressions: value
  kSetBlock,    // target, expressions: filters (or null); body
  kMacro,       // name, signature, body
  kCall,        // expressions: the call; signature, body
  kFilter,      // expressions: filters; body
  kWith,        // targets, expressions: values; body
  kGeneration,  // body
  kBreak,
  kContinue,
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  Place place;
  std::string name;
  Text text;
  std::vector<ExprPtr> targets;  // names, tuples of targets, or attributes of namespaces
  std::vector<ExprPtr> expressions;
  std::vector<Body> bodies;
  std::vector<OwnNames> own_names;  // of each body with a scope: jinja_scopes.h
  Signature signature;
  bool is_recursive = false;
};

// A parsed template.
struct Tree {
  Body body;
  OwnNames own_names;
};

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_AST_H_
