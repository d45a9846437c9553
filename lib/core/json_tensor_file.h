// SPDX-License-Identifier: Apache-2.0
// Tensors as small JSON files that a person or a script can write:
//   {"dtype":"f32","shape":[2,3],"data":[1,2.5,"NaN","Infinity","-Infinity",-0.0]}
// `data` is flat and row-major. Numbers keep their value: integers are exact to 64 bits, f64 and
// f32 are the nearest of the decimal text, f16 and bf16 the nearest of the double nearest to it.
#ifndef NETCL_CORE_JSON_TENSOR_FILE_H_
#define NETCL_CORE_JSON_TENSOR_FILE_H_

#include <string>
#include <string_view>

#include "core/host_tensor.h"

namespace netcl::core {

// The tensor in a file; "-" is standard input. Throws IoError or parse_json_tensor's errors.
HostTensor read_json_tensor(const std::string& path);

// The tensor in `text`; `where` names the source. Fields in any order. Float dtypes take numbers
// and the strings "NaN", "Infinity" and "-Infinity"; integer dtypes take integers; bool takes true,
// false, 0 and 1. Throws FormatError for anything else: what is not JSON, other or missing or
// repeated fields, nested data, a count that is not the shape's, a number that the dtype cannot
// hold. The text is read twice, so that nothing is allocated before the count is known to be right.
HostTensor parse_json_tensor(std::string_view text, std::string_view where);

// One line of JSON with a final newline. Floats are the shortest decimals that read back as the
// same element (for f16 and bf16: as the same f32); NaN loses its sign and payload.
std::string json_tensor_text(const HostTensor& tensor);

// Writes json_tensor_text() to a file, which appears only when complete, or to standard output
// ("-"). Throws IoError.
void write_json_tensor(const std::string& path, const HostTensor& tensor);

}  // namespace netcl::core

#endif  // NETCL_CORE_JSON_TENSOR_FILE_H_
