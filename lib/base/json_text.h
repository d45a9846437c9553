// SPDX-License-Identifier: Apache-2.0
// Values of JSON as they stand in its text: numbers with all their digits, which a parsed value
// does not keep. The functions do not check the text, they find their way in valid JSON; in
// anything else they find nothing or some part of the text.
#ifndef NETCL_BASE_JSON_TEXT_H_
#define NETCL_BASE_JSON_TEXT_H_

#include <cstddef>
#include <string_view>

namespace netcl::base {

// Behind the closing quote of the string that begins at `at`, or npos when it does not end.
size_t json_string_end(std::string_view text, size_t at);

// The value of the member `key` of an object, of the first where there are several; the `index`-th
// element of an array. Empty when `text` is no such container or has none.
std::string_view json_member_text(std::string_view text, std::string_view key);
std::string_view json_element_text(std::string_view text, size_t index);

// Offset of the first number that is written exactly so, or npos.
size_t find_json_number(std::string_view text, std::string_view digits);

// Offset of the string number `index` of all, keys and values, counted from 0; or npos.
size_t find_json_string(std::string_view text, size_t index);

// Offset of the first bracket that opens an array or object on level `depth`, the outermost being
// 1; or npos.
size_t find_json_depth(std::string_view text, size_t depth);

// Whether the text is one number of JSON's grammar and nothing else.
bool is_json_number(std::string_view text);

}  // namespace netcl::base

#endif  // NETCL_BASE_JSON_TEXT_H_
