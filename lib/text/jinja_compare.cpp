// SPDX-License-Identifier: Apache-2.0
// Truth, equality, order and hashes of values.
#include <cmath>
#include <functional>

#include "text/jinja_str.h"
#include "text/jinja_value.h"

namespace netcl::text::jinja {

namespace {

// An integer against a float, without rounding the integer first where long double has 64 bits.
std::optional<int> compare_numbers(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) {
    return left.as_int() < right.as_int() ? -1 : left.as_int() > right.as_int() ? 1 : 0;
  }
  const auto wide = [](const Value& value) {
    return value.is_integral() ? static_cast<long double>(value.as_int())
                               : static_cast<long double>(value.as_float());
  };
  const long double a = wide(left);
  const long double b = wide(right);
  if (std::isnan(a) || std::isnan(b)) {
    return std::nullopt;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

int compare_bytes(const Value& left, const Value& right, Budget& budget) {
  budget.step(1 + std::min(left.bytes().size(), right.bytes().size()) / 64);
  // The order of UTF-8 bytes is that of code points.
  const int order = left.bytes().compare(right.bytes());
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

bool equal_dicts(const Dict& left, const Dict& right, Budget& budget) {
  if (left.entries.size() != right.entries.size()) {
    return false;
  }
  for (const auto& [key, value] : left.entries) {
    const Value* other = right.find(key, budget);
    if (other == nullptr || !equal(value, *other, budget)) {
      return false;
    }
  }
  return true;
}

bool equal_ranges(const Range& left, const Range& right) {
  const Int count = left.count();
  return count == right.count() &&
         (count == 0 || (left.start == right.start && (count == 1 || left.step == right.step)));
}

uint64_t mixed(uint64_t hash, uint64_t more) {
  return (hash ^ more) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

}  // namespace

bool truth(const Value& value, Budget& budget) {
  budget.step();
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_float() != 0;
    case Kind::kString:
      return !value.bytes().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.items().empty();
    case Kind::kDict:
      return !value.as_dict().entries.empty();
    case Kind::kRange:
      return value.as_range().count() != 0;
    case Kind::kView:
      return !value.as_view().dict.as_dict().entries.empty();
    default:
      return true;
  }
}

bool equal(const Value& left, const Value& right, Budget& budget) {
  budget.step();
  if (left.is_number() && right.is_number()) {
    return compare_numbers(left, right) == 0;
  }
  if (left.kind() != right.kind()) {
    return false;
  }
  if (left.object() == right.object()) {
    return true;
  }
  switch (left.kind()) {
    case Kind::kUndefined:
      return true;
    case Kind::kString:
      return left.bytes().size() == right.bytes().size() && compare_bytes(left, right, budget) == 0;
    case Kind::kList:
    case Kind::kTuple: {
      const std::vector<Value>& a = left.items();
      const std::vector<Value>& b = right.items();
      if (a.size() != b.size()) {
        return false;
      }
      for (size_t i = 0; i < a.size(); ++i) {
        if (!equal(a[i], b[i], budget)) {
          return false;
        }
      }
      return true;
    }
    case Kind::kDict:
      return equal_dicts(left.as_dict(), right.as_dict(), budget);
    case Kind::kRange:
      return equal_ranges(left.as_range(), right.as_range());
    case Kind::kView: {
      // Views of values are equal to themselves only; those of keys and items are sets.
      if (left.as_view().what != right.as_view().what ||
          left.as_view().what == View::What::kValues || length(left) != length(right)) {
        return false;
      }
      const auto next = iterate(left);
      while (const std::optional<Value> item = next()) {
        if (!contains(right, *item, budget)) {
          return false;
        }
      }
      return true;
    }
    default:
      return false;
  }
}

std::optional<int> compare(const Value& left, const Value& right, Budget& budget,
                           std::string_view operation) {
  budget.step();
  if (left.is_number() && right.is_number()) {
    return compare_numbers(left, right);
  }
  if (left.is_string() && right.is_string()) {
    return compare_bytes(left, right, budget);
  }
  if (left.is_undefined() || right.is_undefined()) {
    throw Failure((left.is_undefined() ? left : right).undefined_message());
  }
  if (left.kind() == right.kind() && left.is_sequence()) {
    const std::vector<Value>& a = left.items();
    const std::vector<Value>& b = right.items();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (!equal(a[i], b[i], budget)) {
        return compare(a[i], b[i], budget, operation);
      }
    }
    return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  }
  throw Failure("'" + std::string(operation) + "' cannot compare " + type_name(left) + " and " +
                type_name(right));
}

uint64_t hash_of(const Value& value, Budget& budget) {
  budget.step();
  switch (value.kind()) {
    case Kind::kUndefined:
      return 1;
    case Kind::kNone:
      return 2;
    case Kind::kBool:
    case Kind::kInt:
      return mixed(static_cast<uint64_t>(value.as_int()), 3);
    case Kind::kFloat: {
      // Equal to an integer means the hash of that integer.
      const double number = value.as_float();
      if (std::floor(number) == number && std::fabs(number) < 1e30) {
        return mixed(static_cast<uint64_t>(static_cast<Int>(number)), 3);
      }
      return mixed(std::hash<double>()(number), 4);
    }
    case Kind::kString:
      budget.step(value.bytes().size() / 64);
      return std::hash<std::string_view>()(value.bytes());
    case Kind::kTuple: {
      uint64_t hash = value.items().size();
      for (const Value& item : value.items()) {
        hash = mixed(hash, hash_of(item, budget));
      }
      return hash;
    }
    case Kind::kRange:
      return mixed(static_cast<uint64_t>(value.as_range().count()), 5);
    case Kind::kView:
      if (value.as_view().what == View::What::kValues) {
        return mixed(std::hash<const Object*>()(value.object().get()), 6);
      }
      [[fallthrough]];
    case Kind::kList:
    case Kind::kDict:
      throw Failure("a " + type_name(value) + " cannot be a key");
    default:
      return mixed(std::hash<const Object*>()(value.object().get()), 6);
  }
}

bool contains(const Value& container, const Value& item, Budget& budget) {
  budget.step();
  if (container.is_string()) {
    if (!item.is_string()) {
      throw Failure("'in' with a string on the right needs a string on the left, not " +
                    type_name(item));
    }
    budget.step(container.bytes().size() / 64);
    return find_from(container.bytes(), item.bytes(), 0) != std::string_view::npos;
  }
  if (container.is(Kind::kDict)) {
    return container.as_dict().find(item, budget) != nullptr;
  }
  if (container.is(Kind::kView)) {
    const View& view = container.as_view();
    if (view.what == View::What::kKeys) {
      return view.dict.as_dict().find(item, budget) != nullptr;
    }
    if (view.what == View::What::kItems) {
      if (!item.is(Kind::kTuple) || item.items().size() != 2) {
        return false;
      }
      const Value* found = view.dict.as_dict().find(item.items()[0], budget);
      return found != nullptr && equal(*found, item.items()[1], budget);
    }
  }
  const auto next = iterate(container);
  while (const std::optional<Value> element = next()) {
    if (equal(*element, item, budget)) {
      return true;
    }
  }
  return false;
}

}  // namespace netcl::text::jinja
