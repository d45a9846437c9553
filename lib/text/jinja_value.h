// SPDX-License-Identifier: Apache-2.0
// Values of the template engine, with the semantics of Python's. Lists and dicts never change once
// made, as in Jinja's immutable sandbox; only namespaces do. Strings know the origin of each byte
// (jinja_text.h), other scalars whether they stem from the template alone (for when they are
// printed).
#ifndef NETCL_TEXT_JINJA_VALUE_H_
#define NETCL_TEXT_JINJA_VALUE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja_budget.h"
#include "text/jinja_memory.h"
#include "text/jinja_text.h"

namespace netcl::text::jinja {

// Integers: Python's have no limit, these have 127 bits and refuse to overflow.
__extension__ typedef __int128 Int;                   // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 UnsignedInt;  // NOLINT(modernize-use-using)

enum class Kind : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,      // keys(), values() or items() of a dict
  kIterator,  // what map, select and their like give: values to be taken once
  kNamespace,
  kFunction,  // macros, methods and global functions
  kLoop,
};

// What a value refers to when it is no scalar.
struct Object {
  Object() = default;
  Object(const Object&) = default;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // What it takes, with what it owns and nobody else charges. Set by whoever fills it.
  MemoryCharge charge;
};

class Value;
struct Undefined;
struct String;
struct Sequence;
struct Dict;
struct Range;
struct View;
struct Iterator;
struct Namespace;
struct Function;
class Loop;

class Value {
 public:
  Value() = default;  // undefined, without a reason

  static Value none(bool trusted = false);
  static Value boolean(bool value, bool trusted = false);
  static Value integer(Int value, bool trusted = false);
  static Value real(double value, bool trusted = false);
  static Value string(Text text, bool markup = false);
  static Value string(std::string bytes, Marks marks) {
    return string(Text(std::move(bytes), marks));
  }
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  static Value group(Value key, Value members);
  static Value dict(Dict dict);
  static Value range(Int start, Int stop, Int step, bool trusted = false);
  // `message` is the complete text of the error that using the value gives.
  static Value undefined(std::string message);
  // Pulls values until `next` gives none. `level` is that of the values it goes through, `bytes`
  // what `next` holds besides a few values.
  static Value iterator(std::function<std::optional<Value>()> next, int level, size_t bytes = 0);
  Value(Kind kind, std::shared_ptr<Object> object) : kind_(kind), object_(std::move(object)) {}

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  // Bools are numbers, and integers, in Python.
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }
  // Of a scalar that is no string: from the template alone.
  bool trusted() const { return trusted_; }

  // Each requires the kind.
  bool as_bool() const { return integer_ != 0; }
  Int as_int() const { return integer_; }  // of kInt and kBool
  double as_float() const { return real_; }
  const String& as_string() const;
  const Text& text() const;
  const std::string& bytes() const { return text().bytes(); }
  const Sequence& as_sequence() const;
  const std::vector<Value>& items() const;
  const Dict& as_dict() const;
  const Range& as_range() const;
  const View& as_view() const;
  Iterator& as_iterator() const;
  Namespace& as_namespace() const;
  const Function& as_function() const;
  Loop& as_loop() const;
  std::string undefined_message() const;

  const std::shared_ptr<Object>& object() const { return object_; }
  // How deep containers are nested in it. Bounded, so that values can be gone through, and freed,
  // by recursion.
  int level() const;

 private:
  Kind kind_ = Kind::kUndefined;
  bool trusted_ = false;
  double real_ = 0;
  Int integer_ = 0;
  std::shared_ptr<Object> object_;
};

inline constexpr int kMaxLevel = 400;
// What a std::function with a few captured values takes, about.
inline constexpr size_t kClosureBytes = 256;

struct Undefined : Object {
  std::string message;
};

struct String : Object {
  Text text;
  bool markup = false;  // declared safe for HTML: adding to it escapes what is added
};

struct Sequence : Object {
  std::vector<Value> items;
  int level = 0;
  bool is_group = false;  // a tuple of groupby, whose elements have names
};

// Keeps the order of insertion.
struct Dict : Object {
  std::vector<std::pair<Value, Value>> entries;
  int level = 1;

  // Throws Failure for a key that Python cannot hash.
  const Value* find(const Value& key, Budget& budget) const;
  const Value* find(std::string_view key) const;
  // Replaces the value of a key that is there already.
  void set(const Value& key, Value value, Budget& budget);
  void charge_entries();

 private:
  // Up to so many entries are looked through one by one.
  static constexpr size_t kSmall = 8;
  size_t index_of(const Value& key, uint64_t hash, Budget& budget) const;
  std::unordered_multimap<uint64_t, size_t> index_;  // by hash, when there are more than kSmall
};

struct Range : Object {
  Int start = 0, stop = 0, step = 1;
  Int count() const;
};

struct View : Object {
  enum class What { kKeys, kValues, kItems };
  Value dict;
  What what = What::kKeys;
};

struct Iterator : Object {
  std::function<std::optional<Value>()> next;
  int level = 0;
};

struct Namespace : Object {
  std::vector<std::pair<std::string, Value>> fields;
  Value* find(std::string_view name);
  void set(std::string_view name, Value value);
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  MemoryCharge charge;

  // Bytes of a copy, about.
  size_t memory() const {
    return positional.size() * sizeof(Value) + named.size() * sizeof(named[0]);
  }
};

class Engine;

struct Function : Object {
  std::string name;
  std::function<Value(Engine&, Arguments&)> call;
  std::function<std::optional<Value>(std::string_view)> attribute;  // may be empty
  int level = 0;
};

// Name of the type as Python has it.
std::string type_name(const Value& value);

bool truth(const Value& value, Budget& budget);
bool equal(const Value& left, const Value& right, Budget& budget);
// Less, equal or greater as -1, 0, 1; nothing where one of them is NaN. Throws Failure for values
// without an order.
std::optional<int> compare(const Value& left, const Value& right, Budget& budget,
                           std::string_view operation = "<");
uint64_t hash_of(const Value& value, Budget& budget);
bool contains(const Value& container, const Value& item, Budget& budget);

// The elements one after the other. Throws Failure for what cannot be gone through.
std::function<std::optional<Value>()> iterate(const Value& value);
std::vector<Value> elements(const Value& value, Budget& budget);
// Number of elements (code points of a string); nothing for what has no length.
std::optional<size_t> length(const Value& value);

// str() and repr().
Text to_str(const Value& value, Budget& budget);
Text to_repr(const Value& value, Budget& budget);
std::string int_text(Int value);
std::string float_text(double value);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_VALUE_H_
