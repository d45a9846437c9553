// SPDX-License-Identifier: Apache-2.0
#include "text/document_cut.h"

#include <algorithm>

#include "text/scanner_rules.h"

namespace netcl::text {

namespace {

// The character that ends at `end` > 0.
ScanChar char_before(const ScanText& text, size_t end) {
  for (size_t length = std::min<size_t>(end, 4); length > 1; --length) {
    const ScanChar c = text.at(end - length);
    if (c.byte_count == length) {
      return c;
    }
  }
  return text.at(end - 1);
}

}  // namespace

size_t find_safe_cut(std::string_view text, size_t from) {
  const ScanText scan(text);
  size_t line_feed = text.find('\n', std::max<size_t>(from, 2) - 1);
  while (line_feed != std::string_view::npos && line_feed + 1 < text.size()) {
    if (scan.at(line_feed + 1).has(kLetter) && !char_before(scan, line_feed).has(kSpace)) {
      return line_feed + 1;
    }
    line_feed = text.find('\n', line_feed + 1);
  }
  return text.size();
}

}  // namespace netcl::text
