// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as the bytes that files hold: byte order and the check of bools.
#ifndef NETCL_CORE_ELEMENT_BYTES_H_
#define NETCL_CORE_ELEMENT_BYTES_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "core/host_tensor.h"

namespace netcl::core {

// Turns the bytes of every element of `tensor` around: little-endian <-> big-endian.
void swap_byte_order(HostTensor& tensor);

// Throws FormatError "where@byte: ..." when a bool tensor holds a byte other than 0 and 1; other
// dtypes pass. `first_byte` is the place of element 0 in the file.
void check_bools(const HostTensor& tensor, std::string_view where, size_t first_byte);

}  // namespace netcl::core

#endif  // NETCL_CORE_ELEMENT_BYTES_H_
