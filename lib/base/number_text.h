// SPDX-License-Identifier: Apache-2.0
// Numbers as text, the same in every locale.
#ifndef NETCL_BASE_NUMBER_TEXT_H_
#define NETCL_BASE_NUMBER_TEXT_H_

#include <string>

namespace netcl::base {

// The shortest text that reads back as the same double: "0.1", "1e+30", "inf", "nan".
std::string number_text(double value);

}  // namespace netcl::base

#endif  // NETCL_BASE_NUMBER_TEXT_H_
