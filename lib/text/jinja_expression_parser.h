// SPDX-License-Identifier: Apache-2.0
// The part of the parser that reads expressions.
#ifndef NETCL_TEXT_JINJA_EXPRESSION_PARSER_H_
#define NETCL_TEXT_JINJA_EXPRESSION_PARSER_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_ast.h"

namespace netcl::text::jinja {

class ExpressionParser {
 public:
  ExpressionParser(std::vector<Token> tokens, std::string_view name)
      : tokens_(std::move(tokens)), name_(name) {}

 protected:
  // How a tuple without brackets ends, besides at the end of the tag.
  struct TupleRules {
    bool with_conditional = true;
    std::string_view end_name;  // a name that ends it, or none
    bool in_parentheses = false;
  };

  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_tuple(const TupleRules& rules);
  ExprPtr parse_primary();
  ExprPtr parse_postfix(ExprPtr value);
  // A filter and those that follow it, on `value` (null in filter blocks). `is_started`: the bar
  // before the first one does not stand in the source.
  ExprPtr parse_filters(ExprPtr value, bool is_started);
  bool is_tuple_end(const TupleRules& rules) const;

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take();
  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view sign);
  std::string expect_name();
  void expect_operator(std::string_view sign);

  ExprPtr make(ExprKind kind, Place place, std::vector<ExprPtr> children = {});
  // Adds the arguments of a call, filter or test; they count for its height.
  void set_arguments(Expr& expr, CallArguments arguments) const;
  void check_height(const Expr& expr) const;
  [[noreturn]] void fail(Place place, const std::string& message) const;
  [[noreturn]] void fail_expected(const std::string& what) const;

  // Counts a level of recursion for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExpressionParser& parser_;
  };

  // Names that a macro's body reads, which decide what calls of it may pass.
  struct SpecialNames {
    bool varargs = false, kwargs = false, caller = false;
  };
  SpecialNames special_names_;

 private:
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filters);
  ExprPtr parse_chain(std::initializer_list<std::string_view> signs,
                      ExprPtr (ExpressionParser::*parse_operand)());
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_subscript(ExprPtr value);
  ExprPtr parse_index(ExprPtr value);
  ExprPtr parse_call(ExprPtr callee);
  CallArguments parse_arguments();
  ExprPtr parse_filters_and_tests(ExprPtr value);
  ExprPtr parse_test(ExprPtr value);
  std::string parse_dotted_name();

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string_view name_;
  int nesting_ = 0;
};

// The number that an integer token stands for; nothing when it is too large.
std::optional<Int> integer_of(std::string_view digits);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_EXPRESSION_PARSER_H_
