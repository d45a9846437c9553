// SPDX-License-Identifier: Apache-2.0
#ifndef NETCL_BASE_PEAK_MEMORY_H_
#define NETCL_BASE_PEAK_MEMORY_H_

#include <cstdint>

namespace netcl::base {

// Most memory of this program so far that was resident, in bytes; 0 when the system does not tell.
// Without /proc it is getrusage()'s, which has that of the program before exec() in it.
uint64_t peak_memory_bytes();

}  // namespace netcl::base

#endif  // NETCL_BASE_PEAK_MEMORY_H_
