// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_str.h"

#include <algorithm>

#include "text/jinja_chars.h"
#include "text/jinja_operators.h"

namespace netcl::text::jinja {

const std::string& string_of(const Value& value, std::string_view user) {
  if (!value.is_string()) {
    throw Failure(value.is_undefined()
                      ? value.undefined_message()
                      : std::string(user) + " needs a string, not " + type_name(value));
  }
  return value.bytes();
}

Text stripped(const Text& text, const std::string* chars, bool left, bool right) {
  const std::string& bytes = text.bytes();
  const auto goes = [&](size_t at) {
    const DecodedChar c = decode_utf8(bytes, at);
    return chars == nullptr ? is_python_space(c.code_point)
                            : chars->find(bytes.substr(at, c.byte_count)) != std::string::npos;
  };
  size_t begin = 0;
  size_t end = bytes.size();
  while (left && begin < end && goes(begin)) {
    begin += decode_utf8(bytes, begin).byte_count;
  }
  while (right && end > begin && goes(character_before(bytes, end))) {
    end = character_before(bytes, end);
  }
  return text.slice(begin, end);
}

Text replaced(const Text& text, const std::string& old, const Text& now, Int limit) {
  const std::string& bytes = text.bytes();
  Text out;
  size_t at = 0;
  if (old.empty()) {
    // Between all characters, and at both ends.
    const std::vector<size_t> begins = character_begins(bytes);
    for (size_t i = 0; i < begins.size() && limit != 0; ++i, --limit) {
      out.append(text, at, begins[i]);
      out.append(now);
      at = begins[i];
    }
    out.append(text, at, bytes.size());
    return out;
  }
  for (; limit != 0; --limit) {
    const size_t found = bytes.find(old, at);
    if (found == std::string::npos) {
      break;
    }
    out.append(text, at, found);
    out.append(now);
    at = found + old.size();
  }
  out.append(text, at, bytes.size());
  return out;
}

namespace {

std::vector<Text> split_words_left(const Text& text, Int limit) {
  const std::string& bytes = text.bytes();
  std::vector<Text> parts;
  size_t at = skip_space(bytes, 0);
  while (at < bytes.size()) {
    if (limit-- == 0) {
      parts.push_back(text.slice(at, bytes.size()));
      break;
    }
    size_t end = at;
    while (end < bytes.size() && !is_python_space(decode_utf8(bytes, end).code_point)) {
      end += decode_utf8(bytes, end).byte_count;
    }
    parts.push_back(text.slice(at, end));
    at = skip_space(bytes, end);
  }
  return parts;
}

std::vector<Text> split_words_right(const Text& text, Int limit) {
  const std::string& bytes = text.bytes();
  std::vector<Text> parts;
  size_t end = skip_space_back(bytes, 0, bytes.size());
  while (end > 0) {
    if (limit-- == 0) {
      parts.push_back(text.slice(0, end));
      break;
    }
    size_t begin = end;
    while (begin > 0) {
      const size_t before = character_before(bytes, begin);
      if (is_python_space(decode_utf8(bytes, before).code_point)) {
        break;
      }
      begin = before;
    }
    parts.push_back(text.slice(begin, end));
    end = skip_space_back(bytes, 0, begin);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace

std::vector<Text> split_words(const Text& text, Int limit, bool from_right) {
  return from_right ? split_words_right(text, limit) : split_words_left(text, limit);
}

std::vector<Text> split_at(const Text& text, const std::string& separator, Int limit,
                           bool from_right) {
  const std::string& bytes = text.bytes();
  std::vector<Text> parts;
  if (!from_right) {
    size_t at = 0;
    for (; limit != 0; --limit) {
      const size_t found = bytes.find(separator, at);
      if (found == std::string::npos) {
        break;
      }
      parts.push_back(text.slice(at, found));
      at = found + separator.size();
    }
    parts.push_back(text.slice(at, bytes.size()));
    return parts;
  }
  size_t end = bytes.size();
  for (; limit != 0 && end >= separator.size(); --limit) {
    const size_t found = bytes.rfind(separator, end - separator.size());
    if (found == std::string::npos) {
      break;
    }
    parts.push_back(text.slice(found + separator.size(), end));
    end = found;
  }
  parts.push_back(text.slice(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Text> split_lines(const Text& text, bool keep_ends) {
  const std::string& bytes = text.bytes();
  std::vector<Text> lines;
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    size_t end = at + c.byte_count;
    const char32_t p = c.code_point;
    const bool ends = (p >= 0x0A && p <= 0x0D) || (p >= 0x1C && p <= 0x1E) || p == 0x85 ||
                      p == 0x2028 || p == 0x2029;
    if (ends) {
      end += p == '\r' && end < bytes.size() && bytes[end] == '\n' ? 1 : 0;
      lines.push_back(text.slice(begin, keep_ends ? end : at));
      begin = end;
    }
    at = end;
  }
  if (begin < bytes.size()) {
    lines.push_back(text.slice(begin, bytes.size()));
  }
  return lines;
}

void append_repeated(const Text& text, Int count, Text& out) {
  if (count > 0 && static_cast<Int>(text.size()) * std::min(count, Int{1} << 60) >
                       static_cast<Int>(Text::kMaxBytes)) {
    throw Failure("a string grows beyond " + std::to_string(Text::kMaxBytes >> 20) + " MiB");
  }
  for (Int i = 0; i < count; ++i) {
    out.append(text);
  }
}

}  // namespace netcl::text::jinja
