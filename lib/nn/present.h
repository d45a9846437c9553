// SPDX-License-Identifier: Apache-2.0
// Past keys or values and the new ones, joined in host memory.
#ifndef NETCL_NN_PRESENT_H_
#define NETCL_NN_PRESENT_H_

#include "core/host_tensor.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

// [B, G, P + T, D]: `past` [B, G, P, D], then `fresh`, whose elements lie at `strides`. Both have
// the same dtype. `shape` is present_k_shape() or present_v_shape() of the problem.
core::HostTensor join_past(const core::HostTensor& past, const core::HostTensor& fresh,
                           const HeadStrides& strides, const core::Shape& shape);

}  // namespace netcl::nn

#endif  // NETCL_NN_PRESENT_H_
