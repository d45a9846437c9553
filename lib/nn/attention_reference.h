// SPDX-License-Identifier: Apache-2.0
// The oracle: attention written from the formula in double, one row at a time, no shortcuts. Every
// other engine and kernel is judged by it.
#ifndef NETCL_NN_ATTENTION_REFERENCE_H_
#define NETCL_NN_ATTENTION_REFERENCE_H_

#include <vector>

#include "base/progress.h"
#include "core/host_tensor.h"
#include "nn/attention.h"

namespace netcl::nn {

struct ReferenceOutputs {
  core::HostTensor y;                     // f64, layout of the options
  core::HostTensor lse;                   // f64 [B, H, Tq], always computed
  core::HostTensor scores;                // f64 [B, H, Tq, Tk] at options.scores, else empty
  core::HostTensor present_k, present_v;  // dtype of the inputs; empty without past
};

// Takes tensors of any queue (device tensors are copied out), f64 q, k and v too. Same errors as
// attention().
// O(B H Tq Tk (D + Dv)) time in double; `progress` is told after each row of y.
ReferenceOutputs attention_reference(const AttentionInputs& inputs, const AttentionOptions& options,
                                     const base::ProgressFn& progress = {});

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_REFERENCE_H_
