// SPDX-License-Identifier: Apache-2.0
// Methods of strings that answer something about them.
#include <algorithm>
#include <map>

#include "text/jinja_chars.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

// [start, end) of find(), count() and their like, in bytes; nothing when start lies behind end.
struct ByteRange {
  size_t begin, end;
};
std::optional<ByteRange> byte_range(const std::string& bytes, const Bound& bound) {
  if (!bound[1] && !bound[2]) {
    return ByteRange{0, bytes.size()};
  }
  const std::vector<size_t> begins = character_begins(bytes);
  const auto count = static_cast<Int>(begins.size()) - 1;
  const auto border = [&](const std::optional<Value>& value, Int otherwise) {
    if (!value || value->is_none()) {
      return otherwise;
    }
    const Int at = index_of(*value, "an index");
    return at < 0 ? std::max(at + count, Int{0}) : at;
  };
  const Int start = border(bound[1], 0);
  const Int end = std::min(border(bound[2], count), count);
  if (start > end) {
    return std::nullopt;
  }
  return ByteRange{begins[static_cast<size_t>(start)], begins[static_cast<size_t>(end)]};
}

// Character index of the occurrence, or -1.
Int position_of(Engine& engine, const Value& self, Arguments& arguments, bool from_right,
                std::string_view name) {
  const Bound bound = bind(name, arguments, {"sub", "start", "end"}, 1);
  const std::string& wanted = string_of(*bound[0], "'find' or 'index'");
  const std::optional<ByteRange> range = byte_range(self.bytes(), bound);
  if (!range) {
    return -1;
  }
  const std::string_view part =
      std::string_view(self.bytes()).substr(range->begin, range->end - range->begin);
  const size_t at =
      from_right ? find_back(part, wanted, part.size(), engine.budget) : find_from(part, wanted, 0);
  if (at == std::string_view::npos) {
    return -1;
  }
  const std::string_view before = std::string_view(self.bytes()).substr(0, range->begin + at);
  return static_cast<Int>(count_characters(before));
}

template <bool kFromRight>
Value find(Engine& engine, const Value& self, Arguments& arguments) {
  return Value::integer(position_of(engine, self, arguments, kFromRight, "find"));
}

template <bool kFromRight>
Value index(Engine& engine, const Value& self, Arguments& arguments) {
  const Int at = position_of(engine, self, arguments, kFromRight, "index");
  if (at < 0) {
    throw Failure("the substring is not found");
  }
  return Value::integer(at);
}

Value count(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("count", arguments, {"sub", "start", "end"}, 1);
  const std::string& wanted = string_of(*bound[0], "'count'");
  const std::optional<ByteRange> range = byte_range(self.bytes(), bound);
  if (!range) {
    return Value::integer(0);
  }
  const std::string_view part =
      std::string_view(self.bytes()).substr(range->begin, range->end - range->begin);
  if (wanted.empty()) {
    return Value::integer(static_cast<Int>(count_characters(part)) + 1);
  }
  Int found = 0;
  for (size_t at = find_from(part, wanted, 0); at != std::string_view::npos;
       at = find_from(part, wanted, at + wanted.size())) {
    ++found;
  }
  engine.budget.step(static_cast<uint64_t>(found) / 16);
  return Value::integer(found);
}

template <bool kPrefix>
Value has_affix(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("startswith or endswith", arguments, {"affix", "start", "end"}, 1);
  const std::optional<ByteRange> range = byte_range(self.bytes(), bound);
  const auto matches = [&](const Value& affix) {
    const std::string& wanted = string_of(affix, "'startswith' or 'endswith'");
    if (!range) {
      return false;
    }
    const std::string_view part =
        std::string_view(self.bytes()).substr(range->begin, range->end - range->begin);
    engine.budget.step(1 + std::min(part.size(), wanted.size()) / 64);
    return kPrefix ? part.starts_with(wanted) : part.ends_with(wanted);
  };
  if (bound[0]->is(Kind::kTuple)) {
    const std::vector<Value>& affixes = bound[0]->items();
    return Value::boolean(std::any_of(affixes.begin(), affixes.end(), matches));
  }
  return Value::boolean(matches(*bound[0]));
}

// All characters fulfil `holds`, and there is one.
template <bool (*kHolds)(char32_t)>
Value all_are(Engine& engine, const Value& self, Arguments& arguments) {
  bind("is...", arguments, {});
  const std::string& bytes = self.bytes();
  bool holds = !bytes.empty();
  size_t at = 0;
  while (holds && at < bytes.size()) {
    const DecodedChar c = decode_utf8(bytes, at);
    holds = kHolds(c.code_point);
    at += c.byte_count;
  }
  engine.budget.characters(at);
  return Value::boolean(holds);
}

bool is_decimal(char32_t c) {
  return category(c) == Category::kDecimalNumber;
}
// Superscripts, circled digits and their like count as digits.
bool is_digit(char32_t c) {
  return is_decimal(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) ||
         (c >= 0x2460 && c <= 0x2468) || (c >= 0x2474 && c <= 0x247C) ||
         (c >= 0x2488 && c <= 0x2490);
}
bool is_alphanumeric(char32_t c) {
  return is_letter(c) || is_number(c);
}
bool is_printing(char32_t c) {
  return c == ' ' || !in_categories(c, kOthers | kSeparators);
}

// At least one cased character, and each of them as wanted.
template <bool kUpper>
Value all_cased(Engine& engine, const Value& self, Arguments& arguments) {
  bind("isupper or islower", arguments, {});
  const std::string& bytes = self.bytes();
  engine.budget.characters(bytes.size());
  bool is_any = false;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    if (is_title(c.code_point) || (kUpper ? is_lower(c.code_point) : is_upper(c.code_point))) {
      return Value::boolean(false);
    }
    is_any |= kUpper ? is_upper(c.code_point) : is_lower(c.code_point);
    at += c.byte_count;
  }
  return Value::boolean(is_any);
}

Value istitle(Engine& engine, const Value& self, Arguments& arguments) {
  bind("istitle", arguments, {});
  const std::string& bytes = self.bytes();
  engine.budget.characters(bytes.size());
  bool is_any = false;
  bool is_inside_word = false;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    const bool is_capital = is_upper(c.code_point) || is_title(c.code_point);
    const bool is_small = is_lower(c.code_point);
    if ((is_capital && is_inside_word) || (is_small && !is_inside_word)) {
      return Value::boolean(false);
    }
    is_any |= is_capital || is_small;
    is_inside_word = is_capital || is_small;
    at += c.byte_count;
  }
  return Value::boolean(is_any);
}

Value isascii(Engine&, const Value& self, Arguments& arguments) {
  bind("isascii", arguments, {});
  return Value::boolean(skip_ascii(self.bytes(), 0) == self.bytes().size());
}

Value isidentifier(Engine& engine, const Value& self, Arguments& arguments) {
  bind("isidentifier", arguments, {});
  const std::string& bytes = self.bytes();
  engine.budget.characters(bytes.size());
  bool holds = !bytes.empty();
  for (size_t at = 0; holds && at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    const bool starts = c.code_point == '_' || is_letter(c.code_point) ||
                        category(c.code_point) == Category::kLetterNumber;
    holds = starts || (at > 0 && (is_mark(c.code_point) || is_decimal(c.code_point)));
    at += c.byte_count;
  }
  return Value::boolean(holds);
}

bool space(char32_t c) {
  return is_python_space(c);
}
bool letter(char32_t c) {
  return is_letter(c);
}
bool number(char32_t c) {
  return is_number(c);
}

Value isprintable(Engine& engine, const Value& self, Arguments& arguments) {
  return self.bytes().empty() ? Value::boolean(true)
                              : all_are<is_printing>(engine, self, arguments);
}

}  // namespace

StringMethod find_asking_method(std::string_view name) {
  static const std::map<std::string_view, StringMethod> methods = {
      {"find", find<false>},
      {"rfind", find<true>},
      {"index", index<false>},
      {"rindex", index<true>},
      {"count", count},
      {"startswith", has_affix<true>},
      {"endswith", has_affix<false>},
      {"isspace", all_are<space>},
      {"isalpha", all_are<letter>},
      {"isalnum", all_are<is_alphanumeric>},
      {"isdecimal", all_are<is_decimal>},
      {"isdigit", all_are<is_digit>},
      {"isnumeric", all_are<number>},
      {"isprintable", isprintable},
      {"isupper", all_cased<true>},
      {"islower", all_cased<false>},
      {"istitle", istitle},
      {"isascii", isascii},
      {"isidentifier", isidentifier},
  };
  const auto found = methods.find(name);
  return found == methods.end() ? nullptr : found->second;
}

}  // namespace netcl::text::jinja
