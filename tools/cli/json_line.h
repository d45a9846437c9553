// SPDX-License-Identifier: Apache-2.0
// One object of JSON lines, whose "id" is handed on as it stands: as a parsed number it could lose
// digits.
#ifndef NETCL_TOOLS_CLI_JSON_LINE_H_
#define NETCL_TOOLS_CLI_JSON_LINE_H_

#include <string>
#include <string_view>

#include "base/json_file.h"

namespace netcl::cli {

struct JsonLine {
  base::Json value;     // an "id" that is a number may be another number in it
  std::string_view id;  // in the line; empty when there is no "id" or the line is no object
};

// Throws FormatError as base::parse_json(); an "id" may be a number of any size.
JsonLine parse_json_line(std::string_view line, const std::string& where);

}  // namespace netcl::cli

#endif  // NETCL_TOOLS_CLI_JSON_LINE_H_
