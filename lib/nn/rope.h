// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al., RoFormer, 2021, equation 34): pairs of elements of a row
// at position m are rotated by the angles m * theta^(-2c / rope_dim), c = 0 .. rope_dim / 2 - 1, so
// that q.k depends on the distance of the two positions only.
//
// Elements from rope_dim on are left as they are (partial rotary). Frequencies are spread over
// rope_dim, not over head_dim. Scalings of the frequencies: nn/rope_scaling.h.
#ifndef NETCL_NN_ROPE_H_
#define NETCL_NN_ROPE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/host_tensor.h"
#include "core/tensor.h"
#include "nn/attention.h"
#include "nn/rope_scaling.h"

namespace netcl::nn {

// Which elements form pair c. Checkpoints are trained with one of the two; the other gives wrong
// results that look plausible, so the pairing is always named, never guessed.
enum class RopePairing {
  kHalf,         // (c, c + rope_dim / 2)
  kInterleaved,  // (2c, 2c + 1)
};

// "half", "interleaved".
std::string_view rope_pairing_name(RopePairing pairing);

struct RopeOptions {
  int64_t head_dim = 0;       // D of the rows to rotate
  int64_t rope_dim = 0;       // even, at most head_dim; 0 = all of head_dim
  int64_t max_positions = 0;  // rows of the table: positions 0 .. max_positions - 1
  double theta = 10000;       // base of the frequencies, finite and > 0
  RopeScaling scaling = {};
  int64_t sequence_length = 0;  // of changes_with_length(): largest position of the call + 1
};

// cos and sin of every position and pair, f64 [max_positions, rope_dim / 2], times the attention
// factor of the scaling. Throws UsageError for theta or rope_dim out of range, FormatError for an
// odd head_dim without rope_dim; the errors of rope_frequencies().
struct RopeAngles {
  core::HostTensor cos, sin;
};
RopeAngles rope_angles(const RopeOptions& options);

// cos and sin on a device, f32 [positions, rope_dim / 2]. Angles are computed in double on the host
// and rounded once. Copies share the tensors.
class RopeTable {
 public:
  // Errors of rope_angles(), DeviceError.
  RopeTable(const core::Queue& queue, const RopeOptions& options);
  // From given caches of the same shape [positions, rope_dim / 2], f64, f32, f16 or bf16. Throws
  // FormatError for other shapes or types.
  RopeTable(const core::Queue& queue, const core::HostTensor& cos, const core::HostTensor& sin);

  int64_t positions() const { return cos_.shape()[0]; }
  int64_t rope_dim() const { return 2 * cos_.shape()[1]; }
  const core::Tensor& cos() const { return cos_; }
  const core::Tensor& sin() const { return sin_; }

 private:
  core::Tensor cos_;
  core::Tensor sin_;
};

// How the rows of a tensor are laid out and where they stand.
struct RopeCall {
  RopePairing pairing = RopePairing::kHalf;
  Layout layout = Layout::kBhsd;
  int64_t heads = 0;   // Layout::kPacked only
  int64_t offset = 0;  // without `positions`, row i stands at offset + i
  // T positions for all batches, or B * T, batch by batch.
  std::vector<int64_t> positions;
};

// Rotated copy of x [B, H, T, D] (in the layout of the call; f32, f16 or bf16), same shape and
// type, on x's queue, which must be the table's. Arithmetic in float. Throws FormatError, before
// any work, for a position outside the table (naming it), a wrong number of positions, or rows
// shorter than rope_dim; DeviceError. O(B H T D); the same bits for any number of threads.
core::Tensor apply_rope(const core::Tensor& x, const RopeTable& table, const RopeCall& call);

// The oracle: the same in double from given cos and sin [positions, rope_dim / 2] of any floating
// type; x of any floating type. Returns f64. Same errors.
core::HostTensor rope_reference(const core::HostTensor& x, const core::HostTensor& cos,
                                const core::HostTensor& sin, const RopeCall& call);

}  // namespace netcl::nn

#endif  // NETCL_NN_ROPE_H_
