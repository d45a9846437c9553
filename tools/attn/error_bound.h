// SPDX-License-Identifier: Apache-2.0
// --check: how far a result may be from the double-precision one.
#ifndef NETCL_TOOLS_ATTN_ERROR_BOUND_H_
#define NETCL_TOOLS_ATTN_ERROR_BOUND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/host_tensor.h"

namespace netcl::attn {

// Largest absolute difference over all elements and whether every element is within
//   half a unit in the last place of its type (at the reference's value) + absolute
// A NaN in the result fails; infinities must be equal.
struct Comparison {
  bool passed = true;
  double max_abs_error = 0;  // NaN when an element is NaN or an infinity differs
  int64_t worst = -1;        // flat index of the element that exceeds its bound most; -1: none does
  double worst_value = 0, worst_reference = 0, worst_bound = 0;
};

// `result` f32, f16 or bf16; `reference` f64 of the same shape (NETCL_CHECK).
Comparison compare(const core::HostTensor& result, const core::HostTensor& reference,
                   double absolute);

// What float attention may add to the rounding of the result:
//   v * (8 * 2^-24 * (1 + s) + 2 * s * rotation)
// s = |scale| * (longest row of q) * (longest row of k) + (largest finite mask value) + bias, a
// bound of the scores; v = the largest value. An error e of a score changes a weight by the factor
// 1 + e and so the output by 2 e v at most; a dot product of n products, summed in a tree or
// blocks, errs by a few 2^-24 of |q| |k|. `rotation` = rounding of rotated q and k to their storage
// types, 0 without RoPE. NaN and infinities are left out of the maxima.
struct BoundInputs {
  const core::HostTensor* q = nullptr;  // last axis: one row of a head, or of all heads (packed)
  const core::HostTensor* k = nullptr;
  const core::HostTensor* v = nullptr;
  const core::HostTensor* mask = nullptr;  // floating, or null
  int64_t head_dim = 1;
  double scale = 1;
  double bias = 0;  // largest ALiBi term and sink
  double rotation = 0;
};
double attention_error_bound(const BoundInputs& inputs);

// A module's result is judged by this many times the bound with v = its largest element: its
// projections round about as much again before and after attention.
constexpr double kModuleFactor = 4;

// Half a unit in the last place of 1 in a storage type: 2^-24, 2^-11, 2^-8... (f32, f16, bf16).
double half_ulp(core::DType dtype);

// "max error 2.1e-07 (allowed ...)" for people.
std::string comparison_text(const Comparison& comparison);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_ERROR_BOUND_H_
