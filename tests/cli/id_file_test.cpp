// SPDX-License-Identifier: Apache-2.0
#include "text/id_file.h"

#include <limits>

#include "base/error.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using namespace netcl;

namespace {

// A .npy file by hand: version, header text as it is, data.
std::string npy(int major, const std::string& header, const std::string& data) {
  std::string bytes(text::kNpyMagic);
  bytes += static_cast<char>(major);
  bytes += '\0';
  const size_t length_bytes = major == 1 ? 2 : 4;
  for (size_t i = 0; i < length_bytes; ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  return bytes + header + data;
}

std::string dictionary(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) {
    bytes += static_cast<char>(value);
  }
  return bytes;
}

using Ids = std::vector<uint32_t>;

}  // namespace

TEST_CASE("npy ids: every integer type in both byte orders", "[cli]") {
  const auto read = [](const std::string& type, const std::string& data) {
    return text::parse_npy_ids(npy(1, dictionary(type, "(1,)"), data), "x.npy");
  };
  CHECK(read("|u1", bytes_of({200})) == Ids{200});
  CHECK(read("|i1", bytes_of({100})) == Ids{100});
  CHECK(read("<u2", bytes_of({1, 2})) == Ids{0x201});
  CHECK(read(">u2", bytes_of({1, 2})) == Ids{0x102});
  CHECK(read("<i4", bytes_of({1, 2, 3, 4})) == Ids{0x04030201});
  CHECK(read(">u4", bytes_of({0xFF, 2, 3, 4})) == Ids{0xFF020304});
  CHECK(read("<i8", bytes_of({1, 2, 3, 4, 0, 0, 0, 0})) == Ids{0x04030201});
  CHECK(read(">u8", bytes_of({0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF})) == Ids{0xFFFFFFFF});
}

TEST_CASE("npy ids: versions and spellings of the header", "[cli]") {
  const std::string data = bytes_of({5, 0, 0, 0, 6, 0, 0, 0});
  for (const int major : {1, 2, 3}) {
    CHECK(text::parse_npy_ids(npy(major, dictionary("<u4", "(2,)"), data), "x") == Ids{5, 6});
  }
  for (const char* header : {"{\"shape\": (2,), 'fortran_order': True , 'descr' :  \"<u4\"}   \n",
                             "  {'descr':'<u4','fortran_order':False,'shape':( 2 , )}",
                             "{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }\n"}) {
    INFO(header);
    CHECK(text::parse_npy_ids(npy(1, header, data), "x") == Ids{5, 6});
  }
  CHECK(text::parse_npy_ids(npy(1, dictionary("<u4", "(0,)"), ""), "x").empty());
}

TEST_CASE("npy ids: damaged or unsuitable files are refused", "[cli]") {
  const std::string good = npy(1, dictionary("<u4", "(2,)"), std::string(8, '\1'));
  for (size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK_THROWS_AS(text::parse_npy_ids(good.substr(0, length), "x"), base::FormatError);
  }
  CHECK_THROWS_AS(text::parse_npy_ids(good + "x", "x"), base::FormatError);
  const std::string eight(8, '\1');
  for (const std::string& bad : {
           npy(4, dictionary("<u4", "(2,)"), eight),
           npy(1, dictionary("<f4", "(2,)"), eight),
           npy(1, dictionary("<c8", "(1,)"), eight),
           npy(1, dictionary("|b1", "(8,)"), eight),
           npy(1, dictionary("|O", "(1,)"), eight),
           npy(1, dictionary("|u4", "(2,)"), eight),
           npy(1, dictionary("<u4", "()"), eight),
           npy(1, dictionary("<u4", "(1, 2)"), eight),
           npy(1, dictionary("<u4", "(-2,)"), eight),
           npy(1, dictionary("<u4", "(2.0,)"), eight),
           npy(1, dictionary("<u4", "(18446744073709551616,)"), eight),
           npy(1, dictionary("<u4", "(4611686018427387906,)"), eight),
           npy(1, dictionary("<u4", "(3,)"), eight),
           npy(1, "{'descr': '<u4', 'fortran_order': False}\n", eight),
           npy(1, "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (2,)}\n", eight),
           npy(1, "{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (2,)}\n",
               eight),
           npy(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (2,), 'x': '1'}\n", eight),
           npy(1, "{'descr': '<u4', 'fortran_order': Maybe, 'shape': (2,)}\n", eight),
           npy(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (2,)} more\n", eight),
           npy(1, "", eight),
       }) {
    INFO(bad);
    CHECK_THROWS_AS(text::parse_npy_ids(bad, "x"), base::FormatError);
  }
}

TEST_CASE("npy ids: parts of any size give the ids of the whole", "[cli]") {
  for (const std::string type : {"<u4", ">i8", "|u1"}) {
    const size_t width = static_cast<size_t>(type[2] - '0');
    std::string data(5 * width, '\0');
    for (size_t i = 0; i < 5; ++i) {
      data[i * width + (type[0] == '<' ? 0 : width - 1)] = static_cast<char>(10 + i);
    }
    const std::string file = npy(2, dictionary(type, "(5,)"), data);
    for (size_t part = 1; part <= file.size(); ++part) {
      text::NpyIdReader reader("x.npy");
      Ids ids;
      for (size_t at = 0; at < file.size(); at += part) {
        reader.push(std::string_view(file).substr(at, part), ids);
      }
      reader.finish();
      REQUIRE(ids == Ids{10, 11, 12, 13, 14});
    }
  }
}

TEST_CASE("npy ids: what cannot become a file is refused before it ends", "[cli]") {
  const auto refused = [](const std::string& bytes) {
    text::NpyIdReader reader("x.npy");
    Ids ids;
    reader.push(bytes, ids);
  };
  CHECK_THROWS_WITH(refused(std::string(1, '\0')), Catch::StartsWith("x.npy@0: not a .npy file"));
  CHECK_THROWS_WITH(refused(std::string(text::kNpyMagic) + std::string("\2\0\1\0\x10\0", 6)),
                    "x.npy@8: .npy header of 1048577 bytes; it may have 1048576");
  const std::string header = npy(1, dictionary("<u2", "(1,)"), "");
  CHECK_THROWS_WITH(refused(header + "abc"), "x.npy@" + std::to_string(header.size() + 2) +
                                                 ": more data than 1 numbers of 2 bytes");
  CHECK_NOTHROW(refused(header + "ab"));
  CHECK_NOTHROW(refused(std::string(text::kNpyMagic) + std::string("\2\0\0\0\x10\0", 6)));
}

TEST_CASE("npy ids: a value that is no id is named with its position", "[cli]") {
  const auto message = [](const std::string& type, const std::string& data) {
    try {
      text::parse_npy_ids(npy(1, dictionary(type, "(1,)"), data), "x.npy");
    } catch (const base::FormatError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message("|i1", bytes_of({0xFF})) ==
        "x.npy: id -1 at position 0 is out of range; ids are 0 to 4294967295");
  CHECK(message("<i8", std::string(8, '\xFF')) ==
        "x.npy: id -1 at position 0 is out of range; ids are 0 to 4294967295");
  CHECK(message("<u8", bytes_of({0, 0, 0, 0, 1, 0, 0, 0})) ==
        "x.npy: id 4294967296 at position 0 is out of range; ids are 0 to 4294967295");
}

TEST_CASE("npy writer: what is written reads back and has NumPy's layout", "[cli]") {
  tests::TempDir folder;
  const std::string path = folder.file("ids.npy");
  for (const size_t count : {size_t{0}, size_t{1}, size_t{100000}}) {
    Ids ids(count);
    for (size_t i = 0; i < count; ++i) {
      ids[i] = static_cast<uint32_t>(i * 2654435761u);
    }
    base::OutputFile out(path);
    text::NpyWriter writer(out, text::NpyNumber::kU32);
    writer.write(std::span<const uint32_t>(ids).first(count / 2));
    writer.write(std::span<const uint32_t>(ids).subspan(count / 2));
    writer.finish();
    out.commit();
    const base::FileBytes file = base::FileBytes::open(path);
    CHECK(text::parse_npy_ids(file.view(), path) == ids);
    CHECK(file.view().size() == 128 + 4 * count);
    CHECK(file.view()[127] == '\n');
    CHECK(file.view().find("'shape': (" + std::to_string(count) + ",)") != std::string::npos);
  }
}

TEST_CASE("npy writer: columns make a second axis", "[cli]") {
  tests::TempDir folder;
  const std::string path = folder.file("spans.npy");
  base::OutputFile out(path);
  text::NpyWriter writer(out, text::NpyNumber::kU64, 2);
  const std::vector<uint64_t> numbers{1, 2, 3, std::numeric_limits<uint64_t>::max()};
  writer.write(std::span<const uint64_t>(numbers));
  writer.finish();
  out.commit();
  const base::FileBytes file = base::FileBytes::open(path);
  CHECK(file.view().find("'descr': '<u8', 'fortran_order': False, 'shape': (2, 2), }") !=
        std::string::npos);
  CHECK(file.view().size() == 128 + 32);
  CHECK(file.view().substr(128 + 24) == std::string(8, '\xFF'));
}
