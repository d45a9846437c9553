// SPDX-License-Identifier: Apache-2.0
#include "core/npy_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using netcl::base::FormatError;
using netcl::core::DType;
using netcl::core::HostTensor;
using netcl::core::npy_bytes;
using netcl::core::parse_npy;
using netcl::core::Shape;

namespace {

// A file of the version with the dictionary as it stands, without padding.
std::string npy(const std::string& dict, const std::string& data, int major = 1, int minor = 0) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(major), static_cast<char>(minor)};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>((dict.size() >> (8 * i)) & 0xFF);
  }
  return bytes + dict + data;
}

std::string dict(const std::string& descr, const std::string& shape,
                 const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <typename T>
std::string raw(const std::vector<T>& values, bool big_endian = false) {
  std::string bytes;
  for (const T value : values) {
    std::array<char, sizeof(T)> element{};
    std::memcpy(element.data(), &value, sizeof value);
    if (big_endian != (std::endian::native == std::endian::big)) {
      std::reverse(element.begin(), element.end());
    }
    bytes.append(element.data(), element.size());
  }
  return bytes;
}

const std::string kTwoFloats = raw<float>({1.0F, -2.5F});

}  // namespace

TEST_CASE("npy: all dtypes and both byte orders are read") {
  const auto check = [](const std::string& code, DType dtype, auto zero, bool big) {
    using T = decltype(zero);
    const std::vector<T> values = {static_cast<T>(1), static_cast<T>(0), static_cast<T>(0x41)};
    const std::string file = npy(dict((big ? ">" : "<") + code, "(3,)"), raw<T>(values, big));
    const HostTensor tensor = parse_npy(file, "f.npy");
    CAPTURE(code, big);
    CHECK(tensor.dtype() == dtype);
    CHECK(tensor.shape() == Shape{3});
    const auto got = tensor.as<T>();
    CHECK(std::vector<T>(got.begin(), got.end()) == values);
  };
  for (const bool big : {false, true}) {
    check("f8", DType::kF64, double{}, big);
    check("f4", DType::kF32, float{}, big);
    check("f2", DType::kF16, uint16_t{}, big);
    check("i8", DType::kI64, int64_t{}, big);
    check("i4", DType::kI32, int32_t{}, big);
    check("i2", DType::kI16, int16_t{}, big);
    check("i1", DType::kI8, int8_t{}, big);
    check("u8", DType::kU64, uint64_t{}, big);
    check("u4", DType::kU32, uint32_t{}, big);
    check("u2", DType::kU16, uint16_t{}, big);
    check("u1", DType::kU8, uint8_t{}, big);
  }
  CHECK(parse_npy(npy(dict("|b1", "(2,)"), std::string("\1\0", 2)), "f").dtype() == DType::kBool);
  for (const std::string descr : {"|u1", "u1", "=u1", "<u1"}) {
    CHECK(parse_npy(npy(dict(descr, "(1,)"), "A"), "f").as<uint8_t>()[0] == 65);
  }
  if constexpr (std::endian::native == std::endian::little) {
    for (const std::string descr : {"f4", "=f4", "|f4"}) {
      CHECK(parse_npy(npy(dict(descr, "(2,)"), kTwoFloats), "f").to_floats()[1] == -2.5F);
    }
  }
}

TEST_CASE("npy: Fortran order becomes row-major") {
  // Element (i, j, k) of shape [2, 3, 4] has the value 100 i + 10 j + k.
  std::vector<float> fortran;
  std::vector<float> row_major;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        fortran.push_back(static_cast<float>(100 * i + 10 * j + k));
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        row_major.push_back(static_cast<float>(100 * i + 10 * j + k));
      }
    }
  }
  for (const bool big : {false, true}) {
    const HostTensor tensor = parse_npy(
        npy(dict(big ? ">f4" : "<f4", "(2, 3, 4)", "True"), raw<float>(fortran, big)), "f.npy");
    CHECK(tensor.shape() == Shape{2, 3, 4});
    CHECK(tensor.to_floats() == row_major);
  }
  CHECK(parse_npy(npy(dict("<f4", "(2,)", "True"), kTwoFloats), "f").to_floats()[0] == 1.0F);
  CHECK(parse_npy(npy(dict("<f4", "(3, 0, 2)", "True"), ""), "f").shape() == Shape{3, 0, 2});
}

TEST_CASE("npy: scalars empty arrays and eight axes are read") {
  CHECK(parse_npy(npy(dict("<f4", "()"), raw<float>({3.0F})), "f").shape() == Shape{});
  CHECK(parse_npy(npy(dict("<f4", "(0,)"), ""), "f").shape() == Shape{0});
  CHECK(parse_npy(npy(dict("<f4", "(2, 0, 8)"), ""), "f").shape() == Shape{2, 0, 8});
  CHECK(parse_npy(npy(dict("|u1", "(1, 1, 1, 1, 1, 1, 1, 1)"), "x"), "f").shape().rank() == 8);
}

TEST_CASE("npy: every version and way to write the dictionary is read") {
  const auto same = [](const std::string& file) {
    CAPTURE(file);
    const HostTensor tensor = parse_npy(file, "f.npy");
    CHECK(tensor.shape() == Shape{2, 1});
    CHECK(tensor.to_floats() == std::vector<float>{1.0F, -2.5F});
  };
  for (const int major : {1, 2, 3}) {
    same(npy(dict("<f4", "(2, 1)"), kTwoFloats, major));
  }
  same(npy("{'shape': (2, 1), 'fortran_order': False, 'descr': '<f4'}\n", kTwoFloats));
  same(npy("{\"shape\":(2,1),\"descr\":\"<f4\",\"fortran_order\":False}", kTwoFloats));
  same(npy("  { 'shape' : ( 2 , 1 , ) ,\t'descr' : '<f4' , 'fortran_order' : False , }  \n",
           kTwoFloats));
  same(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 1L), }\n", kTwoFloats));
  // Data at a multiple of 16, as older files have it.
  std::string old = dict("<f4", "(2, 1)");
  old.insert(old.size() - 1, (16 - (10 + old.size()) % 16) % 16, ' ');
  same(npy(old, kTwoFloats));
  same(npy(dict("<f4", "(2, 1)") + std::string(70000, ' ') + "\n", kTwoFloats, 2));
}

TEST_CASE("npy: damaged files are refused with the place") {
  struct Row {
    std::string what;
    std::string bytes;
    std::string message;  // a part of it
  };
  const std::string good = npy(dict("<f4", "(2,)"), kTwoFloats);
  const auto with_dict = [](const std::string& text) { return npy(text, kTwoFloats); };
  const auto with_shape = [](const std::string& shape, const std::string& data) {
    return npy(dict("<f4", shape), data);
  };
  const std::string many_axes =
      "(" + std::string(100000, ' ') + "1," + std::string(30000, '1') + ")";
  std::vector<Row> rows = {
      {"empty", "", "within the magic"},
      {"cut magic", "\x93NUM", "within the magic"},
      {"other magic", "\x93NUMPX" + good.substr(6), "starts with \\x93NUMPY"},
      {"text", "hello, world", "starts with \\x93NUMPY"},
      {"zip", "PK\x03\x04" + good, ".npz"},
      {"gzip", "\x1F\x8B\x08" + good, "gzip -dc"},
      {"zstd", "\x28\xB5\x2F\xFD" + good, "zstd -dc"},
      {"no version", "\x93NUMPY\x01", "before its version"},
      {"no length", std::string("\x93NUMPY\x01\x00\x05", 9), "before its header"},
      {"version 0", npy(dict("<f4", "(2,)"), kTwoFloats, 0), "version 0.0 is unknown"},
      {"version 4", npy(dict("<f4", "(2,)"), kTwoFloats, 4), "version 4.0 is unknown"},
      {"version 9", npy(dict("<f4", "(2,)"), kTwoFloats, 9), "version 9.0 is unknown"},
      {"version 1.1", npy(dict("<f4", "(2,)"), kTwoFloats, 1, 1), "version 1.1 is unknown"},
      {"length past end", std::string("\x93NUMPY\x01\x00\xFF\xFF", 10) + "{}", "only 2 more"},
      {"huge length", std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12) + "{}", "4294967295"},
      {"length 0", std::string("\x93NUMPY\x01\x00\x00\x00", 10), "expected '{'"},
      {"no dictionary", with_dict("[1, 2]\n"), "expected '{'"},
      {"open dictionary", with_dict("{'descr': '<f4', "), "expected a quoted string"},
      {"empty dictionary", with_dict("{}\n"), "key 'descr' is missing"},
      {"no order", with_dict("{'descr': '<f4', 'shape': (2,)}\n"),
       "key 'fortran_order' is missing"},
      {"no shape", with_dict("{'descr': '<f4', 'fortran_order': False}\n"), "'shape' is missing"},
      {"extra key", with_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}\n"),
       "unknown key 'x'"},
      {"key twice",
       with_dict("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
                 "'shape': (2,)}\n"),
       "key 'descr' appears twice"},
      {"key not ASCII", with_dict("{'d\xC3\xA9': '<f4'}\n"), "unknown key"},
      {"key open", with_dict("{'descr: <f4"), "does not end"},
      {"no colon", with_dict("{'descr' '<f4'}\n"), "expected ':'"},
      {"no comma", with_dict("{'descr': '<f4' 'shape': (2,)}\n"), "expected ',' or '}'"},
      {"two commas", with_dict("{'descr': '<f4',, 'shape': (2,)}\n"), "quoted string as a key"},
      {"trailing text", with_dict(dict("<f4", "(2,)") + "x"), "text after the dictionary"},
      {"trailing NUL", with_dict(dict("<f4", "(2,)") + std::string(1, '\0')), "text after"},
      {"order is 0", with_dict("{'fortran_order': 0}\n"), "must be True or False"},
      {"order is cut", with_dict("{'fortran_order': Fals"), "must be True or False"},
      {"object", npy(dict("|O", "(1,)"), "\x80\x04}."), "pickle"},
      {"complex", npy(dict("<c8", "(1,)"), std::string(8, '\0')), "complex"},
      {"bytes", npy(dict("|S4", "(1,)"), "abcd"), "strings"},
      {"unicode", npy(dict("<U1", "(1,)"), "abcd"), "strings"},
      {"void", npy(dict("|V4", "(1,)"), "abcd"), "structured"},
      {"time", npy(dict("<M8[ns]", "(1,)"), std::string(8, '\0')), "times"},
      {"long double", npy(dict("<f16", "(1,)"), std::string(16, '\0')), "numbers of that size"},
      {"3 bytes", npy(dict("<i3", "(1,)"), "abc"), "numbers of that size"},
      {"bool of 2", npy(dict("<b2", "(1,)"), "ab"), "numbers of that size"},
      {"no dtype", npy(dict("", "(1,)"), "abcd"), "dtype ''"},
      {"only order", npy(dict("<", "(1,)"), "abcd"), "dtype '<'"},
      {"two orders", npy(dict("<>f4", "(2,)"), kTwoFloats), "dtype '<>f4'"},
      {"structured",
       with_dict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}\n"),
       "structured dtype"},
      {"dtype number", with_dict("{'descr': 4, 'fortran_order': False, 'shape': (2,)}\n"),
       "quoted string as descr"},
      {"shape number", with_shape("(2)", kTwoFloats), "one axis is written (2,)"},
      {"shape list", with_shape("[2,]", kTwoFloats), "expected '(' of shape"},
      {"shape open", with_dict("{'shape': (2, "), "expected a number"},
      {"shape blank", with_shape("(1 2)", kTwoFloats), "expected ',' or ')'"},
      {"shape comma", with_shape("(,)", kTwoFloats), "expected a number"},
      {"shape float", with_shape("(2.0,)", kTwoFloats), "expected ',' or ')'"},
      {"shape word", with_shape("(True,)", kTwoFloats), "expected a number"},
      {"shape octal", with_shape("(02,)", kTwoFloats), "starts with 0"},
      {"negative", with_shape("(-1,)", kTwoFloats), "negative axis"},
      {"plus", with_shape("(+2,)", kTwoFloats), "expected a number"},
      {"nine axes", with_shape("(1, 1, 1, 1, 1, 1, 1, 1, 1)", kTwoFloats), "more than 8 axes"},
      {"axis of 65 bits", with_shape("(18446744073709551616,)", kTwoFloats), "beyond 64 bits"},
      {"axis of 2^63", with_shape("(9223372036854775808,)", kTwoFloats), "beyond 64 bits"},
      {"axis of 2^63-1", with_shape("(9223372036854775807,)", kTwoFloats), "ends early"},
      {"wrapping axes", with_shape("(4294967296, 4294967296)", kTwoFloats), "too many elements"},
      {"wrapping bytes", with_shape("(4611686018427387904,)", ""), "ends early"},
      {"wrapping empty", with_shape("(0, 4294967296, 4294967296)", ""), "too many elements"},
      {"endless axis", npy(dict("<f4", many_axes), "", 2), "beyond 64 bits"},
      {"short data", with_shape("(3,)", kTwoFloats), "the data ends early"},
      {"half an element", with_shape("(2,)", kTwoFloats.substr(0, 7)), "the data ends early"},
      {"no data", with_shape("(1,)", ""), "the data ends early"},
      {"long data", with_shape("(1,)", kTwoFloats), "4 bytes after the data"},
      {"one byte more", with_shape("(2,)", kTwoFloats + "x"), "1 bytes after the data"},
      {"two arrays", good + good, "exactly one array"},
      {"data of empty", with_shape("(0,)", kTwoFloats), "8 bytes after the data"},
      {"bool of 2", npy(dict("|b1", "(2,)"), "\1\2"), "bool element 1 is 2"},
  };
  CHECK(rows.size() >= 60);
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK_THROWS_AS(parse_npy(row.bytes, "bad.npy"), FormatError);
    CHECK_THROWS_WITH(parse_npy(row.bytes, "bad.npy"),
                      StartsWith("bad.npy@") && Contains(row.message) && !Contains("\n"));
  }
}

TEST_CASE("npy: a file cut at any length is refused") {
  for (const std::string order : {"False", "True"}) {
    const std::string whole = npy(dict("<f4", "(2, 3)", order), std::string(24, 'x'));
    for (size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(length);
      // A copy of its own, so that a read past the end is a sanitizer's finding.
      const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<long>(length));
      CHECK_THROWS_AS(parse_npy({cut.data(), cut.size()}, "cut.npy"), FormatError);
    }
    CHECK(parse_npy(whole, "whole.npy").count() == 6);
  }
}

TEST_CASE("npy: any changed header byte is refused or gives a tensor of the data's size") {
  const std::string whole = npy_bytes(HostTensor(DType::kF32, Shape{2, 3}), "f.npy");
  size_t refused = 0;
  for (size_t i = 0; i < whole.size() - 24; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      try {
        const HostTensor tensor = parse_npy(changed, "f.npy");
        if (tensor.byte_count() != 24) {
          FAIL_CHECK("byte " << i << " as " << value << " gives shape " << tensor.shape().text());
        }
      } catch (const FormatError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 20000);
}

TEST_CASE("npy: a written file has NumPy's header and reads back") {
  struct Row {
    DType dtype;
    Shape shape;
    std::string dict;
  };
  const std::vector<Row> rows = {
      {DType::kF32, Shape{2, 3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
      {DType::kF64, Shape{5}, "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }"},
      {DType::kF16, Shape{}, "{'descr': '<f2', 'fortran_order': False, 'shape': (), }"},
      {DType::kI64, Shape{0, 4}, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 4), }"},
      {DType::kU8, Shape{1}, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }"},
      {DType::kI8, Shape{1}, "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }"},
      {DType::kBool, Shape{1}, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }"},
  };
  for (const Row& row : rows) {
    const HostTensor tensor(row.dtype, row.shape);
    const std::string bytes = npy_bytes(tensor, "f.npy");
    CAPTURE(row.dict);
    CHECK_THAT(bytes.substr(10), StartsWith(row.dict + " "));
    const size_t data_start = bytes.size() - tensor.byte_count();
    CHECK(data_start % 64 == 0);
    CHECK(bytes[data_start - 1] == '\n');
    CHECK(bytes.substr(6, 2) == std::string("\1\0", 2));
    const HostTensor back = parse_npy(bytes, "f.npy");
    CHECK(back.dtype() == row.dtype);
    CHECK(back.shape() == row.shape);
    CHECK(npy_bytes(back, "f.npy") == bytes);
  }
}

TEST_CASE("npy: files round trip and bf16 is refused before anything is written") {
  const netcl::tests::TempDir folder;
  const std::vector<double> values = {0.1, -0.0, 1e300, 5e-324};
  const auto tensor = HostTensor::from_doubles(Shape{2, 2}, values);
  const std::string path = folder.file("a.npy");
  netcl::core::write_npy(path, tensor);
  CHECK(netcl::core::read_npy(path).to_doubles() == values);
  CHECK(netcl::base::FileBytes::open(path).view() == npy_bytes(tensor, "a.npy"));
  const std::string other = folder.file("b.npy");
  CHECK_THROWS_AS(netcl::core::write_npy(other, tensor.to(DType::kBF16)), netcl::base::UsageError);
  CHECK_THROWS_WITH(npy_bytes(tensor.to(DType::kBF16), "b.npy"),
                    "b.npy: .npy has no bf16 type; write .safetensors, or f32");
  CHECK_FALSE(std::filesystem::exists(other));
  CHECK_THROWS_AS(netcl::core::read_npy(other), netcl::base::IoError);
  CHECK_THROWS_AS(netcl::core::read_npy(folder.path().string()), netcl::base::IoError);
}
