// SPDX-License-Identifier: Apache-2.0
// Methods of strings that change or split them.
#include <algorithm>
#include <map>

#include "text/jinja_chars.h"
#include "text/jinja_engine.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

Value made(const Value& self, Text text) {
  return Value::string(std::move(text), self.as_string().markup);
}

template <Case kCase>
Value change_case(Engine& engine, const Value& self, Arguments& arguments) {
  bind("upper, lower or title", arguments, {});
  return made(self, with_case(self.text(), kCase, engine.budget));
}

template <bool kLeft, bool kRight>
Value strip(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("strip", arguments, {"chars"});
  const bool has_chars = bound[0] && !bound[0]->is_none();
  return made(self, stripped(self.text(), has_chars ? &string_of(*bound[0], "'strip'") : nullptr,
                             kLeft, kRight, engine.budget));
}

Int count_of(const std::optional<Value>& value) {
  return value ? index_of(*value, "a count") : -1;
}

Value replace(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("replace", arguments, {"old", "new", "count"}, 2);
  const std::string& old = string_of(*bound[0], "'replace'");
  if (self.as_string().markup) {
    return made(self, replaced(self.text(), old, html_text(*bound[1], engine.budget),
                               count_of(bound[2]), engine.budget));
  }
  string_of(*bound[1], "'replace'");
  return made(self,
              replaced(self.text(), old, bound[1]->text(), count_of(bound[2]), engine.budget));
}

Value list_of(const Value& self, std::vector<Text> parts) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (Text& part : parts) {
    items.push_back(made(self, std::move(part)));
  }
  return Value::list(std::move(items));
}

template <bool kFromRight>
Value split(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("split", arguments, {"sep", "maxsplit"});
  const Int limit = count_of(bound[1]);
  std::vector<Text> parts;
  if (!bound[0] || bound[0]->is_none()) {
    parts = split_words(self.text(), limit, kFromRight, engine.budget);
  } else {
    const std::string& separator = string_of(*bound[0], "'split'");
    if (separator.empty()) {
      throw Failure("'split' needs a separator that is not empty");
    }
    parts = split_at(self.text(), separator, limit, kFromRight, engine.budget);
  }
  return list_of(self, std::move(parts));
}

Value splitlines(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("splitlines", arguments, {"keepends"});
  const bool keep_ends = bound[0] && truth(*bound[0], engine.budget);
  return list_of(self, split_lines(self.text(), keep_ends, engine.budget));
}

template <bool kFromRight>
Value partition(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("partition", arguments, {"sep"}, 1);
  const std::string& separator = string_of(*bound[0], "'partition'");
  if (separator.empty()) {
    throw Failure("'partition' needs a separator that is not empty");
  }
  const Text& text = self.text();
  const std::string& bytes = text.bytes();
  const size_t at = kFromRight ? find_back(bytes, separator, bytes.size(), engine.budget)
                               : find_from(bytes, separator, 0);
  if (at == std::string::npos) {
    const Value empty = made(self, Text());
    return kFromRight ? Value::tuple({empty, empty, self}) : Value::tuple({self, empty, empty});
  }
  const size_t after = at + separator.size();
  return Value::tuple({made(self, text.slice(0, at)), made(self, text.slice(at, after)),
                       made(self, text.slice(after, text.size()))});
}

template <bool kPrefix>
Value remove(Engine&, const Value& self, Arguments& arguments) {
  const Bound bound = bind("removeprefix or removesuffix", arguments, {"text"}, 1);
  const std::string& part = string_of(*bound[0], "'removeprefix' or 'removesuffix'");
  const std::string& bytes = self.bytes();
  if (kPrefix ? !bytes.starts_with(part) : !bytes.ends_with(part)) {
    return self;
  }
  return made(self, kPrefix ? self.text().slice(part.size(), bytes.size())
                            : self.text().slice(0, bytes.size() - part.size()));
}

Value join(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("join", arguments, {"iterable"}, 1);
  const bool is_markup = self.as_string().markup;
  Text out;
  bool is_first = true;
  const auto next = iterate(*bound[0]);
  while (const std::optional<Value> item = next()) {
    engine.budget.step();
    if (!is_first) {
      out.append(self.text());
    }
    is_first = false;
    if (!is_markup) {
      string_of(*item, "'join'");
    }
    out.append(is_markup ? html_text(*item, engine.budget) : item->text());
  }
  return made(self, std::move(out));
}

// Text padded to `width` characters: on the left, on the right or, as center() does it, on both.
enum class Side { kLeft, kRight, kBoth };
template <Side kSide>
Value pad(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("ljust, rjust or center", arguments, {"width", "fillchar"}, 1);
  const Int width = index_of(*bound[0], "the width");
  Text fill(" ", kNoMarks);
  if (bound[1]) {
    if (count_characters(string_of(*bound[1], "padding")) != 1) {
      throw Failure("padding takes one character to fill with");
    }
    fill = self.as_string().markup ? html_text(*bound[1], engine.budget) : bound[1]->text();
  }
  const auto count = static_cast<Int>(count_characters(self.bytes()));
  if (width <= count) {
    return self;
  }
  const Int total = width - count;
  const Int left = kSide == Side::kLeft    ? total
                   : kSide == Side::kRight ? 0
                                           : total / 2 + (total & width & 1);
  Text out;
  append_repeated(fill, left, out);
  out.append(self.text());
  append_repeated(fill, total - left, out);
  return made(self, std::move(out));
}

Value zfill(Engine&, const Value& self, Arguments& arguments) {
  const Bound bound = bind("zfill", arguments, {"width"}, 1);
  const Int width = index_of(*bound[0], "the width");
  const std::string& bytes = self.bytes();
  const size_t sign = !bytes.empty() && (bytes[0] == '+' || bytes[0] == '-') ? 1 : 0;
  Text out = self.text().slice(0, sign);
  append_repeated(Text("0", kNoMarks), width - static_cast<Int>(count_characters(bytes)), out);
  out.append(self.text(), sign, bytes.size());
  return made(self, std::move(out));
}

Value expandtabs(Engine& engine, const Value& self, Arguments& arguments) {
  const Bound bound = bind("expandtabs", arguments, {"tabsize"});
  const Int size = bound[0] ? index_of(*bound[0], "the tab size") : 8;
  const std::string& bytes = self.bytes();
  engine.budget.step(bytes.size() / 4);  // of bytes that are written one by one
  Text out;
  Int column = 0;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    if (c.code_point == '\t') {
      const Int blanks = size > 0 ? size - column % size : 0;
      append_repeated(Text(" ", self.text().marks_at(at)), blanks, out);
      column += blanks;
    } else {
      out.append(self.text(), at, at + c.byte_count);
      column = c.code_point == '\n' || c.code_point == '\r' ? 0 : column + 1;
    }
    at += c.byte_count;
  }
  return made(self, std::move(out));
}

Value format(Engine& engine, const Value& self, Arguments& arguments) {
  return made(self, format_braces(self.text(), arguments, engine));
}

const std::map<std::string_view, StringMethod>& changing_methods() {
  static const std::map<std::string_view, StringMethod> methods = {
      {"upper", change_case<Case::kUpper>},
      {"lower", change_case<Case::kLower>},
      {"title", change_case<Case::kTitle>},
      {"capitalize", change_case<Case::kCapitalized>},
      {"swapcase", change_case<Case::kSwapped>},
      {"casefold", change_case<Case::kFolded>},
      {"strip", strip<true, true>},
      {"lstrip", strip<true, false>},
      {"rstrip", strip<false, true>},
      {"replace", replace},
      {"split", split<false>},
      {"rsplit", split<true>},
      {"splitlines", splitlines},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"removeprefix", remove<true>},
      {"removesuffix", remove<false>},
      {"join", join},
      {"rjust", pad<Side::kLeft>},
      {"ljust", pad<Side::kRight>},
      {"center", pad<Side::kBoth>},
      {"zfill", zfill},
      {"expandtabs", expandtabs},
      {"format", format},
  };
  return methods;
}

}  // namespace

std::optional<Value> string_method(const Value& string, std::string_view name) {
  StringMethod call = find_asking_method(name);
  if (call == nullptr) {
    const auto found = changing_methods().find(name);
    if (found == changing_methods().end()) {
      return std::nullopt;
    }
    call = found->second;
  }
  return make_function(std::string(name), [string, call](Engine& engine, Arguments& arguments) {
    engine.budget.step(1 + string.bytes().size() / 64);
    return call(engine, string, arguments);
  });
}

}  // namespace netcl::text::jinja
