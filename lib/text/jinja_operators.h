// SPDX-License-Identifier: Apache-2.0
// Python's operators, attributes and items on values. All throw Failure where Python raises.
#ifndef NETCL_TEXT_JINJA_OPERATORS_H_
#define NETCL_TEXT_JINJA_OPERATORS_H_

#include <string>
#include <string_view>

#include "text/jinja_value.h"

namespace netcl::text::jinja {

// left `sign` right, with sign one of + - * / // % **.
Value arithmetic(std::string_view sign, const Value& left, const Value& right, Budget& budget);
Value negated(const Value& value);
Value plus(const Value& value);

// value.name: an attribute or method, else the item of that name, else undefined.
Value get_attribute(const Value& value, std::string_view name, Engine& engine);
// value[key]: the item, else the attribute of that name, else undefined.
Value get_item(const Value& value, const Value& key, Engine& engine);
// value[start:stop:step]; None for what is left out.
Value get_slice(const Value& value, const Value& start, const Value& stop, const Value& step,
                Budget& budget);

// left % right for a string on the left: printf's conversions as Python has them.
Text format_percent(const Text& format, const Value& right, Budget& budget);
// format.format(...): replacement fields with Python's format specifications.
Text format_braces(const Text& format, Arguments& arguments, Engine& engine);

// Text with the characters that HTML gives a meaning written as entities.
Text html_escaped(const Text& text, Budget& budget);
// str() of a value as part of markup: escaped unless it is markup itself.
Text html_text(const Value& value, Budget& budget);

// An int, from an integral value; throws Failure naming `what` otherwise.
Int index_of(const Value& value, std::string_view what);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_OPERATORS_H_
