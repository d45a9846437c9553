// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_filters.h"

#include "text/jinja_operators.h"

namespace netcl::text::jinja {

Filter find_filter(std::string_view name) {
  for (const FilterTable* table : {&string_filters(), &list_filters(), &order_filters(),
                                   &number_filters(), &html_filters(), &pprint_filters()}) {
    if (const auto found = table->find(name); found != table->end()) {
      return found->second;
    }
  }
  return nullptr;
}

Getter make_getter(Engine& engine, const Value& attribute, const std::optional<Value>& otherwise) {
  std::vector<Value> path;
  if (attribute.is_string()) {
    const std::string& bytes = attribute.bytes();
    for (size_t begin = 0; begin <= bytes.size();) {
      const size_t end = std::min(bytes.find('.', begin), bytes.size());
      const std::string part = bytes.substr(begin, end - begin);
      const bool is_number =
          !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
      if (is_number && part.size() < 19) {
        path.push_back(Value::integer(std::stoll(part)));
      } else {
        path.push_back(Value::string(part, kNoMarks));
      }
      begin = end + 1;
    }
  } else if (!attribute.is_none()) {
    path.push_back(attribute);
  }
  const bool has_default = otherwise && !otherwise->is_none();
  return [&engine, path, otherwise, has_default](const Value& value) {
    Value found = value;
    for (const Value& part : path) {
      engine.budget.step();
      found = get_item(found, part, engine);
      if (has_default && found.is_undefined()) {
        found = *otherwise;
      }
    }
    return found;
  };
}

Value without_case(const Value& value, Budget& budget) {
  return value.is_string() ? Value::string(with_case(value.text(), Case::kLower, budget)) : value;
}

bool given_truth(const std::optional<Value>& value, Budget& budget, bool otherwise) {
  return value ? truth(*value, budget) : otherwise;
}

}  // namespace netcl::text::jinja
