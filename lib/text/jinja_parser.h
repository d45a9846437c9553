// SPDX-License-Identifier: Apache-2.0
// Tokens to syntax trees, with Jinja's grammar.
#ifndef NETCL_TEXT_JINJA_PARSER_H_
#define NETCL_TEXT_JINJA_PARSER_H_

#include <string_view>

#include "text/jinja_ast.h"

namespace netcl::text::jinja {

// The syntax tree of a template. `name` is the template's name in messages. Throws FormatError
// ("name:line:column: ...") for what is no template, for tags that chat templates have no use for
// (include, import, extends ...) and for nesting deeper than kMaxNesting.
Tree parse_template(std::string_view source, std::string_view name);

// Bound of nested brackets, operators and blocks.
inline constexpr int kMaxNesting = 200;

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_PARSER_H_
