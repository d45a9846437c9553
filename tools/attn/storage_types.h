// SPDX-License-Identifier: Apache-2.0
// --dtype: the storage types that inputs are converted to.
#ifndef NETCL_TOOLS_ATTN_STORAGE_TYPES_H_
#define NETCL_TOOLS_ATTN_STORAGE_TYPES_H_

#include <optional>
#include <string>

#include "core/host_tensor.h"

namespace netcl::attn {

// Nothing = as the file has it, but f64 becomes f32.
struct StorageTypes {
  std::optional<core::DType> q;   // q, or a module's x
  std::optional<core::DType> kv;  // k and v
};

// "f32", "f16", "bf16" for all, or "q=f32,kv=f16" with either part. Empty: nothing is converted.
// Throws UsageError.
StorageTypes parse_storage_types(const std::string& text);

// The tensor in its storage type. Throws FormatError "name: ..." for a tensor that is not floating.
core::HostTensor to_storage(core::HostTensor tensor, std::optional<core::DType> type,
                            const std::string& name);

}  // namespace netcl::attn

#endif  // NETCL_TOOLS_ATTN_STORAGE_TYPES_H_
