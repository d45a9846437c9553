// SPDX-License-Identifier: Apache-2.0
// The first byte chooses a known pattern, the rest is text: its pieces cover it without gap, and
// strict UTF-8 decoding walks it in steps that add up.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/pre_splitter.h"
#include "text/unicode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  if (size == 0) {
    return 0;
  }
  static const auto* const splitters = [] {
    auto* all = new std::vector<std::shared_ptr<const text::PreSplitter>>();
    for (const std::string_view name : text::splitter_names()) {
      all->push_back(text::make_named_splitter(name));
    }
    return all;
  }();
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<text::Piece> pieces;
  (*splitters)[data[0] % splitters->size()]->split(input, pieces);
  size_t end = 0;
  for (const text::Piece& piece : pieces) {
    NETCL_CHECK(piece.begin == end && piece.end > piece.begin);
    end = piece.end;
  }
  NETCL_CHECK(end == input.size());
  size_t at = 0;
  bool valid = true;
  while (at < input.size()) {
    const text::DecodedChar character = text::decode_utf8(input, at);
    NETCL_CHECK(character.byte_count >= 1 && character.byte_count <= input.size() - at);
    NETCL_CHECK(!character.well_formed ||
                text::encode_utf8(character.code_point) == input.substr(at, character.byte_count));
    valid = valid && character.well_formed;
    at += character.byte_count;
  }
  NETCL_CHECK(text::is_valid_utf8(input) == valid);
  return 0;
}
