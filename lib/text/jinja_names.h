// SPDX-License-Identifier: Apache-2.0
// Filters and tests that do not exist, found before a template runs.
#ifndef NETCL_TEXT_JINJA_NAMES_H_
#define NETCL_TEXT_JINJA_NAMES_H_

#include <optional>
#include <string>

#include "text/jinja_ast.h"

namespace netcl::text::jinja {

struct UnknownName {
  Place place;
  std::string message;
};

// The first unknown filter or test, if any. As in Jinja those in the branches of an if, or of a
// conditional expression, are let pass: they fail when they are reached.
std::optional<UnknownName> find_unknown_name(const Body& body);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_NAMES_H_
