// SPDX-License-Identifier: Apache-2.0
#include "attn/storage_types.h"

#include <utility>

#include "base/error.h"

namespace netcl::attn {

namespace {

core::DType storage_type(const std::string& name) {
  const std::optional<core::DType> type = core::find_dtype(name);
  if (!type.has_value() ||
      (*type != core::DType::kF32 && *type != core::DType::kF16 && *type != core::DType::kBF16)) {
    throw base::UsageError("--dtype: " + base::quote(name) +
                           " is not known; allowed is f32|f16|bf16 or q=TYPE,kv=TYPE");
  }
  return *type;
}

}  // namespace

StorageTypes parse_storage_types(const std::string& text) {
  StorageTypes types;
  if (text.empty()) {
    return types;
  }
  if (text.find('=') == std::string::npos) {
    types.q = types.kv = storage_type(text);
    return types;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const size_t equals = std::min(part.find('='), part.size());
    const std::string key = part.substr(0, equals);
    std::optional<core::DType>* target = key == "q" ? &types.q : key == "kv" ? &types.kv : nullptr;
    if (target == nullptr || equals == part.size() || target->has_value()) {
      throw base::UsageError("--dtype: " + base::quote(text) +
                             " is not known; allowed is f32|f16|bf16 or q=TYPE,kv=TYPE");
    }
    *target = storage_type(part.substr(equals + 1));
    begin = end + 1;
  }
  return types;
}

core::HostTensor to_storage(core::HostTensor tensor, std::optional<core::DType> type,
                            const std::string& name) {
  if (!core::is_floating(tensor.dtype())) {
    throw base::FormatError(name + ": dtype is " + std::string(core::dtype_name(tensor.dtype())) +
                            "; allowed is f16, bf16, f32 or f64");
  }
  const core::DType wanted =
      type.value_or(tensor.dtype() == core::DType::kF64 ? core::DType::kF32 : tensor.dtype());
  return tensor.dtype() == wanted ? std::move(tensor) : tensor.to(wanted);
}

}  // namespace netcl::attn
