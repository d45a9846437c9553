// SPDX-License-Identifier: Apache-2.0
#ifndef NETCL_TEXT_BYTE_SPAN_H_
#define NETCL_TEXT_BYTE_SPAN_H_

#include <cstdint>

namespace netcl::text {

// Bytes [begin, end) of a text.
struct ByteSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_BYTE_SPAN_H_
