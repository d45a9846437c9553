// SPDX-License-Identifier: Apache-2.0
// What string methods and filters share.
#ifndef NETCL_TEXT_JINJA_STR_H_
#define NETCL_TEXT_JINJA_STR_H_

#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_engine.h"
#include "text/jinja_value.h"

namespace netcl::text::jinja {

using StringMethod = Value (*)(Engine&, const Value& self, Arguments&);
// Methods that answer something about a string; null for others.
StringMethod find_asking_method(std::string_view name);

// The bytes of a string; throws Failure in the name of `user` for other values.
const std::string& string_of(const Value& value, std::string_view user);

// Without the white space, or the characters of `chars`, at either end.
Text stripped(const Text& text, const std::string* chars, bool left, bool right, Budget& budget);
// The first `limit` (negative: all) occurrences of `old` replaced.
Text replaced(const Text& text, const std::string& old, const Text& now, Int limit, Budget& budget);
// Pieces between runs of white space, or between separators; at most `limit` cuts. The budget pays
// for each piece as a value.
std::vector<Text> split_words(const Text& text, Int limit, bool from_right, Budget& budget);
std::vector<Text> split_at(const Text& text, const std::string& separator, Int limit,
                           bool from_right, Budget& budget);
std::vector<Text> split_lines(const Text& text, bool keep_ends, Budget& budget);
// Begin of the first occurrence from `at` on, or of the last one that ends at `end` at most; npos
// without one. In linear time, other than std::string has it.
size_t find_from(std::string_view text, std::string_view wanted, size_t at);
size_t find_back(std::string_view text, std::string_view wanted, size_t end, Budget& budget);
void append_repeated(const Text& text, Int count, Text& out);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_STR_H_
