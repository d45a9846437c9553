// SPDX-License-Identifier: Apache-2.0
// JSON in and out through nlohmann_json, with the toolkit's errors. Order of object keys is kept.
#ifndef NETCL_BASE_JSON_FILE_H_
#define NETCL_BASE_JSON_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace netcl::base {

using Json = nlohmann::ordered_json;

// Parses one JSON value. `where` names the source in messages. Throws FormatError with the byte
// offset for anything that is not RFC 8259 JSON in valid UTF-8: trailing text, a byte order mark,
// lone surrogates, raw control bytes, a duplicate key, nesting deeper than kMaxJsonDepth.
inline constexpr size_t kMaxJsonDepth = 512;
// What becomes of an integer that has more than 64 bits: the nearest double, or a FormatError with
// its place.
enum class BigIntegers { kRound, kRefuse };
Json parse_json(std::string_view text, std::string_view where,
                BigIntegers big_integers = BigIntegers::kRound);

// Text of a value: UTF-8 as it is, no escapes beyond what JSON demands; indent < 0 is one line.
// Invalid UTF-8 in a string is written as U+FFFD. NaN and infinities become null.
std::string to_text(const Json& value, int indent = -1);

// Field access with a clear FormatError ("where: field 'x': ...") when absent or of another type.
const Json& require_field(const Json& object, std::string_view key, std::string_view where);
std::string require_string(const Json& object, std::string_view key, std::string_view where);
bool require_bool(const Json& object, std::string_view key, std::string_view where);
int64_t require_int(const Json& object, std::string_view key, std::string_view where);

}  // namespace netcl::base

#endif  // NETCL_BASE_JSON_FILE_H_
