// SPDX-License-Identifier: Apache-2.0
#include "base/ascii.h"

namespace netcl::base {

std::string ascii_lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lowered;
}

bool has_extension(std::string_view path, std::string_view extension) {
  return path.size() >= extension.size() &&
         ascii_lower(path.substr(path.size() - extension.size())) == extension;
}

}  // namespace netcl::base
