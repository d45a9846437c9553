// SPDX-License-Identifier: Apache-2.0
// Tensors as NumPy's .npy files. Source: NumPy documentation, "numpy.lib.format", versions 1 to 3.
// Read: C and Fortran order, both byte orders, rank 0 to 8, empty arrays, dtypes f2 f4 f8 i1 i2 i4
// i8 u1 u2 u4 u8 b1. Refused by name: object (a pickle, which can run code), complex, strings,
// times, structured types. Archives (.npz) are not read.
#ifndef NETCL_CORE_NPY_FILE_H_
#define NETCL_CORE_NPY_FILE_H_

#include <string>
#include <string_view>

#include "core/host_tensor.h"

namespace netcl::core {

// The array in a file, row-major in this machine's byte order. "-" is standard input. Throws
// IoError when the file cannot be read, else parse_npy's errors.
HostTensor read_npy(const std::string& path);

// The array in `bytes`, which must be one whole .npy file and nothing more; `where` names the
// source in messages. Throws FormatError "where@byte: ..." for everything that is not such a file;
// sizes are compared with bytes.size() before anything is allocated. A header without the final
// newline is accepted, as NumPy does. Memory: the result, twice for Fortran order.
HostTensor parse_npy(std::string_view bytes, std::string_view where);

// The bytes of a version 1 file, equal to those that NumPy writes for the array: little-endian, C
// order, data at a multiple of 64 bytes. Throws UsageError "where: ..." for bf16, which has no npy
// type.
std::string npy_bytes(const HostTensor& tensor, std::string_view where);

// Writes npy_bytes() to a file, which appears only when complete, or to standard output ("-").
// Throws UsageError for bf16 and IoError.
void write_npy(const std::string& path, const HostTensor& tensor);

}  // namespace netcl::core

#endif  // NETCL_CORE_NPY_FILE_H_
