// SPDX-License-Identifier: Apache-2.0
// Paragraphs to lines, as Python's textwrap does it.
#ifndef NETCL_TEXT_JINJA_WRAP_H_
#define NETCL_TEXT_JINJA_WRAP_H_

#include <cstddef>
#include <vector>

#include "text/jinja_budget.h"
#include "text/jinja_text.h"

namespace netcl::text::jinja {

// How textwrap.wrap() is told to break lines; white space stays as it is but for what stands at a
// break.
struct WrapStyle {
  size_t width = 79;              // characters of a line, at least 1
  bool breaks_long_words = true;  // words longer than a line are cut
  bool breaks_on_hyphens = true;  // compound words may be broken behind their hyphens
};

// The lines of a text without line ends. Cost: linear in the text.
std::vector<Text> wrapped(const Text& text, const WrapStyle& style, Budget& budget);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_WRAP_H_
