// SPDX-License-Identifier: Apache-2.0
// The filters, by kind, and what they share.
#ifndef NETCL_TEXT_JINJA_FILTERS_H_
#define NETCL_TEXT_JINJA_FILTERS_H_

#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "text/jinja_engine.h"

namespace netcl::text::jinja {

using FilterTable = std::map<std::string_view, Filter>;
const FilterTable& string_filters();
const FilterTable& list_filters();
const FilterTable& order_filters();
const FilterTable& number_filters();
const FilterTable& html_filters();
const FilterTable& pprint_filters();

// What an attribute argument of a filter selects from a value: itself (none), an item of that
// index, or along a path of names with dots.
using Getter = std::function<Value(const Value&)>;
Getter make_getter(Engine& engine, const Value& attribute,
                   const std::optional<Value>& otherwise = std::nullopt);

// The value with strings in lower case, which makes comparing ignore case.
Value without_case(const Value& value, Budget& budget);

bool given_truth(const std::optional<Value>& value, Budget& budget, bool otherwise = false);

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_FILTERS_H_
