// SPDX-License-Identifier: Apache-2.0
#include "core/json_tensor_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
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
using netcl::core::json_tensor_text;
using netcl::core::parse_json_tensor;
using netcl::core::Shape;

namespace {

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& data) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data":)" + data + "}";
}

HostTensor parse(const std::string& dtype, const std::string& data) {
  return parse_json_tensor(tensor(dtype, "[1]", data), "f.json");
}

}  // namespace

TEST_CASE("json tensor: fields come in any order and blanks do not matter") {
  const HostTensor read = parse_json_tensor(
      " {\n\"data\": [1, 2.5, -3, 4e0, 0.5E1, \"NaN\"],\t\"shape\":[2,3], \"dtype\":\"f32\"}\n",
      "f");
  CHECK(read.dtype() == DType::kF32);
  CHECK(read.shape() == Shape{2, 3});
  const auto values = read.to_floats();
  CHECK(std::vector<float>(values.begin(), values.begin() + 5) ==
        std::vector<float>{1, 2.5F, -3, 4, 5});
  CHECK(std::isnan(values[5]));
  CHECK(parse_json_tensor(tensor("i8", "[]", "[-7]"), "f").shape() == Shape{});
  CHECK(parse_json_tensor(tensor("f64", "[2,0]", "[]"), "f").shape() == Shape{2, 0});
}

TEST_CASE("json tensor: integers are exact and bools take both spellings") {
  CHECK(parse("u64", "[18446744073709551615]").as<uint64_t>()[0] == UINT64_MAX);
  CHECK(parse("i64", "[-9223372036854775808]").as<int64_t>()[0] == INT64_MIN);
  CHECK(parse("i64", "[9007199254740993]").as<int64_t>()[0] == 9007199254740993);
  CHECK(parse("u8", "[-0]").as<uint8_t>()[0] == 0);
  CHECK(parse_json_tensor(tensor("bool", "[4]", "[true,false,1,0]"), "f").to_int64s() ==
        std::vector<int64_t>{1, 0, 1, 0});
}

TEST_CASE("json tensor: decimals become the nearest float in one rounding") {
  // Just above the middle of 1 and the next float: as a double it is the middle itself.
  CHECK(parse("f32", "[1.00000005960464477539062500001]").as<float>()[0] ==
        std::nextafter(1.0F, 2.0F));
  CHECK(parse("f32", "[1.000000059604644775390625]").as<float>()[0] == 1.0F);
  CHECK(parse("f32", "[16777217]").as<float>()[0] == 16777216.0F);
  CHECK(parse("f32", "[36893488147419103232000]").as<float>()[0] == 36893488147419103232000.0F);
  CHECK(parse("f64", "[0.1]").as<double>()[0] == 0.1);
  CHECK(parse("f16", "[0.333251953125]").as<uint16_t>()[0] == 0x3555);
  CHECK(parse("bf16", "[3.140625]").as<uint16_t>()[0] == 0x4049);
  CHECK(parse("f32", "[1e-45]").as<float>()[0] == std::numeric_limits<float>::denorm_min());
  CHECK(parse("f32", "[1e-60]").as<float>()[0] == 0.0F);
  for (const std::string zero : {"[-0]", "[-0.0]", "[-1e-400]"}) {
    CHECK(std::signbit(parse("f32", zero).as<float>()[0]));
    CHECK(std::signbit(parse("f64", zero).as<double>()[0]));
  }
  CHECK(parse("f16", "[\"-Infinity\"]").as<uint16_t>()[0] == 0xFC00);
  CHECK(parse("bf16", "[\"Infinity\"]").as<uint16_t>()[0] == 0x7F80);
}

TEST_CASE("json tensor: damaged files are refused with the place") {
  struct Row {
    std::string text;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {std::string(100000, '['), "found an array"},
      {tensor("f32", "[1]", "[1]") + "x", "not valid JSON"},
      {tensor("f32", "[1]", "[1]") + std::string(1, '\0'), "NUL byte"},
      {"\xEF\xBB\xBF" + tensor("f32", "[1]", "[1]"), "byte order mark"},
      {tensor("f32", "[1]", "[NaN]"), "not valid JSON"},
      {tensor("f32", "[1]", "[1,]"), "not valid JSON"},
      {tensor("f32", "[1]", "[01]"), "not valid JSON"},
      {tensor("f32", "[1]", "[+1]"), "not valid JSON"},
      {tensor("f64", "[1]", "[1e999]"), "not valid JSON"},
      {tensor("f32\xFF", "[1]", "[1]"), "not valid JSON"},
      {"[]", "found an array"},
      {"null", "found null"},
      {"\"x\"", "found a string"},
      {"7", "found a number"},
      {"{}", "field 'dtype' is missing"},
      {R"({"dtype":"f32","data":[]})", "field 'shape' is missing"},
      {R"({"dtype":"f32","shape":[0]})", "field 'data' is missing"},
      {R"({"dtype":"f32","dtype":"f32"})", "'dtype' appears twice"},
      {R"({"dtype":"f32","name":"x"})", "unknown field 'name'"},
      {R"({"dtype":1})", "dtype: found a number"},
      {tensor("float32", "[1]", "[1]"), "dtype 'float32' is unknown"},
      {tensor("F32", "[1]", "[1]"), "dtype 'F32' is unknown"},
      {tensor("f32", "1", "[1]"), "shape: found a number"},
      {tensor("f32", "[1.0]", "[1]"), "shape: found a number"},
      {tensor("f32", "[-1]", "[1]"), "shape: found a negative number"},
      {tensor("f32", "[[1]]", "[1]"), "shape: found an array"},
      {tensor("f32", "[18446744073709551615]", "[1]"), "too large"},
      {tensor("f32", "[4294967296,4294967296]", "[]"), "too many elements"},
      {tensor("f32", "[1,1,1,1,1,1,1,1,1]", "[1]"), "more than 8 axes"},
      {tensor("f32", "[1000000000000]", "[1]"), "but data has 1"},
      {tensor("f32", "[2]", "[1]"), "but data has 1"},
      {tensor("f32", "[1]", "[1,2]"), "but data has 2"},
      {tensor("f32", "[]", "[]"), "but data has 0"},
      {tensor("f32", "[1]", "1"), "data: found a number"},
      {tensor("f32", "[1]", "{}"), "data: found an object"},
      {tensor("f32", "[1,1]", "[[1]]"), "data[0]: found an array"},
      {tensor("f32", "[2]", "[1,null]"), "data[1]: found null"},
      {tensor("f32", "[2]", "[1,{}]"), "data[1]: found an object"},
      {tensor("f32", "[1]", "[true]"), "data[0]: found true or false"},
      {tensor("f32", "[1]", "[\"nan\"]"), "data[0]: 'nan' is no number"},
      {tensor("f32", "[1]", "[\"1\"]"), "data[0]: '1' is no number"},
      {tensor("f32", "[2]", "[1,1e39]"), "data[1]: '1e39' is beyond the range of f32"},
      {tensor("f16", "[1]", "[65520]"), "'65520' is beyond the range of f16"},
      {tensor("f16", "[1]", "[-65520]"), "'-65520' is beyond the range of f16"},
      {tensor("bf16", "[1]", "[3.4e38]"), "beyond the range of bf16"},
      {tensor("i32", "[1]", "[1.0]"), "found '1.0', expected a whole number"},
      {tensor("i32", "[1]", "[1e3]"), "found '1e3', expected a whole number"},
      {tensor("i64", "[1]", "[9223372036854775808]"), "data[0]: 9223372036854775808 is not"},
      {tensor("u64", "[1]", "[18446744073709551616]"), "expected a whole number"},
      {tensor("u64", "[1]", "[-1]"), "data[0]: -1 is not"},
      {tensor("u8", "[2]", "[0,256]"), "data[1]: 256 is not"},
      {tensor("i32", "[1]", "[\"NaN\"]"), "found 'NaN'"},
      {tensor("bool", "[1]", "[2]"), "found 2, expected true, false, 0 or 1"},
      {tensor("bool", "[1]", "[-1]"), "found a negative number"},
      {tensor("bool", "[1]", "[1.0]"), "found '1.0'"},
      {tensor("bool", "[1]", "[\"true\"]"), "found 'true'"},
  };
  CHECK(rows.size() >= 50);
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 200));
    CHECK_THROWS_AS(parse_json_tensor(row.text, "bad.json"), FormatError);
    CHECK_THROWS_WITH(parse_json_tensor(row.text, "bad.json"),
                      (StartsWith("bad.json: ") || StartsWith("bad.json@")) &&
                          Contains(row.message) && !Contains("\n"));
  }
}

TEST_CASE("json tensor: a file cut or changed at any byte is refused or sound") {
  const std::string whole = tensor("f32", "[2,2]", "[1,2.5,\"NaN\",-0.0]");
  for (size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK_THROWS_AS(parse_json_tensor(whole.substr(0, length), "cut"), FormatError);
  }
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      try {
        if (parse_json_tensor(changed, "f").count() != 4) {
          FAIL_CHECK("accepted " << changed);
        }
      } catch (const FormatError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 10000);
}

TEST_CASE("json tensor: the text has the shortest numbers") {
  const std::vector<float> values = {0.1F, -0.0F, 1, 1e-30F, std::nanf(""), INFINITY, -INFINITY};
  const auto floats = HostTensor::from_floats(Shape{7}, values);
  CHECK(json_tensor_text(floats) ==
        "{\"dtype\":\"f32\",\"shape\":[7],\"data\":[0.1,-0.0,1,1e-30,\"NaN\",\"Infinity\","
        "\"-Infinity\"]}\n");
  const std::vector<int64_t> bits = {1, 0};
  CHECK(json_tensor_text(HostTensor::from_int64s(Shape{2, 1}, bits).to(DType::kBool)) ==
        "{\"dtype\":\"bool\",\"shape\":[2,1],\"data\":[true,false]}\n");
  CHECK(json_tensor_text(HostTensor(DType::kU64, Shape{})) ==
        "{\"dtype\":\"u64\",\"shape\":[],\"data\":[0]}\n");
}

TEST_CASE("json tensor: random bit patterns of every dtype round trip") {
  std::mt19937_64 random(11);
  for (const DType dtype :
       {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64, DType::kI32, DType::kI16,
        DType::kI8, DType::kU64, DType::kU32, DType::kU16, DType::kU8, DType::kBool}) {
    HostTensor written(dtype, Shape{50, 40});
    for (size_t i = 0; i < written.byte_count(); ++i) {
      written.data()[i] = static_cast<std::byte>(random() & (dtype == DType::kBool ? 1 : 255));
    }
    const HostTensor read = parse_json_tensor(json_tensor_text(written), "f");
    REQUIRE(read.dtype() == dtype);
    REQUIRE(read.shape() == written.shape());
    CHECK(json_tensor_text(read) == json_tensor_text(written));
    const size_t size = netcl::core::dtype_size(dtype);
    size_t wrong = 0;
    const auto doubles =
        netcl::core::is_floating(dtype) ? written.to_doubles() : std::vector<double>(2000, 0.0);
    for (size_t i = 0; i < 2000; ++i) {
      const bool same = std::equal(read.data() + i * size, read.data() + (i + 1) * size,
                                   written.data() + i * size);
      wrong += same || std::isnan(doubles[i]) ? 0 : 1;
    }
    CAPTURE(netcl::core::dtype_name(dtype));
    CHECK(wrong == 0);
  }
}

TEST_CASE("json tensor: files round trip") {
  const netcl::tests::TempDir folder;
  const std::string path = folder.file("a.json");
  const auto doubles = std::vector<double>{0.1, 5e-324};
  netcl::core::write_json_tensor(path, HostTensor::from_doubles(Shape{2}, doubles));
  CHECK(netcl::core::read_json_tensor(path).to_doubles() == doubles);
  CHECK_THROWS_AS(netcl::core::read_json_tensor(folder.file("none.json")), netcl::base::IoError);
}
