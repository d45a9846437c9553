// SPDX-License-Identifier: Apache-2.0
#include "core/shape.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace netcl::core {

namespace {

std::string dims_text(std::span<const int64_t> dims) {
  std::string text = "[";
  // A rank that will be refused may come from a file and be huge: its first axes say enough.
  const size_t shown = std::min(dims.size(), Shape::kMaxRank + 1);
  for (size_t i = 0; i < shown; ++i) {
    text.append(i == 0 ? "" : ", ").append(std::to_string(dims[i]));
  }
  return text + (shown < dims.size() ? ", ...]" : "]");
}

[[noreturn]] void refuse(std::span<const int64_t> dims, const std::string& what) {
  throw base::FormatError("shape " + dims_text(dims) + ": " + what);
}

}  // namespace

Shape::Shape(std::initializer_list<int64_t> dims)
    : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    refuse(dims,
           std::to_string(dims.size()) + " axes; at most " + std::to_string(kMaxRank) + " allowed");
  }
  rank_ = dims.size();
  bool empty = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      refuse(dims, "axis " + std::to_string(i) + " is negative");
    }
    dims_[i] = dims[i];
    if (dims[i] == 0) {
      empty = true;
    } else if (count_ > std::numeric_limits<int64_t>::max() / dims[i]) {
      refuse(dims, "too many elements for a 64-bit count");
    } else {
      count_ *= dims[i];
    }
  }
  if (empty) {
    count_ = 0;
  }
}

std::string Shape::text() const {
  return dims_text(dims());
}

}  // namespace netcl::core
