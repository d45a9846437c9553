// SPDX-License-Identifier: Apache-2.0
#include "attn/error_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "base/error.h"

namespace netcl::attn {

namespace {

// Largest Euclidean length of a run of `width` finite values.
double longest_row(const core::HostTensor& tensor, int64_t width) {
  const std::vector<double> values = tensor.to_doubles();
  double longest = 0;
  for (size_t row = 0; row + static_cast<size_t>(width) <= values.size();
       row += static_cast<size_t>(width)) {
    double sum = 0;
    for (size_t i = row; i < row + static_cast<size_t>(width); ++i) {
      sum += std::isfinite(values[i]) ? values[i] * values[i] : 0;
    }
    longest = std::max(longest, sum);
  }
  return std::sqrt(longest);
}

double largest_finite(const core::HostTensor& tensor) {
  double largest = 0;
  for (const double value : tensor.to_doubles()) {
    if (std::isfinite(value)) {
      largest = std::max(largest, std::fabs(value));
    }
  }
  return largest;
}

// Smallest normal number: below it the spacing of values stays the same.
double smallest_normal(core::DType dtype) {
  return dtype == core::DType::kF16 ? std::ldexp(1.0, -14) : std::ldexp(1.0, -126);
}

}  // namespace

double half_ulp(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF32:
      return std::ldexp(1.0, -24);
    case core::DType::kF16:
      return std::ldexp(1.0, -11);
    default:
      NETCL_CHECK(dtype == core::DType::kBF16);
      return std::ldexp(1.0, -8);
  }
}

double attention_error_bound(const BoundInputs& inputs) {
  double scores = std::fabs(inputs.scale) * longest_row(*inputs.q, inputs.head_dim) *
                      longest_row(*inputs.k, inputs.head_dim) +
                  inputs.bias;
  if (inputs.mask != nullptr && core::is_floating(inputs.mask->dtype())) {
    scores += largest_finite(*inputs.mask);
  }
  return largest_finite(*inputs.v) *
         (8 * std::ldexp(1.0, -24) * (1 + scores) + 2 * scores * inputs.rotation);
}

Comparison compare(const core::HostTensor& result, const core::HostTensor& reference,
                   double absolute) {
  NETCL_CHECK(result.shape() == reference.shape());
  NETCL_CHECK(reference.dtype() == core::DType::kF64);
  const std::vector<double> values = result.to_doubles();
  const std::span<const double> wanted = reference.as<double>();
  // Also equal when the reference rounds to the value: to infinity in a small type, for example.
  const std::vector<double> rounded = reference.to(result.dtype()).to_doubles();
  const double relative = half_ulp(result.dtype());
  const double floor = smallest_normal(result.dtype());
  Comparison comparison;
  double worst_ratio = 1;
  for (size_t i = 0; i < values.size(); ++i) {
    const double bound = relative * std::max(std::fabs(wanted[i]), floor) + absolute;
    const bool equal = values[i] == wanted[i] || values[i] == rounded[i];
    const double error = equal && std::isinf(values[i]) ? 0 : std::fabs(values[i] - wanted[i]);
    const double ratio = equal ? 0 : error / bound;
    comparison.max_abs_error = std::isfinite(error) && !std::isnan(comparison.max_abs_error)
                                   ? std::max(comparison.max_abs_error, error)
                                   : std::numeric_limits<double>::quiet_NaN();
    if (!(ratio <= worst_ratio)) {
      comparison.passed = false;
      comparison.worst = static_cast<int64_t>(i);
      comparison.worst_value = values[i];
      comparison.worst_reference = wanted[i];
      comparison.worst_bound = bound;
      worst_ratio = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    }
  }
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  char text[200];
  if (comparison.passed) {
    std::snprintf(text, sizeof text, "max error %.3g", comparison.max_abs_error);
  } else if (std::isnan(comparison.worst_value)) {
    std::snprintf(text, sizeof text, "element %lld is NaN, in double precision %.9g",
                  static_cast<long long>(comparison.worst), comparison.worst_reference);
  } else {
    std::snprintf(text, sizeof text,
                  "element %lld is %.9g, in double precision %.9g; allowed difference %.3g",
                  static_cast<long long>(comparison.worst), comparison.worst_value,
                  comparison.worst_reference, comparison.worst_bound);
  }
  return text;
}

}  // namespace netcl::attn
