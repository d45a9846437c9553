// SPDX-License-Identifier: Apache-2.0
// Random attention calls, the float computation that serves as the yardstick of rounding error, and
// comparisons that fail on NaN. Shared by the tests of all engines.
#ifndef NETCL_TESTS_SUPPORT_ATTENTION_CASES_H_
#define NETCL_TESTS_SUPPORT_ATTENTION_CASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/device.h"
#include "core/host_tensor.h"
#include "nn/attention.h"
#include "nn/attention_reference.h"

namespace netcl::tests {

enum class MaskKind { kNone, kBool, kFloat };

// Sizes and options of one call; make_inputs() fills the elements.
struct AttentionCase {
  uint64_t seed = 1;
  int64_t batch = 1, heads = 1, kv_heads = 1;
  int64_t q_len = 1, kv_len = 1;  // kv_len: new keys, without past
  int64_t past_len = -1;          // -1 = no past tensors
  int64_t head_dim = 1, v_head_dim = 1;
  core::DType q_dtype = core::DType::kF32;
  core::DType kv_dtype = core::DType::kF32;
  MaskKind mask = MaskKind::kNone;
  core::DType mask_dtype = core::DType::kF32;  // of MaskKind::kFloat
  size_t mask_rank = 2;
  bool mask_broadcast_rows = false;  // 1 for q_len
  bool mask_broadcast_heads = false;
  int64_t mask_columns = -1;  // -1 = all keys, past included
  std::vector<int64_t> kv_lens;
  bool alibi = false;           // slopes between -1 and 1
  bool alibi_by_batch = false;  // other slopes for each batch item or packed sequence
  bool sinks = false;           // normal, one in eight -inf
  std::vector<int64_t> cu_seqlens_q, cu_seqlens_k;  // bounds of q_len and kv_len
  nn::AttentionOptions options;

  // All of it in one line, for failure messages.
  std::string text() const;
};

// A call of small sizes (1 to about 130) with every feature on now and then.
AttentionCase random_attention_case(base::Rng& rng);

// A call in host memory.
struct HostInputs {
  core::HostTensor q, k, v;
  std::optional<core::HostTensor> mask, past_k, past_v;
  std::vector<int64_t> kv_lens;
  std::vector<float> alibi_slopes, sinks;
  std::vector<int64_t> cu_seqlens_q, cu_seqlens_k;
};

// Standard normal q, k and v; float masks normal with one entry in five -inf, boolean masks true
// seven times in ten, and one mask row in eight hides all. The same case gives the same elements.
HostInputs make_inputs(const AttentionCase& attention_case);

nn::AttentionInputs upload(const core::Queue& queue, const HostInputs& inputs);

// Results of an engine, in host memory.
struct HostOutputs {
  core::HostTensor y;
  std::optional<core::HostTensor> lse, scores, present_k, present_v;
};
HostOutputs download(const nn::AttentionOutputs& outputs);

// nn::attention() on `queue`, and back.
HostOutputs run_attention(const core::Queue& queue, const HostInputs& inputs,
                          const nn::AttentionOptions& options);
// The reference on host tensors.
nn::ReferenceOutputs run_reference(const HostInputs& inputs, const nn::AttentionOptions& options);

// The formula in float, row by row, with the whole score row stored: y (rounded to q's dtype), lse
// and, at options.scores, scores.
HostOutputs plain_float_attention(const HostInputs& inputs, const nn::AttentionOptions& options);

// Largest |got - want| and where; infinite when shapes differ, a NaN is on either side, or an
// infinity does not meet the same infinity.
struct Difference {
  double error = 0;
  int64_t index = -1;
  std::string text;  // "element 7: got 1, want 2"
};
Difference difference(const core::HostTensor& got, const core::HostTensor& want);

// Empty when every output of `got` is as near to the reference as twice the plain float
// computation's error plus a floor: four units in the last place of float at the largest value, at
// least at 1, and for y two of its storage type; else which output, where and by how much.
std::string judge(const HostOutputs& got, const nn::ReferenceOutputs& want,
                  const HostOutputs& plain);

// Bitwise equality of dtype, shape and elements; the first difference otherwise.
std::string same_bits(const core::HostTensor& got, const core::HostTensor& want);

}  // namespace netcl::tests

#endif  // NETCL_TESTS_SUPPORT_ATTENTION_CASES_H_
