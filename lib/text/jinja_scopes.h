// SPDX-License-Identifier: Apache-2.0
// Which variables a block has from its begin on, undefined until it sets them.
//
// Jinja decides this before it runs a template: a name that a block sets without having read it
// before belongs to the block from the start, and hides a variable of that name that the template
// was given. So in "{% for i in [1] %}{{ x }}{% endfor %}{% set x = 2 %}" the loop sees an
// undefined x, whatever x was given.
#ifndef NETCL_TEXT_JINJA_SCOPES_H_
#define NETCL_TEXT_JINJA_SCOPES_H_

#include <string>
#include <vector>

#include "text/jinja_ast.h"

namespace netcl::text::jinja {

// Fills in Statement::own_names below `body`; returns those of `body` itself.
OwnNames find_own_names(Body& body);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_SCOPES_H_
