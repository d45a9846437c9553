// SPDX-License-Identifier: Apache-2.0
// attn-run's --q --k --v: files to one checked attention call.
#ifndef NETCL_TOOLS_ATTN_QKV_CALL_H_
#define NETCL_TOOLS_ATTN_QKV_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attn/run_options.h"
#include "core/host_tensor.h"
#include "nn/attention.h"
#include "nn/attention_problem.h"
#include "nn/rope.h"

namespace netcl::attn {

// Rotation of q and k before attention. Key j stands at j, or at positions[j]; query i where the
// key stands that it is aligned with, i + the offset of its batch item in the checked call.
struct Rotation {
  nn::RopeOptions table;
  nn::RopeCall q, k;
};

// Everything in host memory, in storage types; shapes checked.
struct QkvCall {
  core::HostTensor q, k, v;
  std::optional<core::HostTensor> mask;
  std::vector<int64_t> kv_lens;
  std::vector<float> alibi_slopes, sinks;
  std::vector<int64_t> cu_seqlens_q, cu_seqlens_k;
  nn::AttentionOptions options;
  nn::AttentionProblem problem;
  std::optional<Rotation> rotation;
};

// The part of the options that tells what is visible and how scores are made; reads the files it
// names. Leaves layout, heads and kernel to the caller.
nn::AttentionOptions make_attention_options(const RunOptions& options);

// kv_lens or offsets from a tensor argument: integers of rank 0 or 1. Throws FormatError.
std::vector<int64_t> load_integers(const std::string& argument, const std::string& option);

// Positions from --positions: one sequence of `length`, or `batch` of them. Throws FormatError.
std::vector<int64_t> load_positions(const std::string& argument, int64_t batch, int64_t length);

// Loads and checks all tensors. Throws the readers' errors and those of make_attention_problem().
QkvCall load_qkv_call(const RunOptions& options);

// The call's tensors on a queue, q and k rotated; f64 with `exact` (the queue must be a host
// queue): rotation in double, for the reference.
nn::AttentionInputs upload(const QkvCall& call, const core::Queue& queue, bool exact);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_QKV_CALL_H_
