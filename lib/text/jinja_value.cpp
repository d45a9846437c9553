// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_value.h"

#include <algorithm>

#include "text/jinja_loop.h"

namespace netcl::text::jinja {

namespace {

int checked_level(int inner) {
  if (inner >= kMaxLevel) {
    throw Failure("values are nested deeper than " + std::to_string(kMaxLevel) + " levels");
  }
  return inner + 1;
}

// Of an object of this type: itself, and what allocating it takes.
template <typename T>
constexpr uint64_t kObjectBytes = sizeof(T) + 32;

Value make_sequence(Kind kind, std::vector<Value> items) {
  auto sequence = std::make_shared<Sequence>();
  sequence->charge.set(kObjectBytes<Sequence> + items.size() * sizeof(Value));
  int inner = 0;
  for (const Value& item : items) {
    inner = std::max(inner, item.level());
  }
  sequence->level = checked_level(inner);
  sequence->items = std::move(items);
  return {kind, std::move(sequence)};
}

}  // namespace

Value Value::none(bool trusted) {
  Value value;
  value.kind_ = Kind::kNone;
  value.trusted_ = trusted;
  return value;
}

Value Value::boolean(bool truth, bool trusted) {
  Value value;
  value.kind_ = Kind::kBool;
  value.integer_ = truth ? 1 : 0;
  value.trusted_ = trusted;
  return value;
}

Value Value::integer(Int number, bool trusted) {
  Value value;
  value.kind_ = Kind::kInt;
  value.integer_ = number;
  value.trusted_ = trusted;
  return value;
}

Value Value::real(double number, bool trusted) {
  Value value;
  value.kind_ = Kind::kFloat;
  value.real_ = number;
  value.trusted_ = trusted;
  return value;
}

Value Value::string(Text text, bool markup) {
  auto string = std::make_shared<String>();
  string->charge.set(kObjectBytes<String> + text.memory());
  string->text = std::move(text);
  string->markup = markup;
  return {Kind::kString, std::move(string)};
}

Value Value::list(std::vector<Value> items) {
  return make_sequence(Kind::kList, std::move(items));
}

Value Value::tuple(std::vector<Value> items) {
  return make_sequence(Kind::kTuple, std::move(items));
}

Value Value::group(Value key, Value members) {
  Value value = tuple({std::move(key), std::move(members)});
  static_cast<Sequence&>(*value.object_).is_group = true;
  return value;
}

Value Value::dict(Dict dict) {
  auto made = std::make_shared<Dict>(std::move(dict));
  made->charge_entries();
  return {Kind::kDict, std::move(made)};
}

Value Value::range(Int start, Int stop, Int step, bool trusted) {
  auto range = std::make_shared<Range>();
  range->charge.set(kObjectBytes<Range>);
  range->start = start;
  range->stop = stop;
  range->step = step;
  Value value(Kind::kRange, std::move(range));
  value.trusted_ = trusted;
  return value;
}

Value Value::undefined(std::string message) {
  auto reason = std::make_shared<Undefined>();
  reason->charge.set(kObjectBytes<Undefined> + message.size());
  reason->message = std::move(message);
  return {Kind::kUndefined, std::move(reason)};
}

Value Value::iterator(std::function<std::optional<Value>()> next, int level, size_t bytes) {
  auto iterator = std::make_shared<Iterator>();
  iterator->charge.set(kObjectBytes<Iterator> + kClosureBytes + bytes);
  iterator->next = std::move(next);
  iterator->level = checked_level(level);
  return {Kind::kIterator, std::move(iterator)};
}

const String& Value::as_string() const {
  return static_cast<const String&>(*object_);
}
const Text& Value::text() const {
  return as_string().text;
}
const Sequence& Value::as_sequence() const {
  return static_cast<const Sequence&>(*object_);
}
const std::vector<Value>& Value::items() const {
  return as_sequence().items;
}
const Dict& Value::as_dict() const {
  return static_cast<const Dict&>(*object_);
}
const Range& Value::as_range() const {
  return static_cast<const Range&>(*object_);
}
const View& Value::as_view() const {
  return static_cast<const View&>(*object_);
}
Iterator& Value::as_iterator() const {
  return static_cast<Iterator&>(*object_);
}
Namespace& Value::as_namespace() const {
  return static_cast<Namespace&>(*object_);
}
Loop& Value::as_loop() const {
  return static_cast<Loop&>(*object_);
}
const Function& Value::as_function() const {
  return static_cast<const Function&>(*object_);
}

std::string Value::undefined_message() const {
  return object_ == nullptr ? "the value is undefined"
                            : static_cast<const Undefined&>(*object_).message;
}

int Value::level() const {
  switch (kind_) {
    case Kind::kList:
    case Kind::kTuple:
      return as_sequence().level;
    case Kind::kDict:
      return as_dict().level;
    case Kind::kView:
      return as_view().dict.level() + 1;
    case Kind::kIterator:
      return as_iterator().level;
    case Kind::kFunction:
      return as_function().level;
    case Kind::kLoop:
      return as_loop().level();
    default:
      return 0;  // namespaces are freed one by one at the end of a rendering
  }
}

size_t Dict::index_of(const Value& key, uint64_t hash, Budget& budget) const {
  if (entries.size() <= kSmall) {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
      return equal(entry.first, key, budget);
    });
    return static_cast<size_t>(found - entries.begin());
  }
  const auto [begin, end] = index_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    budget.step();
    if (equal(entries[it->second].first, key, budget)) {
      return it->second;
    }
  }
  return entries.size();
}

const Value* Dict::find(const Value& key, Budget& budget) const {
  const size_t at = index_of(key, hash_of(key, budget), budget);
  return at == entries.size() ? nullptr : &entries[at].second;
}

const Value* Dict::find(std::string_view key) const {
  if (entries.size() <= kSmall) {
    for (const auto& [name, value] : entries) {
      if (name.is_string() && name.bytes() == key) {
        return &value;
      }
    }
    return nullptr;
  }
  const auto [begin, end] = index_.equal_range(std::hash<std::string_view>()(key));
  for (auto it = begin; it != end; ++it) {
    const auto& [name, value] = entries[it->second];
    if (name.is_string() && name.bytes() == key) {
      return &value;
    }
  }
  return nullptr;
}

void Dict::set(const Value& key, Value value, Budget& budget) {
  const uint64_t hash = hash_of(key, budget);
  const size_t at = index_of(key, hash, budget);
  level = std::max({level, checked_level(key.level()), checked_level(value.level())});
  if (at < entries.size()) {
    entries[at].second = std::move(value);
    return;
  }
  entries.emplace_back(key, std::move(value));
  charge_entries();
  if (entries.size() > kSmall + 1) {
    index_.emplace(hash, at);
  } else if (entries.size() == kSmall + 1) {
    for (size_t i = 0; i < entries.size(); ++i) {
      index_.emplace(hash_of(entries[i].first, budget), i);
    }
  }
}

void Dict::charge_entries() {
  // A node of the index, its place in the table, and what growing wastes.
  constexpr uint64_t kIndexBytes = 64;
  const uint64_t indexed = entries.size() > kSmall ? entries.size() : 0;
  charge.set(kObjectBytes<Dict> + entries.size() * sizeof(entries[0]) + indexed * kIndexBytes);
}

Int Range::count() const {
  if (step > 0) {
    return start < stop ? (stop - start + step - 1) / step : 0;
  }
  return start > stop ? (start - stop - step - 1) / -step : 0;
}

Value* Namespace::find(std::string_view name) {
  for (auto& [field, value] : fields) {
    if (field == name) {
      return &value;
    }
  }
  return nullptr;
}

void Namespace::set(std::string_view name, Value value) {
  if (Value* field = find(name)) {
    *field = std::move(value);
  } else {
    fields.emplace_back(std::string(name), std::move(value));
    charge.set(kObjectBytes<Namespace> + fields.size() * sizeof(fields[0]));
  }
}

std::string type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return value.as_string().markup ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      return value.as_view().what == View::What::kKeys     ? "dict_keys"
             : value.as_view().what == View::What::kValues ? "dict_values"
                                                           : "dict_items";
    case Kind::kIterator:
      return "generator";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kFunction:
      return "function";
    case Kind::kLoop:
      return "LoopContext";
  }
  return "object";
}

}  // namespace netcl::text::jinja
