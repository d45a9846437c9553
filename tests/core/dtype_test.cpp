// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

using netcl::base::FormatError;
using netcl::core::bf16_to_float;
using netcl::core::convert_elements;
using netcl::core::DType;
using netcl::core::dtype_name;
using netcl::core::dtype_size;
using netcl::core::find_dtype;
using netcl::core::float_to_bf16;
using netcl::core::float_to_half;
using netcl::core::half_to_float;

namespace {

constexpr std::array kAllTypes = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                                  DType::kI32, DType::kI16, DType::kI8,  DType::kU64,  DType::kU32,
                                  DType::kU16, DType::kU8,  DType::kBool};

template <typename To, typename From>
To convert_one(From value, DType from_type, DType to_type) {
  To result{};
  REQUIRE(sizeof(From) == dtype_size(from_type));
  REQUIRE(sizeof(To) == dtype_size(to_type));
  convert_elements(reinterpret_cast<const std::byte*>(&value), from_type,
                   reinterpret_cast<std::byte*>(&result), to_type, 1);
  return result;
}

// A 16-bit float format from its definition: value = fraction * 2^(exponent), by plain arithmetic.
struct SlowFormat {
  DType dtype;
  int exponent_bits;
  int fraction_bits;

  uint16_t infinity() const {
    return static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  }
  // The value of a finite bit pattern without sign; infinity's pattern gives the next power of two,
  // which is where the grid of numbers would go on.
  double value(uint16_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> fraction_bits;
    const double fraction = bits & ((1 << fraction_bits) - 1);
    const double one = std::ldexp(1.0, fraction_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                         : std::ldexp(one + fraction, exponent - bias - fraction_bits);
  }
};

const std::array<SlowFormat, 2> kFormats = {{{DType::kF16, 5, 10}, {DType::kBF16, 8, 7}}};

uint16_t from_float(const SlowFormat& format, float value) {
  return format.dtype == DType::kF16 ? float_to_half(value) : float_to_bf16(value);
}

float to_float(const SlowFormat& format, uint16_t bits) {
  return format.dtype == DType::kF16 ? half_to_float(bits) : bf16_to_float(bits);
}

uint16_t from_double(const SlowFormat& format, double value) {
  return convert_one<uint16_t>(value, DType::kF64, format.dtype);
}

}  // namespace

TEST_CASE("dtype: names and sizes agree with the enumerators") {
  for (const DType dtype : kAllTypes) {
    CHECK(find_dtype(dtype_name(dtype)) == dtype);
  }
  CHECK(dtype_name(DType::kBF16) == "bf16");
  CHECK(dtype_name(DType::kBool) == "bool");
  CHECK(dtype_size(DType::kF64) == 8);
  CHECK(dtype_size(DType::kBF16) == 2);
  CHECK(dtype_size(DType::kU8) == 1);
  CHECK(netcl::core::is_floating(DType::kBF16));
  CHECK_FALSE(netcl::core::is_floating(DType::kI32));
  CHECK_FALSE(find_dtype("float32").has_value());
  CHECK_FALSE(find_dtype("").has_value());
}

TEST_CASE("dtype: all 65536 half and bf16 patterns have their value and come back") {
  for (const SlowFormat& format : kFormats) {
    size_t wrong = 0;
    for (uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
      const auto bits = static_cast<uint16_t>(pattern);
      const auto magnitude = static_cast<uint16_t>(bits & 0x7FFF);
      const bool negative = (bits & 0x8000) != 0;
      const float value = to_float(format, bits);
      bool right = std::signbit(value) == negative;
      if (magnitude > format.infinity()) {
        const uint16_t back = from_float(format, value);
        const int quiet = 1 << (format.fraction_bits - 1);
        right = right && std::isnan(value) && back == (bits | quiet);
      } else {
        const double expected = magnitude == format.infinity()
                                    ? std::numeric_limits<double>::infinity()
                                    : format.value(magnitude);
        right = right && static_cast<double>(value) == (negative ? -expected : expected) &&
                from_float(format, value) == bits &&
                from_double(format, static_cast<double>(value)) == bits;
      }
      wrong += right ? 0 : 1;
    }
    CAPTURE(dtype_name(format.dtype));
    CHECK(wrong == 0);
  }
}

TEST_CASE("dtype: every tie between neighbours goes to even and everything else to the nearer") {
  for (const SlowFormat& format : kFormats) {
    size_t wrong = 0;
    for (uint16_t low = 0; low < format.infinity(); ++low) {
      const auto high = static_cast<uint16_t>(low + 1);
      const uint16_t even = (low & 1) == 0 ? low : high;
      const double middle = (format.value(low) + format.value(high)) / 2;
      const auto middle_float = static_cast<float>(middle);
      REQUIRE(static_cast<double>(middle_float) == middle);
      const float below = std::nextafter(middle_float, 0.0F);
      const float above = std::nextafter(middle_float, std::numeric_limits<float>::infinity());
      for (const bool negative : {false, true}) {
        const float sign = negative ? -1.0F : 1.0F;
        const int sign_bit = negative ? 0x8000 : 0;
        // In double the neighbours of the tie are so close that a way through float loses them.
        const double double_sign = negative ? -1 : 1;
        const bool right =
            from_float(format, sign * middle_float) == (even | sign_bit) &&
            from_float(format, sign * below) == (low | sign_bit) &&
            from_float(format, sign * above) == (high | sign_bit) &&
            from_double(format, double_sign * middle) == (even | sign_bit) &&
            from_double(format, double_sign * std::nextafter(middle, 0.0)) == (low | sign_bit) &&
            from_double(format, double_sign * std::nextafter(middle, 1e300)) == (high | sign_bit);
        wrong += right ? 0 : 1;
      }
    }
    CAPTURE(dtype_name(format.dtype));
    CHECK(wrong == 0);
    CHECK(from_float(format, std::numeric_limits<float>::max()) == format.infinity());
    CHECK(from_double(format, -1e300) == (format.infinity() | 0x8000));
    CHECK(from_double(format, 5e-324) == 0);
    CHECK(from_double(format, -1e-310) == 0x8000);
  }
}

TEST_CASE("dtype: bf16 rounds the known hard patterns") {
  const auto bf16 = [](uint32_t pattern) { return float_to_bf16(std::bit_cast<float>(pattern)); };
  CHECK(bf16(0x3F808000) == 0x3F80);
  CHECK(bf16(0x3F818000) == 0x3F82);
  CHECK(bf16(0x3F808001) == 0x3F81);
  CHECK(bf16(0x7F7FFFFF) == 0x7F80);
  CHECK(bf16(0x7F800001) == 0x7FC0);
  CHECK(bf16(0xFFC00000) == 0xFFC0);
  CHECK(bf16(0x33D6BF95) == 0x33D7);
  CHECK(bf16(0x00018000) == 0x0002);
}

TEST_CASE("dtype: integers round once to 16-bit floats") {
  const SlowFormat& format = kFormats[1];
  size_t tested = 0;
  for (uint16_t low = 0; low < format.infinity(); ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const double middle = (format.value(low) + format.value(high)) / 2;
    if (middle < 256 || middle >= 0x1p64) {
      continue;
    }
    const uint16_t even = (low & 1) == 0 ? low : high;
    const auto tie = static_cast<uint64_t>(middle);
    const auto from_u64 = [&](uint64_t value) {
      return convert_one<uint16_t>(value, DType::kU64, DType::kBF16);
    };
    CHECK(from_u64(tie) == even);
    CHECK(from_u64(tie - 1) == low);
    CHECK(from_u64(tie + 1) == high);
    if (middle < 0x1p63) {
      const auto negative = -static_cast<int64_t>(tie);
      const auto from_i64 = [&](int64_t value) {
        return convert_one<uint16_t>(value, DType::kI64, DType::kBF16);
      };
      CHECK(from_i64(negative) == (even | 0x8000));
      CHECK(from_i64(negative + 1) == (low | 0x8000));
      CHECK(from_i64(negative - 1) == (high | 0x8000));
    }
    ++tested;
  }
  CHECK(tested > 7000);
  CHECK(convert_one<uint16_t>(std::numeric_limits<int64_t>::min(), DType::kI64, DType::kBF16) ==
        0xDF00);
  CHECK(convert_one<uint16_t>(int32_t{65519}, DType::kI32, DType::kF16) == 0x7BFF);
  CHECK(convert_one<uint16_t>(int32_t{65520}, DType::kI32, DType::kF16) == 0x7C00);
  CHECK(convert_one<uint16_t>(int8_t{-128}, DType::kI8, DType::kF16) == 0xD800);
  CHECK(convert_one<float>(int32_t{16777217}, DType::kI32, DType::kF32) == 16777216.0F);
  // 2^56 + 2^32 is a tie between floats; the 1 above it decides, and is lost in a double.
  CHECK(convert_one<float>(int64_t{0x100000100000001}, DType::kI64, DType::kF32) ==
        std::nextafter(0x1p56F, 0x1p57F));
}

TEST_CASE("dtype: floats become integers only when nothing is lost") {
  const auto refused = [](double value, DType to_type) {
    CAPTURE(value, dtype_name(to_type));
    std::array<std::byte, 8> out{};
    CHECK_THROWS_AS(convert_elements(reinterpret_cast<const std::byte*>(&value), DType::kF64,
                                     out.data(), to_type, 1),
                    FormatError);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType to_type : {DType::kI64, DType::kI32, DType::kI16, DType::kI8, DType::kU64,
                              DType::kU32, DType::kU16, DType::kU8}) {
    const bool is_signed = dtype_name(to_type)[0] == 'i';
    const int digits = static_cast<int>(dtype_size(to_type)) * 8 - (is_signed ? 1 : 0);
    refused(0.5, to_type);
    refused(-1e-300, to_type);
    refused(nan, to_type);
    refused(infinity, to_type);
    refused(-infinity, to_type);
    refused(std::ldexp(1.0, digits), to_type);
    if (is_signed) {
      const double below = -std::ldexp(1.0, digits) - (digits > 52 ? 2048 : 1);
      refused(below, to_type);
    } else {
      refused(-1, to_type);
    }
  }
  CHECK(convert_one<int8_t>(-128.0, DType::kF64, DType::kI8) == -128);
  CHECK(convert_one<int64_t>(-0x1p63, DType::kF64, DType::kI64) ==
        std::numeric_limits<int64_t>::min());
  CHECK(convert_one<uint64_t>(0x1.fffffffffffffp63, DType::kF64, DType::kU64) ==
        0xFFFFFFFFFFFFF800U);
  CHECK(convert_one<uint8_t>(-0.0, DType::kF64, DType::kU8) == 0);
  CHECK(convert_one<int32_t>(0x1.fffffep30F, DType::kF32, DType::kI32) == 2147483520);
}

TEST_CASE("dtype: the message of a lost integer names index value and range") {
  const std::vector<float> values = {1, 2, 2.5F};
  std::array<std::byte, 3> out{};
  CHECK_THROWS_WITH(
      convert_elements(reinterpret_cast<const std::byte*>(values.data()), DType::kF32, out.data(),
                       DType::kU8, values.size()),
      "element 2: 2.5 is not representable as u8; allowed are integers from 0 to 255");
}

TEST_CASE("dtype: integers keep their value in other integer types or are refused") {
  const std::array<int64_t, 15> values = {0,      1,          -1,         127,       128,
                                          -128,   -129,       255,        256,       65535,
                                          -32769, 2147483648, 4294967295, INT64_MAX, INT64_MIN};
  struct Range {
    DType dtype;
    int64_t min;
    int64_t max;
  };
  const std::array<Range, 7> ranges = {{{DType::kI8, -128, 127},
                                        {DType::kU8, 0, 255},
                                        {DType::kI16, -32768, 32767},
                                        {DType::kU16, 0, 65535},
                                        {DType::kI32, INT32_MIN, INT32_MAX},
                                        {DType::kU32, 0, UINT32_MAX},
                                        {DType::kU64, 0, INT64_MAX}}};
  for (const int64_t value : values) {
    for (const Range& range : ranges) {
      CAPTURE(value, dtype_name(range.dtype));
      std::array<std::byte, 8> out{};
      int64_t back = 0;
      const auto convert = [&] {
        convert_elements(reinterpret_cast<const std::byte*>(&value), DType::kI64, out.data(),
                         range.dtype, 1);
        convert_elements(out.data(), range.dtype, reinterpret_cast<std::byte*>(&back), DType::kI64,
                         1);
      };
      if (value >= range.min && value <= range.max) {
        convert();
        CHECK(back == value);
      } else {
        CHECK_THROWS_AS(convert(), FormatError);
      }
    }
  }
  CHECK_THROWS_AS(convert_one<int64_t>(uint64_t{1} << 63, DType::kU64, DType::kI64), FormatError);
}

TEST_CASE("dtype: bool is nonzero and reads as 0 or 1") {
  CHECK(convert_one<uint8_t>(0.0F, DType::kF32, DType::kBool) == 0);
  CHECK(convert_one<uint8_t>(-0.0F, DType::kF32, DType::kBool) == 0);
  CHECK(convert_one<uint8_t>(1e-45F, DType::kF32, DType::kBool) == 1);
  CHECK(convert_one<uint8_t>(std::nanf(""), DType::kF32, DType::kBool) == 1);
  CHECK(convert_one<uint8_t>(uint16_t{0x8000}, DType::kF16, DType::kBool) == 0);
  CHECK(convert_one<uint8_t>(uint16_t{0x0001}, DType::kBF16, DType::kBool) == 1);
  CHECK(convert_one<uint8_t>(int64_t{256}, DType::kI64, DType::kBool) == 1);
  CHECK(convert_one<float>(uint8_t{1}, DType::kBool, DType::kF32) == 1.0F);
  CHECK(convert_one<int64_t>(uint8_t{0}, DType::kBool, DType::kI64) == 0);
  CHECK(convert_one<uint16_t>(uint8_t{1}, DType::kBool, DType::kF16) == 0x3C00);
}

TEST_CASE("dtype: doubles round to float once and keep infinity and NaN") {
  CHECK(convert_one<float>(0x1.0000010000001p0, DType::kF64, DType::kF32) ==
        std::nextafter(1.0F, 2.0F));
  CHECK(convert_one<float>(0x1.000001p0, DType::kF64, DType::kF32) == 1.0F);
  CHECK(convert_one<float>(1e300, DType::kF64, DType::kF32) ==
        std::numeric_limits<float>::infinity());
  CHECK(std::isnan(convert_one<float>(std::nan(""), DType::kF64, DType::kF32)));
  CHECK(convert_one<double>(uint16_t{0x0001}, DType::kF16, DType::kF64) == 0x1p-24);
  CHECK(convert_one<uint16_t>(uint16_t{0x3C01}, DType::kF16, DType::kBF16) == 0x3F80);
  CHECK(convert_one<uint16_t>(uint16_t{0x7F7F}, DType::kBF16, DType::kF16) == 0x7C00);
}

TEST_CASE("dtype: integers round to the nearest float") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<int64_t>(random() >> (i % 40));
    const auto check = [&](auto low, auto result) {
      using Float = decltype(result);
      // Exact in long double, whose fraction has at least 64 bits where this test runs.
      static_assert(std::numeric_limits<long double>::digits >= 64);
      const auto exact = static_cast<long double>(value);
      const auto distance = [&](Float x) { return std::fabs(static_cast<long double>(x) - exact); };
      const Float next = std::nextafter(result, std::numeric_limits<Float>::infinity());
      const Float previous = std::nextafter(result, low);
      return distance(result) <= distance(next) && distance(result) <= distance(previous);
    };
    const auto as_float = convert_one<float>(value, DType::kI64, DType::kF32);
    const auto as_double = convert_one<double>(value, DType::kI64, DType::kF64);
    if (!check(-std::numeric_limits<float>::infinity(), as_float) ||
        !check(-std::numeric_limits<double>::infinity(), as_double)) {
      CAPTURE(value);
      FAIL_CHECK("not the nearest");
    }
  }
}

TEST_CASE("dtype: unaligned elements convert and every pair of types is there") {
  for (const DType from_type : kAllTypes) {
    for (const DType to_type : kAllTypes) {
      CAPTURE(dtype_name(from_type), dtype_name(to_type));
      const std::array<uint8_t, 5> ones_and_zeros = {1, 0, 0, 1, 1};
      std::array<std::byte, 48> from{};
      std::array<std::byte, 48> to{};
      std::array<uint8_t, 5> back{};
      convert_elements(reinterpret_cast<const std::byte*>(ones_and_zeros.data()), DType::kU8,
                       from.data() + 1, from_type, 5);
      convert_elements(from.data() + 1, from_type, to.data() + 3, to_type, 5);
      convert_elements(to.data() + 3, to_type, reinterpret_cast<std::byte*>(back.data()),
                       DType::kU8, 5);
      CHECK(back == ones_and_zeros);
      CHECK(to[2] == std::byte{0});
      CHECK(to[3 + 5 * dtype_size(to_type)] == std::byte{0});
    }
  }
}
