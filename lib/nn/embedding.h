// SPDX-License-Identifier: Apache-2.0
// The embedding table of the chapter's section 2: row t of a [V, D] table stands for token t.
#ifndef NETCL_NN_EMBEDDING_H_
#define NETCL_NN_EMBEDDING_H_

#include <cstdint>

#include "core/host_tensor.h"
#include "core/tensor.h"

namespace netcl::nn {

// [rows, dim] f32, standard normal, drawn row by row from base::Rng(seed) and rounded from double:
// the same table on every machine. Unit variance is what the chapter's scaling argument assumes.
// Throws FormatError when a size is negative.
core::HostTensor make_embedding_table(int64_t rows, int64_t dim, uint64_t seed);

// The rows of `table` [V, D] (any dtype, copied bit for bit) that `ids` (any integer dtype, any
// shape) name: [ids.shape..., D] on the table's queue. Throws FormatError, before any work, for the
// first id outside [0, V), naming position and id, and for a table that is no matrix or ids that
// are not integers; DeviceError.
core::Tensor embedding(const core::Tensor& table, const core::HostTensor& ids);

}  // namespace netcl::nn

#endif  // NETCL_NN_EMBEDDING_H_
