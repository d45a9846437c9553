// SPDX-License-Identifier: Apache-2.0
#include "nn/present.h"

#include <cstring>

#include "base/error.h"

namespace netcl::nn {

void join_past(const core::HostTensor& past, const core::HostTensor& fresh,
               const HeadStrides& strides, core::HostTensor& joined) {
  NETCL_CHECK(past.dtype() == fresh.dtype() && past.dtype() == joined.dtype());
  const core::Shape& shape = joined.shape();
  if (shape.count() == 0) {
    return;
  }
  const int64_t past_len = past.shape()[2];
  const int64_t new_len = shape[2] - past_len;
  const size_t element_bytes = core::dtype_size(past.dtype());
  const size_t row_bytes = static_cast<size_t>(shape[3]) * element_bytes;
  const size_t past_bytes = static_cast<size_t>(past_len) * row_bytes;
  const std::byte* past_from = past.data();
  std::byte* to = joined.data();
  for (int64_t b = 0; b < shape[0]; ++b) {
    for (int64_t g = 0; g < shape[1]; ++g) {
      if (past_bytes != 0) {
        std::memcpy(to, past_from, past_bytes);
        past_from += past_bytes;
        to += past_bytes;
      }
      for (int64_t i = 0; i < new_len; ++i) {
        const size_t from = static_cast<size_t>(strides.at(b, g, i)) * element_bytes;
        std::memcpy(to, fresh.data() + from, row_bytes);
        to += row_bytes;
      }
    }
  }
}

}  // namespace netcl::nn
