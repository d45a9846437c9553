// SPDX-License-Identifier: Apache-2.0
// Root-mean-square norm (Zhang and Sennrich, 2019, equation 4) of the last axis:
//   y = x / sqrt(mean(x^2) + eps) * gamma
// In attention it bounds the scores when it is applied to the heads of q and k ("QK norm").
#ifndef NETCL_NN_RMS_NORM_H_
#define NETCL_NN_RMS_NORM_H_

#include "core/host_tensor.h"
#include "core/tensor.h"

namespace netcl::nn {

// y of x's shape and dtype; x [..., D] with D >= 1, gamma [D], both f32, f16 or bf16 and of one
// queue. Arithmetic in fp32; the same bits for any number of threads. Throws FormatError naming the
// two shapes that disagree or a dtype, UsageError for an eps that is negative or not finite,
// DeviceError.
core::Tensor rms_norm(const core::Tensor& x, const core::Tensor& gamma, double eps);

// The oracle: the same in double from any floating types; returns f64.
core::HostTensor rms_norm_reference(const core::HostTensor& x, const core::HostTensor& gamma,
                                    double eps);

}  // namespace netcl::nn

#endif  // NETCL_NN_RMS_NORM_H_
