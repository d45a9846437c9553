// SPDX-License-Identifier: Apache-2.0
// The characters whose upper or title case is several characters.
#ifndef NETCL_TEXT_JINJA_CASE_TABLE_H_
#define NETCL_TEXT_JINJA_CASE_TABLE_H_

#include <array>
#include <string_view>

namespace netcl::text::jinja {

struct SpecialCase {
  char32_t code_point;
  std::string_view upper, title;
};

// In ascending order.
extern const std::array<SpecialCase, 102> kSpecialCases;

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_CASE_TABLE_H_
