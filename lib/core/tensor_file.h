// SPDX-License-Identifier: Apache-2.0
// Tensor arguments of the tools: one text names a tensor in a file of any known format.
//   FILE.npy               a NumPy array
//   FILE.safetensors:NAME  one tensor of a file; reading, ":NAME" may be left out when it has one
//   FILE.json              core/json_tensor_file.h
//   -                      .npy on standard input or output
// Extensions count in capital letters too.
#ifndef NETCL_CORE_TENSOR_FILE_H_
#define NETCL_CORE_TENSOR_FILE_H_

#include <string>

#include "core/host_tensor.h"

namespace netcl::core {

enum class TensorFormat { kNpy, kSafetensors, kJson };

// A tensor argument taken apart.
struct TensorSpec {
  std::string path;  // "-" for standard input or output
  TensorFormat format = TensorFormat::kNpy;
  std::string name;  // of the tensor in a safetensors file; empty = not given
};

// Takes an argument apart without touching a file. The first ".safetensors:" separates path and
// name, so a name may hold any text. Throws UsageError listing the allowed forms for any other
// extension, and for an empty name.
TensorSpec parse_tensor_spec(const std::string& argument);

// The tensor that an argument names. Throws UsageError as parse_tensor_spec; IoError; the readers'
// FormatError; FormatError listing the names when a safetensors argument has no NAME and the file
// does not have exactly one tensor.
HostTensor load_tensor(const std::string& argument);

// Writes a file of one tensor in the format of the argument; an existing file is replaced. Throws
// UsageError as parse_tensor_spec, for a safetensors argument without NAME, and for bf16 to .npy;
// IoError.
void save_tensor(const std::string& argument, const HostTensor& tensor);

}  // namespace netcl::core

#endif  // NETCL_CORE_TENSOR_FILE_H_
