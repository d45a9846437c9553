// SPDX-License-Identifier: Apache-2.0
// Linear layers and the plain matrix product, on the host engine or an OpenCL device. Elements are
// stored as f32, f16 or bf16 in any mix; products and sums are fp32, added up in a fixed order: the
// same input gives the same bits on one device, for any number of threads.
#ifndef NETCL_NN_LINEAR_H_
#define NETCL_NN_LINEAR_H_

#include <optional>

#include "core/host_tensor.h"
#include "core/tensor.h"

namespace netcl::nn {

// How a weight is stored.
enum class WeightLayout {
  kOutIn,  // [out, in]: y = x W^T + b (Hugging Face, PyTorch)
  kInOut,  // [in, out]: y = x W + b (the chapter's X W)
};

struct LinearOptions {
  WeightLayout layout = WeightLayout::kOutIn;
  std::optional<core::DType> y_dtype;  // f32, f16, bf16; default: x's
};

// y [..., out] from x [..., in] (rank >= 1), a weight in the layout of the options and a bias
// [out]. All of one queue. Throws FormatError, before any work, naming the two shapes that disagree
// or a dtype that is not f32, f16 or bf16; DeviceError. An `in` of 0 gives the bias (or zeros).
// O(rows * in * out) time; extra memory on the host engine: f32 copies of 16-bit operands.
core::Tensor linear(const core::Tensor& x, const core::Tensor& weight,
                    const std::optional<core::Tensor>& bias = std::nullopt,
                    const LinearOptions& options = {});

// [M, N] = a [M, K] times b [K, N], in a's dtype. Same errors.
core::Tensor matmul(const core::Tensor& a, const core::Tensor& b);

// The oracle: the same in double from tensors of any floating type; returns f64. `bias` may be
// null.
core::HostTensor linear_reference(const core::HostTensor& x, const core::HostTensor& weight,
                                  const core::HostTensor* bias,
                                  WeightLayout layout = WeightLayout::kOutIn);

}  // namespace netcl::nn

#endif  // NETCL_NN_LINEAR_H_
