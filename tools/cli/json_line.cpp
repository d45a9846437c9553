// SPDX-License-Identifier: Apache-2.0
#include "cli/json_line.h"

#include "base/error.h"
#include "base/json_text.h"

namespace netcl::cli {

JsonLine parse_json_line(std::string_view line, const std::string& where) {
  if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw base::FormatError(where + ": empty, where a JSON value was expected");
  }
  const std::string_view id = base::json_member_text(line, "id");
  if (id.find_first_of("eE") == std::string_view::npos || !base::is_json_number(id)) {
    return {base::parse_json(line, where), id};
  }
  // The parser refuses numbers beyond a double (1e400). Blanks in its place keep the offsets.
  std::string text(line);
  const size_t at = static_cast<size_t>(id.data() - line.data());
  text.replace(at, id.size(), "0" + std::string(id.size() - 1, ' '));
  return {base::parse_json(text, where), id};
}

}  // namespace netcl::cli
