// SPDX-License-Identifier: Apache-2.0
// The host engine: attention in float on the threads of a host queue, without OpenCL. Query rows
// are taken 64 at a time and keys 64 at a time with a running maximum and sum (Milakov and
// Gimelshein, 2018), so the Tq x Tk matrix is never stored.
#ifndef NETCL_NN_ATTENTION_HOST_H_
#define NETCL_NN_ATTENTION_HOST_H_

#include "nn/attention.h"
#include "nn/attention_problem.h"

namespace netcl::nn {

// Runs `problem`, which make_attention_problem() made from the same inputs, all of one host queue.
// Extra memory: per thread O(64 (D + Dv)) floats, the present tensors, and the scores if asked for.
// The bits of the result do not depend on the number of threads; a wider instruction set of the
// machine may change roundings. A key whose weight underflows to 0 in float counts as not visible.
AttentionOutputs attention_host(const AttentionInputs& inputs, const AttentionProblem& problem);

}  // namespace netcl::nn

#endif  // NETCL_NN_ATTENTION_HOST_H_
