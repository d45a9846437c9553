// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file; safetensors_file.h reads and writes whole files.
#ifndef NETCL_CORE_SAFETENSORS_HEADER_H_
#define NETCL_CORE_SAFETENSORS_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/dtype.h"

namespace netcl::core {

// A dtype of the format. Those that HostTensor cannot hold (8-bit floats and smaller, complex) have
// no `dtype`.
struct SafetensorsType {
  std::string_view name;
  size_t bits = 0;
  std::optional<DType> dtype;
};

// All dtypes, in the order whose reverse is the reference writer's order of tensors.
std::span<const SafetensorsType> safetensors_types();

// What a header says of one tensor.
struct SafetensorsInfo {
  std::string name;
  SafetensorsType type;
  std::vector<int64_t> dims;  // any rank; >= 0
  uint64_t begin = 0;         // first byte and one past the last, from the start of the data
  uint64_t end = 0;
};

using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsHeader {
  std::vector<SafetensorsInfo> tensors;           // in the order of the header
  std::unordered_map<std::string, size_t> index;  // name -> place in `tensors`
  SafetensorsMetadata metadata;                   // in the order of the header
  size_t data_start = 0;                          // bytes before the data
};

inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

// Reads and checks the header of the whole file `bytes`. Throws FormatError, naming the byte or the
// tensor, unless: the length is at most kMaxSafetensorsHeaderBytes and within the file; the header
// starts with '{' and is JSON, blanks after it allowed; no name, field or metadata key is there
// twice; every tensor has dtype, shape and data_offsets and no other field; metadata maps strings
// to strings; every tensor's bytes are the product of its shape times its dtype; the tensors cover
// the data without hole or overlap, from its first byte to the end of the file.
SafetensorsHeader parse_safetensors_header(std::string_view bytes, std::string_view where);

}  // namespace netcl::core

#endif  // NETCL_CORE_SAFETENSORS_HEADER_H_
