// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace netcl::core {

namespace {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559,
              "conversions rely on IEEE 754 arithmetic");

struct DTypeRow {
  DType dtype;
  std::string_view name;
  size_t size;
};

// In the order of the enumerators, which index this table.
constexpr std::array<DTypeRow, 13> kTypes = {{{DType::kF64, "f64", 8},
                                              {DType::kF32, "f32", 4},
                                              {DType::kF16, "f16", 2},
                                              {DType::kBF16, "bf16", 2},
                                              {DType::kI64, "i64", 8},
                                              {DType::kI32, "i32", 4},
                                              {DType::kI16, "i16", 2},
                                              {DType::kI8, "i8", 1},
                                              {DType::kU64, "u64", 8},
                                              {DType::kU32, "u32", 4},
                                              {DType::kU16, "u16", 2},
                                              {DType::kU8, "u8", 1},
                                              {DType::kBool, "bool", 1}}};

const DTypeRow& row(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  NETCL_CHECK(index < kTypes.size());
  return kTypes[index];
}

// A 16-bit float format: sign, kExponentBits, kFractionBits.
struct HalfFormat {
  static constexpr int kExponentBits = 5;
  static constexpr int kFractionBits = 10;
};
struct Bf16Format {
  static constexpr int kExponentBits = 8;
  static constexpr int kFractionBits = 7;
};

// Rounds significand * 2^exponent to the format: to nearest, ties to even, in one step.
template <typename Format>
uint16_t round_to_format(bool negative, uint64_t significand, int exponent) {
  constexpr int kFraction = Format::kFractionBits;
  constexpr int kBias = (1 << (Format::kExponentBits - 1)) - 1;
  constexpr int kMaxBiased = (1 << Format::kExponentBits) - 1;
  const auto sign = static_cast<uint16_t>(negative ? 0x8000 : 0);
  if (significand == 0) {
    return sign;
  }
  const int zeros = std::countl_zero(significand);
  significand <<= zeros;
  const int biased = 63 + exponent - zeros + kBias;
  if (biased >= kMaxBiased) {
    return static_cast<uint16_t>(sign | (kMaxBiased << kFraction));
  }
  // A subnormal result drops the bits below the smallest exponent as well.
  const int shift = 63 - kFraction + (biased <= 0 ? 1 - biased : 0);
  if (shift > 64) {
    return sign;
  }
  const uint64_t kept = shift == 64 ? 0 : significand >> shift;
  const uint64_t dropped = shift == 64 ? significand : significand << (64 - shift);
  constexpr uint64_t kTie = uint64_t{1} << 63;
  const bool up = dropped > kTie || (dropped == kTie && (kept & 1) != 0);
  // `kept` of a normal value holds the implicit bit, so one less goes into the exponent field; a
  // carry out of the fraction raises the exponent, to infinity in the end.
  const auto field = static_cast<uint64_t>(biased <= 0 ? 0 : biased - 1) << kFraction;
  return static_cast<uint16_t>(sign | (field + kept + (up ? 1 : 0)));
}

template <typename Format>
uint16_t round_double(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const auto exponent = static_cast<int>((bits >> 52) & 0x7FF);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7FF) {
    constexpr int kFraction = Format::kFractionBits;
    const uint64_t infinity = ((uint64_t{1} << Format::kExponentBits) - 1) << kFraction;
    const uint64_t quiet = (uint64_t{1} << (kFraction - 1)) | (fraction >> (52 - kFraction));
    return static_cast<uint16_t>((negative ? 0x8000 : 0) | infinity | (fraction == 0 ? 0 : quiet));
  }
  return exponent == 0
             ? round_to_format<Format>(negative, fraction, -1074)
             : round_to_format<Format>(negative, fraction | (uint64_t{1} << 52), exponent - 1075);
}

// How one DType is stored and read: load() gives a value that holds the element exactly, in an
// arithmetic type; kIsBool elements load as 0 or 1.
template <typename T>
struct Plain {
  using Storage = T;
  static T load(T stored) { return stored; }
};
struct Half {
  using Storage = uint16_t;
  using Format = HalfFormat;
  static float load(uint16_t stored) { return half_to_float(stored); }
};
struct Bf16 {
  using Storage = uint16_t;
  using Format = Bf16Format;
  static float load(uint16_t stored) { return bf16_to_float(stored); }
};
struct Bool {
  using Storage = uint8_t;
  static uint8_t load(uint8_t stored) { return stored != 0 ? 1 : 0; }
};

template <typename Function>
void visit_dtype(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::kF64:
      return function(Plain<double>{});
    case DType::kF32:
      return function(Plain<float>{});
    case DType::kF16:
      return function(Half{});
    case DType::kBF16:
      return function(Bf16{});
    case DType::kI64:
      return function(Plain<int64_t>{});
    case DType::kI32:
      return function(Plain<int32_t>{});
    case DType::kI16:
      return function(Plain<int16_t>{});
    case DType::kI8:
      return function(Plain<int8_t>{});
    case DType::kU64:
      return function(Plain<uint64_t>{});
    case DType::kU32:
      return function(Plain<uint32_t>{});
    case DType::kU16:
      return function(Plain<uint16_t>{});
    case DType::kU8:
      return function(Plain<uint8_t>{});
    case DType::kBool:
      return function(Bool{});
  }
  NETCL_CHECK(false);
}

template <typename T>
std::string number_text(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(std::numeric_limits<T>::max_digits10);
    text << value;
    return text.str();
  } else {
    return std::to_string(value);
  }
}

template <typename Integer, typename Value>
[[noreturn]] void throw_not_integer(Value value, size_t index, DType to_type) {
  throw base::FormatError("element " + std::to_string(index) + ": " + number_text(value) +
                          " is not representable as " + std::string(dtype_name(to_type)) +
                          "; allowed are integers from " +
                          std::to_string(std::numeric_limits<Integer>::min()) + " to " +
                          std::to_string(std::numeric_limits<Integer>::max()));
}

template <typename Integer, typename Value>
Integer to_integer(Value value, size_t index, DType to_type) {
  if constexpr (std::is_floating_point_v<Value>) {
    // 2^digits is one past the largest Integer and exact in both float types; NaN fails all.
    const Value end = std::ldexp(Value{1}, std::numeric_limits<Integer>::digits);
    const Value begin = std::is_signed_v<Integer> ? -end : Value{0};
    if (!(value >= begin && value < end && std::trunc(value) == value)) {
      throw_not_integer<Integer>(value, index, to_type);
    }
  } else if (!std::in_range<Integer>(value)) {
    throw_not_integer<Integer>(value, index, to_type);
  }
  return static_cast<Integer>(value);
}

template <typename Format, typename Value>
uint16_t to_format(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return round_double<Format>(value);
  } else {
    const bool negative = std::cmp_less(value, 0);
    const auto magnitude = static_cast<uint64_t>(static_cast<int64_t>(value));
    return round_to_format<Format>(negative, negative ? uint64_t{0} - magnitude : magnitude, 0);
  }
}

template <typename To, typename Value>
typename To::Storage store(Value value, size_t index, DType to_type) {
  using Storage = typename To::Storage;
  if constexpr (std::is_same_v<To, Bool>) {
    return value != 0 ? 1 : 0;
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, Bf16>) {
    return to_format<typename To::Format>(value);
  } else if constexpr (std::is_floating_point_v<Storage>) {
    return static_cast<Storage>(value);
  } else {
    return to_integer<Storage>(value, index, to_type);
  }
}

template <typename From, typename To>
void convert_loop(const std::byte* from, std::byte* to, size_t count, DType to_type) {
  for (size_t i = 0; i < count; ++i) {
    typename From::Storage stored;  // elements may be unaligned
    std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
    const auto result = store<To>(From::load(stored), i, to_type);
    std::memcpy(to + i * sizeof result, &result, sizeof result);
  }
}

}  // namespace

size_t dtype_size(DType dtype) {
  return row(dtype).size;
}

std::string_view dtype_name(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const DTypeRow& type : kTypes) {
    if (type.name == name) {
      return type.dtype;
    }
  }
  return std::nullopt;
}

bool is_floating(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 ||
         dtype == DType::kBF16;
}

uint16_t float_to_half(float value) {
  return round_double<HalfFormat>(value);
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

uint16_t float_to_bf16(float value) {
  return round_double<Bf16Format>(value);
}

float bf16_to_float(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

void convert_elements(const std::byte* from, DType from_type, std::byte* to, DType to_type,
                      size_t count) {
  if (count == 0) {
    return;
  }
  if (from_type == to_type) {
    std::memcpy(to, from, count * dtype_size(to_type));
    return;
  }
  visit_dtype(from_type, [&](auto from_tag) {
    visit_dtype(to_type, [&](auto to_tag) {
      convert_loop<decltype(from_tag), decltype(to_tag)>(from, to, count, to_type);
    });
  });
}

}  // namespace netcl::core
