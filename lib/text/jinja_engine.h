// SPDX-License-Identifier: Apache-2.0
// What the functions, filters and tests of a template can use while it is rendered.
#ifndef NETCL_TEXT_JINJA_ENGINE_H_
#define NETCL_TEXT_JINJA_ENGINE_H_

#include <array>
#include <ctime>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_budget.h"
#include "text/jinja_value.h"

namespace netcl::text::jinja {

class Engine {
 public:
  Engine(const Limits& limits, const std::tm& time) : budget(limits), now(time) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Calls what may be called; throws Failure for the rest.
  Value call(const Value& callee, Arguments& arguments);
  Value apply_filter(std::string_view name, const Value& input, Arguments& arguments);
  bool apply_test(std::string_view name, const Value& input, Arguments& arguments);

  // A new namespace, freed at the end of the rendering: it may refer to itself.
  Value make_namespace();

  Budget budget;
  std::tm now{};  // for strftime_now

 protected:
  std::vector<std::shared_ptr<Namespace>> namespaces_;
};

// A function as a value.
Value make_function(std::string name, std::function<Value(Engine&, Arguments&)> call,
                    int level = 0);

// Arguments in the order of `names`, those that were not given empty. Throws Failure for too many,
// unknown or repeated ones and for missing ones among the first `required`.
using Bound = std::vector<std::optional<Value>>;
Bound bind(std::string_view function, Arguments& arguments,
           std::initializer_list<std::string_view> names, size_t required = 0);

using Filter = Value (*)(Engine&, const Value& input, Arguments&);
using Test = bool (*)(Engine&, const Value& input, Arguments&);

// Null for unknown names.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);
// range, namespace, dict, cycler, joiner, raise_exception, strftime_now.
std::vector<std::pair<std::string, Value>> global_functions();

// The method of a string, nothing for a name that Python's str does not have.
std::optional<Value> string_method(const Value& string, std::string_view name);

// JSON text as Python's json.dumps writes it.
struct JsonStyle {
  bool ascii = false;
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};
Text to_json(const Value& value, const JsonStyle& style, Budget& budget);

// Text as Python's str methods change it, a table of which lies in jinja_case.cpp.
enum class Case { kUpper, kLower, kTitle, kCapitalized, kSwapped, kFolded };
Text with_case(const Text& text, Case wanted, Budget& budget);

// datetime.strftime() in the C locale.
std::string format_time(const std::string& format, const std::tm& time);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_ENGINE_H_
