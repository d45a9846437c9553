// SPDX-License-Identifier: Apache-2.0
// PoCL's own cache of compiled kernels, for advice: PoCL hides its devices when it cannot write
// there, and aborts when it loads a damaged file from it.
#ifndef NETCL_TOOLS_ATTN_DRIVER_ADVICE_H_
#define NETCL_TOOLS_ATTN_DRIVER_ADVICE_H_

#include <string>

namespace netcl::attn {

// "PoCL, if that is the driver, cannot write its cache folder ...", or empty when it can.
std::string unwritable_cache_advice();

// "a damaged kernel cache does this: remove FOLDER (PoCL) and run again".
std::string damaged_cache_advice();

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_DRIVER_ADVICE_H_
