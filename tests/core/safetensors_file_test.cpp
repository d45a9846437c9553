// SPDX-License-Identifier: Apache-2.0
#include "core/safetensors_file.h"

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
using netcl::base::UsageError;
using netcl::core::DType;
using netcl::core::HostTensor;
using netcl::core::NamedTensor;
using netcl::core::SafetensorsFile;
using netcl::core::Shape;
using netcl::core::write_safetensors;

namespace {

std::string length_bytes(uint64_t length) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>((length >> shift) & 0xFF);
  }
  return bytes;
}

std::string file_of(const std::string& header, const std::string& data = "") {
  return length_bytes(header.size()) + header + data;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

// A file of one tensor x.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets,
                const std::string& data) {
  return file_of("{\"x\":" + entry(dtype, shape, offsets) + "}", data);
}

std::string read_back(const std::string& path) {
  return std::string(netcl::base::FileBytes::open(path).view());
}

const std::string kFour = "abcd";

}  // namespace

TEST_CASE("safetensors: tensors metadata and names come out") {
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"\xC3\xA9\"},\"w\":" +
                             entry("F32", "[1,2]", "[0,8]") +
                             ",\"s\":" + entry("U8", "[]", "[8,9]") +
                             ",\"none\":" + entry("I64", "[0,3]", "[9,9]") + "}   ";
  const std::string data = std::string("\0\0\x80\x3F\0\0\0\xC0", 8) + "A";
  const std::string bytes = file_of(header, data);
  const auto file = SafetensorsFile::over(bytes, "f.safetensors");
  CHECK(file.names() == std::vector<std::string>{"w", "s", "none"});
  CHECK(file.load("w").to_floats() == std::vector<float>{1, -2});
  CHECK(file.load("w").shape() == Shape{1, 2});
  CHECK(file.load("s").as<uint8_t>()[0] == 65);
  CHECK(file.load("s").shape() == Shape{});
  CHECK(file.load("none").shape() == Shape{0, 3});
  CHECK(file.contains("s"));
  CHECK_FALSE(file.contains("t"));
  CHECK(file.info("w").type.name == "F32");
  REQUIRE(file.metadata().size() == 2);
  CHECK(file.metadata()[0].first == "format");
  CHECK(file.metadata()[1].second == "\xC3\xA9");
  CHECK_THROWS_WITH(file.load("t"),
                    "f.safetensors: there is no tensor 't'; it has 'w', 's', 'none'");
  CHECK(SafetensorsFile::over(file_of("{}"), "f").names().empty());
}

TEST_CASE("safetensors: dtypes without a tensor type are listed and refused on loading") {
  for (const std::string dtype : {"F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}) {
    const std::string bytes = one(dtype, "[4]", "[0,4]", kFour);
    const auto file = SafetensorsFile::over(bytes, "f.st");
    CHECK(file.info("x").type.name == dtype);
    CHECK_THROWS_WITH(file.load("x"), StartsWith("f.st: tensor 'x': dtype " + dtype));
  }
  const std::string complex_bytes = one("C64", "[1]", "[0,8]", kFour + kFour);
  CHECK_THROWS_AS(SafetensorsFile::over(complex_bytes, "f").load("x"), FormatError);
  const std::string four_bits = one("F4", "[3,2]", "[0,3]", "abc");
  CHECK_THROWS_AS(SafetensorsFile::over(four_bits, "f").load("x"), FormatError);
  const std::string six_bits = one("F6_E2M3", "[4]", "[0,3]", "abc");
  CHECK(SafetensorsFile::over(six_bits, "f").names().size() == 1);
  const std::string deep = one("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]", "a");
  CHECK_THROWS_WITH(SafetensorsFile::over(deep, "f.st").load("x"),
                    StartsWith("f.st: tensor 'x': ") && Contains("9 axes"));
  const std::string wrong_bool = one("BOOL", "[3]", "[0,3]", std::string("\0\1\7", 3));
  CHECK_THROWS_WITH(SafetensorsFile::over(wrong_bool, "f.st").load("x"),
                    StartsWith("f.st@") && Contains("bool element 2 is 7"));
}

TEST_CASE("safetensors: damaged files are refused with the place") {
  struct Row {
    std::string what;
    std::string bytes;
    std::string message;
  };
  const auto header = [](const std::string& text) { return file_of(text, kFour); };
  const auto offsets = [](const std::string& text) { return one("U8", "[4]", text, kFour); };
  const auto shape = [](const std::string& text) { return one("F32", text, "[0,4]", kFour); };
  const std::string x = "\"x\":" + entry("U8", "[4]", "[0,4]");
  const auto two = [](const std::string& first, const std::string& second) {
    return file_of(
        "{\"a\":" + entry("U8", "[2]", first) + ",\"b\":" + entry("U8", "[2]", second) + "}",
        kFour);
  };
  const std::vector<Row> rows = {
      {"empty", "", "within the 8 bytes"},
      {"7 bytes", std::string(7, '\0'), "within the 8 bytes"},
      {"length 0", length_bytes(0) + "{}", "does not start with '{'"},
      {"length 1", length_bytes(1) + "{}", "not valid JSON"},
      {"length 3 of 2", length_bytes(3) + "{}", "only 2 more bytes"},
      {"length 2^31", length_bytes(uint64_t{1} << 31) + "{}", "above the limit"},
      {"length 2^63", length_bytes(uint64_t{1} << 63) + "{}", "above the limit"},
      {"length 2^64-1", length_bytes(~uint64_t{0}) + "{}", "above the limit"},
      {"length 2^64-8", length_bytes(~uint64_t{7}) + "{}", "above the limit"},
      {"length at limit", length_bytes(100'000'000) + "{}", "only 2 more bytes"},
      {"length above limit", length_bytes(100'000'001) + "{}", "above the limit"},
      {"no brace", header("[]"), "does not start with '{'"},
      {"leading blank", header(" {}"), "does not start with '{'"},
      {"byte order mark", header("\xEF\xBB\xBF{}"), "does not start with '{'"},
      {"not JSON", header("{x}"), "not valid JSON"},
      {"cut JSON", header("{\"x\":{"), "not valid JSON"},
      {"trailing text", header("{}x"), "not valid JSON"},
      {"trailing NUL", header(std::string("{}\0", 3)), "NUL byte"},
      {"not UTF-8", header("{\"\xFF\":1}"), "not valid JSON"},
      {"lone surrogate", header("{\"\\ud800\":1}"), "not valid JSON"},
      {"deep", header("{\"x\":" + std::string(100000, '[')), "tensor 'x': found an array"},
      {"deep objects", header("{\"x\":{\"dtype\":{\"a\":{"), "dtype: found an object"},
      {"number overflow", header("{\"x\":1e999}"), "not valid JSON"},
      {"tensor is null", header("{\"x\":null}"), "tensor 'x': found null"},
      {"tensor is number", header("{\"x\":1}"), "tensor 'x': found a number"},
      {"tensor is array", header("{\"x\":[\"U8\",[4],[0,4]]}"), "tensor 'x': found an array"},
      {"name twice", header("{" + x + "," + x + "}"), "tensor 'x': appears twice"},
      {"name twice escaped", header("{" + x + ",\"\\u0078\":" + entry("U8", "[0]", "[4,4]") + "}"),
       "tensor 'x': appears twice"},
      {"unknown dtype", one("F33", "[4]", "[0,4]", kFour), "dtype 'F33' is unknown"},
      {"lower case dtype", one("u8", "[4]", "[0,4]", kFour), "dtype 'u8' is unknown"},
      {"dtype number", header("{\"x\":{\"dtype\":8}}"), "dtype: found a number"},
      {"no dtype", header("{\"x\":{\"shape\":[4],\"data_offsets\":[0,4]}}"), "'dtype' is missing"},
      {"no shape", header("{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}"),
       "'shape' is missing"},
      {"no offsets", header("{\"x\":{\"dtype\":\"U8\",\"shape\":[4]}}"),
       "'data_offsets' is missing"},
      {"field twice", header("{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"),
       "'dtype' appears twice"},
      {"other field", header("{\"x\":{\"dtype\":\"U8\",\"crc\":1}}"), "unknown field 'crc'"},
      {"shape string", shape("\"4\""), "shape: found a string"},
      {"shape object", shape("{}"), "shape: found an object"},
      {"shape nested", shape("[[1]]"), "shape: found an array"},
      {"shape negative", shape("[-1]"), "shape: found a negative number"},
      {"shape minus 0", shape("[-0]"), "shape: found a negative number"},
      {"shape float", shape("[1.0]"), "shape: found a number"},
      {"shape exponent", shape("[1e0]"), "shape: found a number"},
      {"shape 2^63", shape("[9223372036854775808]"), "too large"},
      {"shape 2^64", shape("[18446744073709551616]"), "shape: found a number"},
      {"shape wraps", shape("[4294967296,4294967296]"), "no 64-bit whole number"},
      {"shape wraps to right size", one("U8", "[9223372036854775807,2,2,2]", "[0,4]", kFour),
       "no 64-bit whole number"},
      {"bits wrap", shape("[1152921504606846976]"), "no 64-bit whole number"},
      {"half a byte", one("F4", "[7]", "[0,4]", kFour), "no 64-bit whole number"},
      {"size too small", shape("[2]"), "need 8"},
      {"size too large", shape("[0]"), "need 0"},
      {"offsets string", offsets("\"0,4\""), "data_offsets: found a string"},
      {"offsets empty", offsets("[]"), "has 0 numbers"},
      {"one offset", offsets("[0]"), "has 1 numbers"},
      {"three offsets", offsets("[0,4,4]"), "more than 2"},
      {"negative offset", offsets("[-1,4]"), "data_offsets: found a negative number"},
      {"float offset", offsets("[0,4.0]"), "data_offsets: found a number"},
      {"reversed offsets", offsets("[4,0]"), "end before they begin"},
      {"offset past end", offsets("[0,5]"), "beyond the 4 bytes"},
      {"offset 2^64-1", offsets("[0,18446744073709551615]"), "beyond the 4 bytes"},
      {"both past end", offsets("[18446744073709551611,18446744073709551615]"), "beyond the 4"},
      {"hole before", one("U8", "[2]", "[2,4]", kFour), "a hole"},
      {"bytes after", one("U8", "[2]", "[0,2]", kFour), "2 bytes after the last tensor"},
      {"data without tensor", header("{}"), "4 bytes after the last tensor"},
      {"overlap", two("[0,2]", "[1,3]"), "an overlap"},
      {"same bytes twice", two("[0,2]", "[0,2]"), "an overlap"},
      {"hole between", two("[0,2]", "[3,5]"), "beyond the 4 bytes"},
      {"empty tensor in the middle of another",
       file_of(
           "{\"a\":" + entry("U8", "[4]", "[0,4]") + ",\"b\":" + entry("U8", "[0]", "[2,2]") + "}",
           kFour),
       "an overlap"},
      {"metadata null", header("{\"__metadata__\":null}"), "__metadata__: found null"},
      {"metadata array", header("{\"__metadata__\":[]}"), "__metadata__: found an array"},
      {"metadata number", header("{\"__metadata__\":{\"a\":1}}"), "value of 'a'"},
      {"metadata nested", header("{\"__metadata__\":{\"a\":{}}}"), "value of 'a'"},
      {"metadata twice", header("{\"__metadata__\":{},\"__metadata__\":{}}"), "appears twice"},
      {"metadata key twice", header("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}"),
       "key 'a' appears"},
  };
  CHECK(rows.size() >= 70);
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK_THROWS_AS(SafetensorsFile::over(row.bytes, "bad.safetensors"), FormatError);
    CHECK_THROWS_WITH(
        SafetensorsFile::over(row.bytes, "bad.safetensors"),
        StartsWith("bad.safetensors") && Contains(row.message) && !Contains("\n") &&
            (StartsWith("bad.safetensors@") || Contains("tensor '") || Contains("__metadata__")));
  }
}

TEST_CASE("safetensors: a message stays short however long the bad text is") {
  const std::string long_name(1'000'000, 'n');
  for (const std::string& header :
       {"{\"" + long_name + "\":1}", "{\"" + long_name, "{\"x\":{\"dtype\":\"" + long_name + "\"}}",
        "{\"x\":" + std::string(100'000, '9') + "}"}) {
    try {
      SafetensorsFile::over(file_of(header), "f");
      FAIL_CHECK("accepted");
    } catch (const FormatError& error) {
      CHECK(std::strlen(error.what()) < 400);
    }
  }
}

TEST_CASE("safetensors: a file cut at any length is refused") {
  const std::string whole = file_of(
      "{\"a\":" + entry("U8", "[3]", "[0,3]") + ",\"b\":" + entry("F32", "[2]", "[3,11]") + "} ",
      "abcdefghijk");
  for (size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<long>(length));
    CHECK_THROWS_AS(SafetensorsFile::over({cut.data(), cut.size()}, "cut"), FormatError);
  }
  CHECK(SafetensorsFile::over(whole, "whole").names().size() == 2);
}

TEST_CASE("safetensors: any changed header byte is refused or stays within the data") {
  const std::string whole = file_of(
      "{\"a\":" + entry("U8", "[3]", "[0,3]") + ",\"b\":" + entry("F32", "[2]", "[3,11]") + "}",
      "abcdefghijk");
  size_t refused = 0;
  for (size_t i = 0; i < whole.size() - 11; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      try {
        const auto file = SafetensorsFile::over(changed, "f");
        size_t bytes = 0;
        for (const std::string& name : file.names()) {
          try {
            bytes += file.load(name).byte_count();
          } catch (const FormatError&) {
            bytes += static_cast<size_t>(file.info(name).end - file.info(name).begin);
          }
        }
        CHECK(bytes == 11);
      } catch (const FormatError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 20000);
}

TEST_CASE("safetensors: data at any alignment loads right") {
  for (size_t padding = 0; padding < 8; ++padding) {
    const std::string header =
        "{\"a\":" + entry("U8", "[3]", "[0,3]") + ",\"b\":" + entry("F32", "[2]", "[3,11]") +
        ",\"c\":" + entry("F64", "[1]", "[11,19]") + "}" + std::string(padding, ' ');
    const double third = -0.3;
    std::string data = std::string("abc\0\0\x80\x3F\0\0\0\xC0", 11) + std::string(8, '\0');
    std::memcpy(data.data() + 11, &third, 8);
    const std::string bytes = file_of(header, data);
    const auto file = SafetensorsFile::over(bytes, "f");
    CHECK(file.load("b").to_floats() == std::vector<float>{1, -2});
    CHECK(file.load("c").to_doubles() == std::vector<double>{third});
  }
}

TEST_CASE("safetensors: a header of a megabyte loads") {
  std::string header = "{";
  for (int i = 0; i < 20000; ++i) {
    const std::string at = std::to_string(i);
    header += (i == 0 ? "\"t" : ",\"t") + at +
              "\":" + entry("U8", "[1]", "[" + at + "," + std::to_string(i + 1) + "]");
  }
  header += "}";
  CHECK(header.size() > 1'000'000);
  const std::string bytes = file_of(header, std::string(20000, 'z'));
  const auto file = SafetensorsFile::over(bytes, "f");
  CHECK(file.names().size() == 20000);
  CHECK(file.load("t19999").as<uint8_t>()[0] == 'z');
  CHECK_THROWS_WITH(file.load("u"), Contains("'t9' and 19990 more") && !Contains("'t10'"));
}

TEST_CASE("safetensors: a written file is laid out as the reference writer's") {
  const netcl::tests::TempDir folder;
  const std::string path = folder.file("a.safetensors");
  std::vector<NamedTensor> tensors;
  tensors.push_back({"b", HostTensor(DType::kU8, Shape{3})});
  tensors.push_back({"z", HostTensor(DType::kF32, Shape{1})});
  tensors.push_back({"a\n\"", HostTensor(DType::kF32, Shape{})});
  tensors.push_back({"h", HostTensor(DType::kBF16, Shape{0, 2})});
  tensors.push_back({"i", HostTensor(DType::kI64, Shape{1})});
  write_safetensors(path, tensors, {{"k", "v"}});
  const std::string bytes = read_back(path);
  const std::string expected = R"({"__metadata__":{"k":"v"},"i":)" + entry("I64", "[1]", "[0,8]") +
                               R"(,"a\n\"":)" + entry("F32", "[]", "[8,12]") +
                               ",\"z\":" + entry("F32", "[1]", "[12,16]") +
                               ",\"h\":" + entry("BF16", "[0,2]", "[16,16]") +
                               ",\"b\":" + entry("U8", "[3]", "[16,19]") + "}";
  const size_t padded = (expected.size() + 7) / 8 * 8;
  CHECK(bytes == length_bytes(padded) + expected + std::string(padded - expected.size(), ' ') +
                     std::string(19, '\0'));
}

TEST_CASE("safetensors: every dtype round trips byte for byte") {
  const netcl::tests::TempDir folder;
  const std::string path = folder.file("a.safetensors");
  std::vector<NamedTensor> tensors;
  const std::vector<int64_t> values = {1, 0, 1, 1};
  for (const auto& type : netcl::core::safetensors_types()) {
    if (type.dtype.has_value()) {
      tensors.push_back(
          {std::string(type.name), HostTensor::from_int64s(Shape{2, 2}, values).to(*type.dtype)});
    }
  }
  CHECK(tensors.size() == 13);
  write_safetensors(path, tensors);
  const std::string first = read_back(path);
  const auto file = SafetensorsFile::open(path);
  std::vector<NamedTensor> again;
  for (const std::string& name : file.names()) {
    again.push_back({name, file.load(name)});
    CHECK(again.back().tensor.to_int64s() == values);
    CHECK(again.back().tensor.shape() == Shape{2, 2});
  }
  write_safetensors(path, again, file.metadata());
  CHECK(read_back(path) == first);
}

TEST_CASE("safetensors: what cannot be written is refused and leaves no file") {
  const netcl::tests::TempDir folder;
  const std::string path = folder.file("a.safetensors");
  const auto refused = [&](const std::vector<std::string>& names,
                           const netcl::core::SafetensorsMetadata& metadata = {}) {
    std::vector<NamedTensor> tensors;
    for (const std::string& name : names) {
      tensors.push_back({name, HostTensor(DType::kF32, Shape{1})});
    }
    CHECK_THROWS_AS(write_safetensors(path, tensors, metadata), UsageError);
    CHECK(std::filesystem::is_empty(folder.path()));
  };
  refused({"x", "y", "x"});
  refused({"__metadata__"});
  refused({"\xFF"});
  refused({"x"}, {{"k", "\xC3"}});
  refused({"x"}, {{"k", "1"}, {"k", "2"}});
}

TEST_CASE("safetensors: an open file may move") {
  const netcl::tests::TempDir folder;
  const std::string path = folder.file("a.safetensors");
  const std::vector<NamedTensor> tensors = {{"x", HostTensor(DType::kI32, Shape{2})}};
  write_safetensors(path, tensors);
  SafetensorsFile first = SafetensorsFile::open(path);
  const SafetensorsFile second = std::move(first);
  CHECK(second.load("x").to_int64s() == std::vector<int64_t>{0, 0});
  CHECK(second.where() == path);
  CHECK_THROWS_AS(SafetensorsFile::open(folder.file("none")), netcl::base::IoError);
}
