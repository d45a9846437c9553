// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of the template engine.
#ifndef NETCL_TESTS_TEXT_JINJA_RENDER_H_
#define NETCL_TESTS_TEXT_JINJA_RENDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "text/jinja_template.h"

namespace netcl::tests {

// Variables from the fields of a JSON object; untrusted.
inline std::vector<text::JinjaVariable> variables_of(const base::Json& object) {
  std::vector<text::JinjaVariable> variables;
  for (const auto& [name, value] : object.items()) {
    variables.push_back({name, value, false});
  }
  return variables;
}

// What `source` renders to.
inline std::string render(std::string_view source, std::string_view variables = "{}",
                          const text::JinjaOptions& options = {}) {
  return text::JinjaTemplate(source, "t")
      .render(variables_of(base::parse_json(variables, "variables")), options)
      .text;
}

// The message of the FormatError that it gives; what it renders to, in brackets, if it gives none.
inline std::string error_of(std::string_view source, std::string_view variables = "{}",
                            const text::JinjaOptions& options = {}) {
  try {
    return "<" + render(source, variables, options) + ">";
  } catch (const base::FormatError& error) {
    return error.what();
  }
}

}  // namespace netcl::tests

#endif  // NETCL_TESTS_TEXT_JINJA_RENDER_H_
