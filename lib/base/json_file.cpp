// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"

namespace netcl::base {

namespace {

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

// Makes the value of nlohmann's events. Their own maker with a callback goes through all elements
// of an array or object whenever one of them ends, and their ordered objects through all keys when
// one is added: both are quadratic.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view text, std::string_view where, BigIntegers big_integers)
      : text_(text), where_(where), big_integers_(big_integers) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& digits) override {
    if (big_integers_ == BigIntegers::kRefuse && digits.find_first_of(".eE") == std::string::npos) {
      // The first one that is written so, since every one is refused.
      throw FormatError(at_byte(where_, find_json_number(text_, digits)) + ": " + place() +
                        "the integer " + digits.substr(0, 60) + " has more than 64 bits");
    }
    return add(value);
  }
  bool string(string_t& value) override {
    ++strings_;
    return add(std::move(value));
  }
  bool binary(binary_t&) override { return true; }  // only binary formats have it

  bool start_object(std::size_t) override {
    open(Json::object());
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    open(Json::array());
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      throw FormatError(at_byte(where_, find_json_string(text_, strings_)) +
                        ": duplicate JSON key " + quote(name));
    }
    ++strings_;
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const Json::exception& error) override {
    throw FormatError(at_byte(where_, byte == 0 ? 0 : byte - 1) +
                      ": not valid JSON: " + reason(error.what()));
  }

 private:
  template <typename Value>
  bool add(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }

  void open(Json container) {
    if (open_.size() >= kMaxJsonDepth) {
      throw FormatError(at_byte(where_, find_json_depth(text_, kMaxJsonDepth + 1)) +
                        ": JSON nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    open_.push_back(&place(std::move(container)));
  }

  // Where the value stands that comes next: "field 'messages[0].n': ", nothing for the root.
  std::string place() const {
    std::string path;
    for (const Json* const& container : open_) {
      const bool is_innermost = &container == &open_.back();
      if (container->is_array()) {
        path += "[" + std::to_string(container->size() - (is_innermost ? 0 : 1)) + "]";
      } else {
        path += (path.empty() ? "" : ".") +
                (is_innermost ? key_ : container->get_ref<const Json::object_t&>().back().first);
      }
    }
    return path.empty() ? "" : "field " + quote(path, 200) + ": ";
  }

  Json& place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    Json::object_t::Container& fields = parent.get_ref<Json::object_t&>();
    return fields.emplace_back(std::move(key_), std::move(value)).second;
  }

  std::string_view text_;
  std::string_view where_;
  BigIntegers big_integers_;
  size_t strings_ = 0;  // so far, keys and values: the parser does not say where it is
  Json root_;
  std::vector<Json*> open_;  // a container never moves while one in it is open
  std::vector<std::unordered_set<std::string>> keys_;  // of the open objects
  std::string key_;
};

[[noreturn]] void wrong_type(std::string_view key, std::string_view where, const Json& value,
                             std::string_view wanted) {
  throw FormatError(std::string(where) + ": field '" + std::string(key) + "': expected " +
                    std::string(wanted) + ", found " + value.type_name());
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where, BigIntegers big_integers) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    throw FormatError(at_byte(where, 0) +
                      ": byte order mark before JSON; remove the first 3 bytes");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    // The parser would take it for the end of the text.
    throw FormatError(at_byte(where, nul) + ": not valid JSON: NUL byte");
  }
  TreeBuilder builder(text, where, big_integers);
  try {
    Json::sax_parse(text.begin(), text.end(), &builder);
  } catch (const Json::exception& error) {
    throw FormatError(std::string(where) + ": not valid JSON: " + reason(error.what()));
  }
  return builder.take();
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
