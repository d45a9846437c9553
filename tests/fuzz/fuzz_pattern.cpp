// SPDX-License-Identifier: Apache-2.0
// Any text is a split pattern or a FormatError; a pattern's pieces are in order and within the
// text.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/pre_splitter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace netcl;
  constexpr std::string_view kText =
      "Don't  split\r\n\r\n12345 \xC3\xA9t\xC3\xA9!? \xFF\xE4\xB8\xAD";
  try {
    const auto splitter = text::make_regex_splitter({reinterpret_cast<const char*>(data), size});
    std::vector<text::Piece> pieces;
    splitter->split(kText, pieces);
    size_t end = 0;
    for (const text::Piece& piece : pieces) {
      NETCL_CHECK(piece.begin >= end && piece.end > piece.begin && piece.end <= kText.size());
      end = piece.end;
    }
  } catch (const base::FormatError&) {
  }
  return 0;
}
