// SPDX-License-Identifier: Apache-2.0
// Going through values.
#include <memory>

#include "text/jinja_chars.h"
#include "text/jinja_loop.h"
#include "text/jinja_value.h"
#include "text/unicode.h"

namespace netcl::text::jinja {

namespace {

std::function<std::optional<Value>()> characters(const Value& string) {
  return [string, at = size_t{0}]() mutable -> std::optional<Value> {
    const Text& text = string.text();
    if (at == text.size()) {
      return std::nullopt;
    }
    const size_t begin = at;
    at += decode_utf8(text.bytes(), at).byte_count;
    return Value::string(text.slice(begin, at));  // of markup too
  };
}

std::function<std::optional<Value>()> entries(const Value& dict, View::What what) {
  return [dict, what, at = size_t{0}]() mutable -> std::optional<Value> {
    const auto& all = dict.as_dict().entries;
    if (at == all.size()) {
      return std::nullopt;
    }
    const auto& [key, value] = all[at++];
    return what == View::What::kKeys     ? key
           : what == View::What::kValues ? value
                                         : Value::tuple({key, value});
  };
}

}  // namespace

std::function<std::optional<Value>()> iterate(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return [] { return std::optional<Value>(); };
    case Kind::kString:
      return characters(value);
    case Kind::kList:
    case Kind::kTuple:
      return [value, at = size_t{0}]() mutable -> std::optional<Value> {
        const std::vector<Value>& items = value.items();
        return at < items.size() ? std::optional<Value>(items[at++]) : std::nullopt;
      };
    case Kind::kDict:
      return entries(value, View::What::kKeys);
    case Kind::kView:
      return entries(value.as_view().dict, value.as_view().what);
    case Kind::kRange:
      return [value, at = Int{0}]() mutable -> std::optional<Value> {
        const Range& range = value.as_range();
        if (at >= range.count()) {
          return std::nullopt;
        }
        return Value::integer(range.start + at++ * range.step, value.trusted());
      };
    case Kind::kIterator:
      return [value] { return value.as_iterator().next(); };
    case Kind::kLoop:
      return [value]() -> std::optional<Value> {
        std::optional<Value> item = value.as_loop().advance();
        return item ? std::optional<Value>(Value::tuple({*item, value})) : std::nullopt;
      };
    default:
      throw Failure(type_name(value) + " is nothing to go through");
  }
}

std::vector<Value> elements(const Value& value, Budget& budget) {
  std::vector<Value> all;
  MemoryCharge charge;  // of the list alone; strings made for it charge themselves
  const auto next = iterate(value);
  while (std::optional<Value> item = next()) {
    budget.step();
    budget.made(sizeof(Value) + (value.is_string() ? sizeof(String) : 0));
    charge.add(sizeof(Value));
    all.push_back(std::move(*item));
  }
  return all;
}

std::optional<size_t> length(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return count_characters(value.bytes());
    case Kind::kList:
    case Kind::kTuple:
      return value.items().size();
    case Kind::kDict:
      return value.as_dict().entries.size();
    case Kind::kView:
      return value.as_view().dict.as_dict().entries.size();
    case Kind::kRange:
      return static_cast<size_t>(value.as_range().count());
    case Kind::kLoop:
      return value.as_loop().length();
    default:
      return std::nullopt;
  }
}

}  // namespace netcl::text::jinja
