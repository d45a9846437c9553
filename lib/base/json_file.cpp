// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"

#include <unordered_set>
#include <vector>

#include "base/error.h"

namespace netcl::base {

namespace {

constexpr int kMaxDepth = 512;

// nlohmann's messages read "[json.exception.parse_error.101] parse error at line 1, column 2:
// syntax error while ...": the part after the second colon says what is wrong.
std::string reason(const std::string& what) {
  const size_t column = what.find("column ");
  const size_t colon = column == std::string::npos ? what.find("] ") : what.find(": ", column);
  std::string text = colon == std::string::npos ? what : what.substr(colon + 2);
  // The rest quotes the input, which may be long and hold anything.
  if (const size_t last_read = text.find("; last read: "); last_read != std::string::npos) {
    text.resize(last_read);
  }
  const std::string shown = quote(text, 160);
  return shown.substr(1, shown.rfind('\'') - 1);
}

[[noreturn]] void wrong_type(std::string_view key, std::string_view where, const Json& value,
                             std::string_view wanted) {
  throw FormatError(std::string(where) + ": field '" + std::string(key) + "': expected " +
                    std::string(wanted) + ", found " + value.type_name());
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    throw FormatError(at_byte(where, 0) +
                      ": byte order mark before JSON; remove the first 3 bytes");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    // The parser would take it for the end of the text.
    throw FormatError(at_byte(where, nul) + ": not valid JSON: NUL byte");
  }
  std::vector<std::unordered_set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (depth >= kMaxDepth) {
        throw FormatError(std::string(where) + ": JSON nested deeper than " +
                          std::to_string(kMaxDepth) + " levels");
      }
      if (event == Json::parse_event_t::object_start) {
        keys.emplace_back();
      }
    } else if (event == Json::parse_event_t::key) {
      if (!keys.back().insert(parsed.get_ref<const std::string&>()).second) {
        throw FormatError(std::string(where) + ": duplicate JSON key " +
                          quote(parsed.get_ref<const std::string&>()));
      }
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::parse_error& error) {
    throw FormatError(at_byte(where, error.byte == 0 ? 0 : error.byte - 1) +
                      ": not valid JSON: " + reason(error.what()));
  } catch (const Json::exception& error) {
    throw FormatError(std::string(where) + ": not valid JSON: " + reason(error.what()));
  }
}

std::string to_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

const Json& require_field(const Json& object, std::string_view key, std::string_view where) {
  if (!object.is_object()) {
    throw FormatError(std::string(where) + ": expected an object with field '" + std::string(key) +
                      "', found " + object.type_name());
  }
  const auto found = object.find(std::string(key));
  if (found == object.end()) {
    throw FormatError(std::string(where) + ": field '" + std::string(key) + "' is missing");
  }
  return *found;
}

std::string require_string(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require_field(object, key, where);
  if (!value.is_string()) {
    wrong_type(key, where, value, "a string");
  }
  return value.get<std::string>();
}

bool require_bool(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require_field(object, key, where);
  if (!value.is_boolean()) {
    wrong_type(key, where, value, "true or false");
  }
  return value.get<bool>();
}

int64_t require_int(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require_field(object, key, where);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})) {
    wrong_type(key, where, value, "an integer");
  }
  return value.get<int64_t>();
}

}  // namespace netcl::base
