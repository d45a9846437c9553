// SPDX-License-Identifier: Apache-2.0
#ifndef NETCL_TEXT_MEMORY_LIMIT_ERROR_H_
#define NETCL_TEXT_MEMORY_LIMIT_ERROR_H_

#include "base/error.h"

namespace netcl::text {

// A limit of memory is too small; the message names one that would do. Unlike other usage errors it
// is never the fault of a file that options were taken from.
class MemoryLimitError : public base::UsageError {
 public:
  using base::UsageError::UsageError;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_MEMORY_LIMIT_ERROR_H_
