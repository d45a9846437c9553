// SPDX-License-Identifier: Apache-2.0
// Letters of names that people type: A to Z and a to z are the same ones, all other bytes differ.
#ifndef NETCL_BASE_ASCII_H_
#define NETCL_BASE_ASCII_H_

#include <string>
#include <string_view>

namespace netcl::base {

// The text with A to Z as a to z.
std::string ascii_lower(std::string_view text);

// Whether a file's name ends in `extension`, which is in lower case and has its dot (".npy").
bool has_extension(std::string_view path, std::string_view extension);

}  // namespace netcl::base

#endif  // NETCL_BASE_ASCII_H_
