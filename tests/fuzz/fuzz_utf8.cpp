// SPDX-License-Identifier: Apache-2.0
// Strict UTF-8 decoding against Table 3-7 of the Unicode standard, on any bytes.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "text/unicode.h"

namespace {

// Length of the well-formed sequence that `bytes` begin with; 0 when there is none.
size_t well_formed_length(std::string_view bytes) {
  struct Row {
    unsigned first_low, first_high, second_low, second_high;
    size_t length;
  };
  constexpr Row kTable[] = {
      {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
      {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
      {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
  const auto in = [&](size_t i, unsigned low, unsigned high) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    return byte >= low && byte <= high;
  };
  for (const Row& row : kTable) {
    if (bytes.size() >= row.length && in(0, row.first_low, row.first_high)) {
      return (row.length < 2 || in(1, row.second_low, row.second_high)) &&
                     (row.length < 3 || in(2, 0x80, 0xBF)) && (row.length < 4 || in(3, 0x80, 0xBF))
                 ? row.length
                 : 0;
    }
  }
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  bool valid = true;
  for (size_t at = 0; at < size;) {
    const text::DecodedChar character = text::decode_utf8(input, at);
    const size_t expected = well_formed_length(input.substr(at));
    NETCL_CHECK(character.well_formed == (expected != 0));
    if (expected != 0) {
      NETCL_CHECK(character.byte_count == expected);
      NETCL_CHECK(text::encode_utf8(character.code_point) == input.substr(at, expected));
    }
    NETCL_CHECK(character.byte_count >= 1 && character.byte_count <= size - at);
    valid = valid && character.well_formed;
    at += character.byte_count;
  }
  NETCL_CHECK(text::is_valid_utf8(input) == valid);
  return 0;
}
