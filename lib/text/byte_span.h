// SPDX-License-Identifier: Apache-2.0
#ifndef NETCL_TEXT_BYTE_SPAN_H_
#define NETCL_TEXT_BYTE_SPAN_H_

#include <algorithm>
#include <cstdint>
#include <span>

namespace netcl::text {

// Bytes [begin, end) of a text.
struct ByteSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
};

// Whether `bytes` lies within one of `spans`, which are ascending and apart.
inline bool is_within(const ByteSpan& bytes, std::span<const ByteSpan> spans) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), bytes.begin,
                       [](uint64_t begin, const ByteSpan& span) { return begin < span.begin; });
  return after != spans.begin() && bytes.end <= (after - 1)->end;
}

}  // namespace netcl::text

#endif  // NETCL_TEXT_BYTE_SPAN_H_
