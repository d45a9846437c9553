// SPDX-License-Identifier: Apache-2.0
// Past keys or values and the new ones, joined in host memory.
#ifndef NETCL_NN_PRESENT_H_
#define NETCL_NN_PRESENT_H_

#include "core/host_tensor.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

// Fills `joined` [B, G, P + T, D] with `past` [B, G, P, D], then `fresh`, whose elements lie at
// `strides`. All three have the same dtype.
void join_past(const core::HostTensor& past, const core::HostTensor& fresh,
               const HeadStrides& strides, core::HostTensor& joined);

}  // namespace netcl::nn

#endif  // NETCL_NN_PRESENT_H_
