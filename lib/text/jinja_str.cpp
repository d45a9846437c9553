// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_str.h"

#include <algorithm>
#include <cstring>
#include <set>

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

Text stripped(const Text& text, const std::string* chars, bool left, bool right, Budget& budget) {
  const std::string& bytes = text.bytes();
  std::set<char32_t> wanted;
  for (size_t at = 0; chars != nullptr && at < chars->size();) {
    const DecodedChar c = decode_utf8(*chars, at);
    wanted.insert(c.code_point);
    at += c.byte_count;
  }
  const auto goes = [&](size_t at) {
    const char32_t c = decode_utf8(bytes, at).code_point;
    return chars == nullptr ? is_python_space(c) : wanted.contains(c);
  };
  size_t begin = 0;
  size_t end = bytes.size();
  while (left && begin < end && goes(begin)) {
    begin += decode_utf8(bytes, begin).byte_count;
  }
  while (right && end > begin && goes(character_before(bytes, end))) {
    end = character_before(bytes, end);
  }
  budget.characters(bytes.size() - (end - begin) + (chars == nullptr ? 0 : chars->size()));
  return text.slice(begin, end);
}

size_t find_from(std::string_view text, std::string_view wanted, size_t at) {
  if (at > text.size()) {
    return std::string_view::npos;
  }
  if (wanted.empty()) {
    return at;
  }
  const void* found = ::memmem(text.data() + at, text.size() - at, wanted.data(), wanted.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t find_back(std::string_view text, std::string_view wanted, size_t end, Budget& budget) {
  constexpr size_t kShort = 32;
  text = text.substr(0, end);
  if (wanted.size() > text.size()) {
    return std::string_view::npos;
  }
  if (wanted.size() <= kShort) {
    const size_t at = text.rfind(wanted);
    budget.step((text.size() - (at == std::string_view::npos ? 0 : at)) * wanted.size() / 1024);
    return at;
  }
  // The first occurrence of the reversed text.
  budget.step(text.size() / 64);
  const std::string back(text.rbegin(), text.rend());
  const size_t at = find_from(back, std::string(wanted.rbegin(), wanted.rend()), 0);
  return at == std::string_view::npos ? at : text.size() - at - wanted.size();
}

Text replaced(const Text& text, const std::string& old, const Text& now, Int limit,
              Budget& budget) {
  const std::string& bytes = text.bytes();
  Text out;
  size_t at = 0;
  if (old.empty()) {
    // Between all characters, and at both ends.
    const std::vector<size_t> begins = character_begins(bytes);
    for (size_t i = 0; i < begins.size() && limit != 0; ++i, --limit) {
      budget.step();
      out.append(text, at, begins[i]);
      out.append(now);
      at = begins[i];
    }
    out.append(text, at, bytes.size());
    return out;
  }
  for (; limit != 0; --limit) {
    const size_t found = find_from(bytes, old, at);
    if (found == std::string::npos) {
      break;
    }
    budget.step();
    out.append(text, at, found);
    out.append(now);
    at = found + old.size();
  }
  out.append(text, at, bytes.size());
  return out;
}

namespace {

// Pieces as they are found; each will be a value.
class Pieces {
 public:
  Pieces(const Text& text, Budget& budget) : text_(text), budget_(budget) {}

  void add(size_t begin, size_t end) {
    budget_.step();
    budget_.made(sizeof(Value) + sizeof(String) + (end - begin));
    charge_.add(2 * sizeof(Text) + (end - begin));  // as the list grows
    all.push_back(text_.slice(begin, end));
  }

  std::vector<Text> all;

 private:
  const Text& text_;
  Budget& budget_;
  MemoryCharge charge_;
};

void split_words_left(const std::string& bytes, Int limit, Pieces& pieces) {
  size_t at = skip_space(bytes, 0);
  while (at < bytes.size()) {
    if (limit-- == 0) {
      pieces.add(at, bytes.size());
      break;
    }
    size_t end = at;
    while (end < bytes.size() && !is_python_space(decode_utf8(bytes, end).code_point)) {
      end += decode_utf8(bytes, end).byte_count;
    }
    pieces.add(at, end);
    at = skip_space(bytes, end);
  }
}

void split_words_right(const std::string& bytes, Int limit, Pieces& pieces) {
  size_t end = skip_space_back(bytes, 0, bytes.size());
  while (end > 0) {
    if (limit-- == 0) {
      pieces.add(0, end);
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
    pieces.add(begin, end);
    end = skip_space_back(bytes, 0, begin);
  }
  std::reverse(pieces.all.begin(), pieces.all.end());
}

}  // namespace

std::vector<Text> split_words(const Text& text, Int limit, bool from_right, Budget& budget) {
  budget.characters(text.size());
  Pieces pieces(text, budget);
  if (from_right) {
    split_words_right(text.bytes(), limit, pieces);
  } else {
    split_words_left(text.bytes(), limit, pieces);
  }
  return std::move(pieces.all);
}

std::vector<Text> split_at(const Text& text, const std::string& separator, Int limit,
                           bool from_right, Budget& budget) {
  const std::string& bytes = text.bytes();
  Pieces pieces(text, budget);
  if (!from_right) {
    size_t at = 0;
    for (; limit != 0; --limit) {
      const size_t found = find_from(bytes, separator, at);
      if (found == std::string::npos) {
        break;
      }
      pieces.add(at, found);
      at = found + separator.size();
    }
    pieces.add(at, bytes.size());
    return std::move(pieces.all);
  }
  size_t end = bytes.size();
  for (; limit != 0; --limit) {
    const size_t found = find_back(bytes, separator, end, budget);
    if (found == std::string::npos) {
      break;
    }
    pieces.add(found + separator.size(), end);
    end = found;
  }
  pieces.add(0, end);
  std::reverse(pieces.all.begin(), pieces.all.end());
  return std::move(pieces.all);
}

std::vector<Text> split_lines(const Text& text, bool keep_ends, Budget& budget) {
  const std::string& bytes = text.bytes();
  budget.characters(bytes.size());
  Pieces lines(text, budget);
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    size_t end = at + c.byte_count;
    const char32_t p = c.code_point;
    const bool ends = (p >= 0x0A && p <= 0x0D) || (p >= 0x1C && p <= 0x1E) || p == 0x85 ||
                      p == 0x2028 || p == 0x2029;
    if (ends) {
      end += p == '\r' && end < bytes.size() && bytes[end] == '\n' ? 1 : 0;
      lines.add(begin, keep_ends ? end : at);
      begin = end;
    }
    at = end;
  }
  if (begin < bytes.size()) {
    lines.add(begin, bytes.size());
  }
  return std::move(lines.all);
}

void append_repeated(const Text& text, Int count, Text& out) {
  if (text.empty()) {
    return;
  }
  if (count > 0 && static_cast<Int>(text.size()) * std::min(count, Int{1} << 60) >
                       static_cast<Int>(Text::kMaxBytes)) {
    throw Failure("a string grows beyond " + std::to_string(Text::kMaxBytes >> 20) + " MiB");
  }
  out.append_repeated(text, static_cast<size_t>(std::max(count, Int{0})));
}

}  // namespace netcl::text::jinja
