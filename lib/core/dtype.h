// SPDX-License-Identifier: Apache-2.0
// Element types of tensors and their conversions.
#ifndef NETCL_CORE_DTYPE_H_
#define NETCL_CORE_DTYPE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace netcl::core {

enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

// Bytes of one element.
size_t dtype_size(DType dtype);
// "f32", "bf16", "bool", ...: the names of options and messages.
std::string_view dtype_name(DType dtype);
std::optional<DType> find_dtype(std::string_view name);
bool is_floating(DType dtype);

// fp16 and bf16 are storage types; values are computed in fp32. float -> 16 bit rounds to nearest,
// ties to even; overflow gives infinity; NaN stays NaN (quiet, sign kept); subnormals are exact.
uint16_t float_to_half(float value);
float half_to_float(uint16_t bits);
uint16_t float_to_bf16(float value);
float bf16_to_float(uint16_t bits);

// Converts elements. Float -> float rounds to nearest even (f64 -> f16/bf16 rounds once, not
// through f32); integer -> float likewise; bool is 0 or 1; float or integer -> integer throws
// FormatError when a value is not representable (fraction, out of range, NaN) naming its index;
// anything -> bool is value != 0 (NaN is true). `to` holds `count` elements of `to_type`. Regions
// must not overlap.
void convert_elements(const std::byte* from, DType from_type, std::byte* to, DType to_type,
                      size_t count);

}  // namespace netcl::core

#endif  // NETCL_CORE_DTYPE_H_
