// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_parser.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "text/jinja_expression_parser.h"
#include "text/jinja_names.h"
#include "text/jinja_scopes.h"

namespace netcl::text::jinja {

namespace {

using StatementPtr = std::unique_ptr<Statement>;

class Parser : ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Body run() { return parse_body({}, ""); }

 private:
  // Statements up to a tag whose name is one of `ends`, which is left to be read; to the end of
  // the template without them. `opener` is the tag that they belong to.
  Body parse_body(const std::set<std::string_view>& ends, std::string_view opener) {
    const Nesting nesting(*this);
    const Place begin = now().place;
    Body body;
    for (;;) {
      const Token token = take();
      switch (token.kind) {
        case TokenKind::kText: {
          StatementPtr text = statement(StatementKind::kText, token.place);
          text->text = Text(token.text, kTrusted);
          body.push_back(std::move(text));
          break;
        }
        case TokenKind::kVariableBegin: {
          StatementPtr print = statement(StatementKind::kPrint, token.place);
          print->expressions.push_back(parse_tuple({}));
          expect(TokenKind::kVariableEnd);
          body.push_back(std::move(print));
          break;
        }
        case TokenKind::kBlockBegin:
          if (now().kind == TokenKind::kName && ends.contains(now().text)) {
            return body;
          }
          body.push_back(parse_block());
          expect(TokenKind::kBlockEnd);
          break;
        default:
          if (!ends.empty()) {
            fail(begin, "the block '" + std::string(opener) + "' has no end; add '{% " +
                            std::string(*ends.rbegin()) + " %}'");
          }
          return body;
      }
    }
  }

  // The rest of an opening tag and the statements after it, up to one of `ends`.
  Body parse_inside(const std::set<std::string_view>& ends, std::string_view opener) {
    skip_operator(":");
    expect(TokenKind::kBlockEnd);
    return parse_body(ends, opener);
  }

  // The same, and the closing tag's name.
  Body parse_inside_of(std::string_view opener) {
    const std::string end = "end" + std::string(opener);
    Body body = parse_inside({end}, opener);
    take();
    return body;
  }

  StatementPtr statement(StatementKind kind, Place place) {
    auto made = std::make_unique<Statement>();
    made->kind = kind;
    made->place = place;
    return made;
  }

  void expect(TokenKind kind) {
    if (now().kind != kind) {
      fail_expected(kind == TokenKind::kBlockEnd ? "'%}'" : "'}}'");
    }
    take();
  }

  StatementPtr parse_block() {
    if (now().kind != TokenKind::kName) {
      fail_expected("the name of a tag");
    }
    const Token tag = take();
    const std::string& name = tag.text;
    if (name == "for") {
      return parse_for(tag.place);
    }
    if (name == "if") {
      return parse_if(tag.place);
    }
    if (name == "set") {
      return parse_set(tag.place);
    }
    if (name == "macro") {
      return parse_macro(tag.place);
    }
    if (name == "call") {
      return parse_call_block(tag.place);
    }
    if (name == "filter") {
      return parse_filter_block(tag.place);
    }
    if (name == "with") {
      return parse_with(tag.place);
    }
    if (name == "print") {
      return parse_print(tag.place);
    }
    if (name == "generation") {
      StatementPtr generation = statement(StatementKind::kGeneration, tag.place);
      generation->bodies.push_back(parse_function_inside(name));
      return generation;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) {
        fail(tag.place, "'" + name + "' outside of a loop");
      }
      return statement(name == "break" ? StatementKind::kBreak : StatementKind::kContinue,
                       tag.place);
    }
    static const std::set<std::string_view> unsupported = {
        "include", "import", "from", "extends", "block", "autoescape", "do", "trans", "debug"};
    if (unsupported.contains(name)) {
      fail(tag.place, "the tag '" + name + "' is not supported in chat templates");
    }
    fail(tag.place, "unknown tag " + base::quote(name));
  }

  // break and continue do not reach out of the bodies of functions.
  Body parse_function_inside(std::string_view opener) {
    const int loops = std::exchange(loops_, 0);
    Body body = parse_inside_of(opener);
    loops_ = loops;
    return body;
  }

  StatementPtr parse_for(Place place) {
    StatementPtr loop = statement(StatementKind::kFor, place);
    loop->targets.push_back(parse_target(false, "in"));
    if (!skip_name("in")) {
      fail_expected("'in'");
    }
    loop->expressions.push_back(parse_tuple({false, "recursive", false}));
    loop->expressions.push_back(skip_name("if") ? parse_expression() : nullptr);
    loop->is_recursive = skip_name("recursive");
    ++loops_;
    loop->bodies.push_back(parse_inside({"endfor", "else"}, "for"));
    --loops_;
    if (take().is_name("else")) {
      loop->bodies.push_back(parse_inside({"endfor"}, "for"));
      take();
    }
    return loop;
  }

  StatementPtr parse_if(Place place) {
    StatementPtr choice = statement(StatementKind::kIf, place);
    for (;;) {
      choice->expressions.push_back(parse_tuple({false, "", false}));
      choice->bodies.push_back(parse_inside({"elif", "else", "endif"}, "if"));
      const Token next = take();
      if (next.is_name("elif")) {
        continue;
      }
      if (next.is_name("else")) {
        choice->bodies.push_back(parse_inside({"endif"}, "if"));
        take();
      }
      return choice;
    }
  }

  StatementPtr parse_set(Place place) {
    StatementPtr set = statement(StatementKind::kSet, place);
    set->targets.push_back(parse_target(true, ""));
    if (skip_operator("=")) {
      set->expressions.push_back(parse_tuple({}));
      return set;
    }
    set->kind = StatementKind::kSetBlock;
    set->expressions.push_back(parse_filters(nullptr, false));
    set->bodies.push_back(parse_inside_of("set"));
    return set;
  }

  // What a value is assigned to: a name, a tuple of such, or an attribute of a namespace.
  ExprPtr parse_target(bool with_attributes, std::string_view end_name) {
    const Place place = now().place;
    std::vector<ExprPtr> parts;
    bool is_tuple = false;
    do {
      if (!parts.empty()) {
        is_tuple = true;
        if (is_tuple_end({true, end_name, false}) || now().is_operator("=")) {
          break;
        }
      }
      parts.push_back(parse_target_part(with_attributes));
    } while (skip_operator(","));
    return is_tuple ? make(ExprKind::kTuple, place, std::move(parts)) : std::move(parts[0]);
  }

  ExprPtr parse_target_part(bool with_attributes) {
    const Nesting nesting(*this);
    if (skip_operator("(")) {
      ExprPtr inner = parse_target(with_attributes, "");
      expect_operator(")");
      return inner;
    }
    static const std::set<std::string_view> constants = {"true", "false", "none",
                                                         "True", "False", "None"};
    const Token name = now();
    ExprPtr target = make(ExprKind::kName, name.place);
    target->name = expect_name();
    if (constants.contains(name.text)) {
      fail(name.place, "'" + name.text + "' cannot be assigned to");
    }
    if (!with_attributes || !skip_operator(".")) {
      return target;
    }
    std::vector<ExprPtr> base;
    base.push_back(std::move(target));
    ExprPtr attribute = make(ExprKind::kAttribute, name.place, std::move(base));
    attribute->name = expect_name();
    return attribute;
  }

  void parse_signature(Signature& signature) {
    expect_operator("(");
    while (!now().is_operator(")")) {
      if (!signature.names.empty()) {
        expect_operator(",");
      }
      const Place place = now().place;
      std::string name = expect_name();
      if (std::find(signature.names.begin(), signature.names.end(), name) !=
          signature.names.end()) {
        fail(place, "two parameters are named " + base::quote(name));
      }
      signature.names.push_back(std::move(name));
      if (skip_operator("=")) {
        signature.defaults.push_back(parse_expression());
      } else if (!signature.defaults.empty()) {
        fail(place, "a parameter without default follows one with a default");
      }
    }
    take();
  }

  // The body of a macro or call block, and which special names it reads.
  Body parse_function_body(std::string_view opener, Signature& signature) {
    const SpecialNames outer = std::exchange(special_names_, SpecialNames());
    Body body = parse_function_inside(opener);
    signature.uses_varargs = special_names_.varargs;
    signature.uses_kwargs = special_names_.kwargs;
    signature.uses_caller = special_names_.caller;
    special_names_.varargs |= outer.varargs;
    special_names_.kwargs |= outer.kwargs;
    special_names_.caller |= outer.caller;
    return body;
  }

  StatementPtr parse_macro(Place place) {
    StatementPtr macro = statement(StatementKind::kMacro, place);
    macro->name = expect_name();
    parse_signature(macro->signature);
    macro->bodies.push_back(parse_function_body("macro", macro->signature));
    return macro;
  }

  StatementPtr parse_call_block(Place place) {
    StatementPtr block = statement(StatementKind::kCall, place);
    block->name = "caller";
    if (now().is_operator("(")) {
      parse_signature(block->signature);
    }
    const Place at = now().place;
    block->expressions.push_back(parse_expression());
    if (block->expressions[0]->kind != ExprKind::kCall) {
      fail(at, "expected a call");
    }
    block->bodies.push_back(parse_function_body("call", block->signature));
    return block;
  }

  StatementPtr parse_filter_block(Place place) {
    StatementPtr block = statement(StatementKind::kFilter, place);
    block->expressions.push_back(parse_filters(nullptr, true));
    block->bodies.push_back(parse_inside_of("filter"));
    return block;
  }

  StatementPtr parse_with(Place place) {
    StatementPtr with = statement(StatementKind::kWith, place);
    while (now().kind != TokenKind::kBlockEnd) {
      if (!with->targets.empty()) {
        expect_operator(",");
      }
      with->targets.push_back(parse_target_part(false));
      expect_operator("=");
      with->expressions.push_back(parse_expression());
    }
    with->bodies.push_back(parse_inside_of("with"));
    return with;
  }

  StatementPtr parse_print(Place place) {
    StatementPtr print = statement(StatementKind::kPrint, place);
    while (now().kind != TokenKind::kBlockEnd) {
      if (!print->expressions.empty()) {
        expect_operator(",");
      }
      print->expressions.push_back(parse_expression());
    }
    return print;
  }

  int loops_ = 0;  // around what is read, inside the function around it
};

}  // namespace

Tree parse_template(std::string_view source, std::string_view name) {
  Tree tree;
  tree.body = Parser(tokenize(source, name), name).run();
  if (const std::optional<UnknownName> unknown = find_unknown_name(tree.body)) {
    fail_at(name, unknown->place, unknown->message);
  }
  tree.own_names = find_own_names(tree.body);
  return tree;
}

}  // namespace netcl::text::jinja
