// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file; npy_file.h reads and writes whole files.
#ifndef NETCL_CORE_NPY_HEADER_H_
#define NETCL_CORE_NPY_HEADER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/shape.h"

namespace netcl::core {

struct NpyHeader {
  DType dtype = DType::kF32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  size_t data_start = 0;  // bytes before the data
};

// Reads magic, version, length and the dictionary at the start of `bytes`. Throws FormatError
// "where@byte: ..."; the data may still be of the wrong size.
NpyHeader parse_npy_header(std::string_view bytes, std::string_view where);

// Magic to newline of a version 1 header, little-endian and C order. `dtype` is not bf16
// (NETCL_CHECK).
std::string npy_header_bytes(DType dtype, const Shape& shape);

}  // namespace netcl::core

#endif  // NETCL_CORE_NPY_HEADER_H_
