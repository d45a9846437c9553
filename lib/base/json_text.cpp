// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

namespace netcl::base {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr size_t kNowhere = std::string_view::npos;

size_t skip_blanks(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

// Behind the value that begins at `at`.
size_t value_end(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = std::min(json_string_end(text, at), text.size());
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) {
        return at;
      }
      --depth;
      ++at;
    } else {
      at = std::min(text.find_first_of(depth == 0 ? " \t\r\n,]}" : "\"{[}]", at + 1), text.size());
      if (depth > 0) {
        continue;
      }
    }
    if (depth == 0) {
      return at;
    }
  }
  return text.size();
}

// Whether a string with its quotes is `key`; escapes in it are rare.
bool is_key(std::string_view quoted, std::string_view key) {
  if (quoted.find('\\') == kNowhere) {
    return quoted.size() == key.size() + 2 && quoted.substr(1, key.size()) == key;
  }
  const auto name = nlohmann::json::parse(quoted, nullptr, false);
  return name.is_string() && name.get_ref<const std::string&>() == key;
}

// Goes through the members of an object or the elements of an array until `is_wanted` says so of
// the text before a value (a key in quotes, or nothing); the value is the result.
template <typename IsWanted>
std::string_view find_value(std::string_view text, char opening, const IsWanted& is_wanted) {
  size_t at = skip_blanks(text, 0);
  if (at == text.size() || text[at] != opening) {
    return {};
  }
  at = skip_blanks(text, at + 1);
  while (at < text.size() && text[at] != '}' && text[at] != ']') {
    std::string_view key;
    if (opening == '{') {
      const size_t key_end = text[at] == '"' ? json_string_end(text, at) : kNowhere;
      if (key_end == kNowhere) {
        return {};
      }
      key = text.substr(at, key_end - at);
      const size_t colon = skip_blanks(text, key_end);
      at = skip_blanks(text, std::min(colon + 1, text.size()));
    }
    const size_t end = value_end(text, at);
    if (is_wanted(key)) {
      return text.substr(at, end - at);
    }
    const size_t comma = skip_blanks(text, end);
    at = skip_blanks(text, std::min(comma + 1, text.size()));
  }
  return {};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

size_t json_string_end(std::string_view text, size_t at) {
  for (size_t i = text.find_first_of("\\\"", at + 1); i != kNowhere;
       i = text.find_first_of("\\\"", i)) {
    if (text[i] == '"') {
      return i + 1;
    }
    i += 2;
  }
  return kNowhere;
}

std::string_view json_member_text(std::string_view text, std::string_view key) {
  return find_value(text, '{', [&](std::string_view quoted) { return is_key(quoted, key); });
}

std::string_view json_element_text(std::string_view text, size_t index) {
  return find_value(text, '[', [&](std::string_view) { return index-- == 0; });
}

size_t find_json_number(std::string_view text, std::string_view digits) {
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = std::min(json_string_end(text, at), text.size());
    } else if (text[at] == '-' || is_digit(text[at])) {
      const size_t end = std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
      if (text.substr(at, end - at) == digits) {
        return at;
      }
      at = end;
    } else {
      ++at;
    }
  }
  return kNowhere;
}

size_t find_json_string(std::string_view text, size_t index) {
  size_t at = text.find('"');
  while (at != kNowhere && index-- > 0) {
    at = text.find('"', std::min(json_string_end(text, at), text.size()));
  }
  return at;
}

size_t find_json_depth(std::string_view text, size_t depth) {
  size_t open = 0;
  for (size_t at = text.find_first_of("\"{[}]"); at != kNowhere;
       at = text.find_first_of("\"{[}]", at)) {
    if (text[at] == '"') {
      at = std::min(json_string_end(text, at), text.size());
      continue;
    }
    const bool opens = text[at] == '{' || text[at] == '[';
    if (opens && ++open == depth) {
      return at;
    }
    open -= !opens && open > 0 ? 1 : 0;
    ++at;
  }
  return kNowhere;
}

bool is_json_number(std::string_view text) {
  const auto take_digits = [&] {
    const size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  const bool zero = text.starts_with('0');
  const size_t whole = take_digits();
  if (whole == 0 || (zero && whole > 1)) {
    return false;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (take_digits() == 0) {
      return false;
    }
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) {
      text.remove_prefix(1);
    }
    if (take_digits() == 0) {
      return false;
    }
  }
  return text.empty();
}

}  // namespace netcl::base
