// SPDX-License-Identifier: Apache-2.0
// Filters that order, group and count values.
#include <algorithm>
#include <set>

#include "text/jinja_filters.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

struct Keyed {
  Value key;
  Value value;
};

// Stable; with `is_reversed` the greatest first, equal ones still in their order.
std::vector<Value> sorted(std::vector<Keyed> keyed, bool is_reversed, Budget& budget) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return (is_reversed ? compare(b.key, a.key, budget) : compare(a.key, b.key, budget)) == -1;
  });
  std::vector<Value> values;
  values.reserve(keyed.size());
  for (Keyed& item : keyed) {
    values.push_back(std::move(item.value));
  }
  return values;
}

Getter key_getter(Engine& engine, const std::optional<Value>& attribute, bool case_sensitive,
                  const std::optional<Value>& otherwise = std::nullopt) {
  Getter get = make_getter(engine, attribute.value_or(Value::none()), otherwise);
  if (case_sensitive) {
    return get;
  }
  return [get, &engine](const Value& value) { return without_case(get(value), engine.budget); };
}

// sort's attribute may be several, with commas between.
std::vector<Getter> sort_getters(Engine& engine, const std::optional<Value>& attribute,
                                 bool case_sensitive) {
  std::vector<Getter> getters;
  if (attribute && attribute->is_string()) {
    for (const Text& part : split_at(attribute->text(), ",", -1, false, engine.budget)) {
      getters.push_back(key_getter(engine, Value::string(part), case_sensitive));
    }
  } else {
    getters.push_back(key_getter(engine, attribute, case_sensitive));
  }
  return getters;
}

Value sort(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const std::vector<Getter> getters =
      sort_getters(engine, bound[2], given_truth(bound[1], engine.budget));
  std::vector<Keyed> keyed;
  for (Value& value : elements(input, engine.budget)) {
    std::vector<Value> keys;
    keys.reserve(getters.size());
    for (const Getter& get : getters) {
      keys.push_back(get(value));
    }
    keyed.push_back({Value::list(std::move(keys)), std::move(value)});
  }
  return Value::list(sorted(std::move(keyed), given_truth(bound[0], engine.budget), engine.budget));
}

Value dictsort(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const bool case_sensitive = given_truth(bound[0], engine.budget);
  const std::string by = bound[1] ? string_of(*bound[1], "'dictsort'") : "key";
  if (by != "key" && by != "value") {
    throw Failure("'dictsort' sorts by 'key' or 'value'");
  }
  if (!input.is(Kind::kDict)) {
    throw Failure(input.is_undefined() ? input.undefined_message()
                                       : "'dictsort' needs a dict, not " + type_name(input));
  }
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : input.as_dict().entries) {
    const Value& wanted = by == "key" ? key : value;
    keyed.push_back({case_sensitive ? wanted : without_case(wanted, engine.budget),
                     Value::tuple({key, value})});
  }
  return Value::list(sorted(std::move(keyed), given_truth(bound[2], engine.budget), engine.budget));
}

template <int kWanted>
Value extreme(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("min or max", arguments, {"case_sensitive", "attribute"});
  const Getter get = key_getter(engine, bound[1], given_truth(bound[0], engine.budget));
  std::optional<Keyed> best;
  const auto next = iterate(input);
  while (std::optional<Value> item = next()) {
    Value key = get(*item);
    if (!best || compare(key, best->key, engine.budget) == kWanted) {
      best = Keyed{std::move(key), std::move(*item)};
    }
  }
  return best ? best->value : Value::undefined("there is no item: the sequence is empty");
}

Value sum(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("sum", arguments, {"attribute", "start"});
  const Getter get = make_getter(engine, bound[0].value_or(Value::none()));
  Value total = bound[1].value_or(Value::integer(0, true));
  if (total.is_string()) {
    throw Failure("'sum' does not add strings; use 'join'");
  }
  const auto next = iterate(input);
  while (const std::optional<Value> item = next()) {
    total = arithmetic("+", total, get(*item), engine.budget);
  }
  return total;
}

Value unique(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("unique", arguments, {"case_sensitive", "attribute"});
  const Getter get = key_getter(engine, bound[1], given_truth(bound[0], engine.budget));
  auto seen = std::make_shared<Dict>();  // charges what it grows to
  return Value::iterator(
      [&engine, next = iterate(input), get, seen]() -> std::optional<Value> {
        while (std::optional<Value> item = next()) {
          const Value key = get(*item);
          if (seen->find(key, engine.budget) == nullptr) {
            seen->set(key, Value::none(), engine.budget);
            return item;
          }
        }
        return std::nullopt;
      },
      input.level() + 1);
}

Value groupby(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const bool case_sensitive = given_truth(bound[2], engine.budget);
  const Getter get_key = key_getter(engine, bound[0], case_sensitive, bound[1]);
  const Getter get_shown = make_getter(engine, *bound[0], bound[1]);
  std::vector<Keyed> keyed;
  for (Value& value : elements(input, engine.budget)) {
    keyed.push_back({get_key(value), std::move(value)});
  }
  std::vector<Value> groups;
  std::vector<Value> members;
  std::optional<Value> key;
  const auto end_group = [&] {
    if (!members.empty()) {
      Value shown = get_shown(members[0]);
      groups.push_back(Value::group(std::move(shown), Value::list(std::move(members))));
      members.clear();
    }
  };
  for (Value& value : sorted(std::move(keyed), false, engine.budget)) {
    Value its_key = get_key(value);
    if (!key || !equal(*key, its_key, engine.budget)) {
      end_group();
      key = std::move(its_key);
    }
    members.push_back(std::move(value));
  }
  end_group();
  return Value::list(std::move(groups));
}

size_t positive(const std::optional<Value>& value, std::string_view what) {
  const Int number = index_of(*value, what);
  if (number < 1 || number > 1'000'000) {
    throw Failure(std::string(what) + " must be from 1 to 1000000");
  }
  return static_cast<size_t>(number);
}

// Rows of `linecount` elements, the last one filled up if there is something to fill with.
Value batch(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("batch", arguments, {"linecount", "fill_with"}, 1);
  const size_t size = positive(bound[0], "the size of a batch");
  std::vector<Value> rows;
  std::vector<Value> row;
  for (Value& value : elements(input, engine.budget)) {
    if (row.size() == size) {
      rows.push_back(Value::list(std::move(row)));
      row.clear();
    }
    row.push_back(std::move(value));
  }
  if (!row.empty()) {
    if (bound[1] && !bound[1]->is_none()) {
      row.resize(size, *bound[1]);
    }
    rows.push_back(Value::list(std::move(row)));
  }
  const Value all = Value::list(std::move(rows));
  return Value::iterator(iterate(all), all.level());
}

// `slices` columns, the first ones one longer where it does not come out even.
Value slice(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("slice", arguments, {"slices", "fill_with"}, 1);
  const size_t count = positive(bound[0], "the number of slices");
  const std::vector<Value> values = elements(input, engine.budget);
  engine.budget.step(count);
  const size_t longer = values.size() % count;
  std::vector<Value> columns;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t end = at + values.size() / count + (i < longer ? 1 : 0);
    std::vector<Value> column(values.begin() + static_cast<std::ptrdiff_t>(at),
                              values.begin() + static_cast<std::ptrdiff_t>(end));
    if (bound[1] && !bound[1]->is_none() && i >= longer) {
      column.push_back(*bound[1]);
    }
    columns.push_back(Value::list(std::move(column)));
    at = end;
  }
  const Value all = Value::list(std::move(columns));
  return Value::iterator(iterate(all), all.level());
}

}  // namespace

const FilterTable& order_filters() {
  static const FilterTable table = {
      {"sort", sort},       {"dictsort", dictsort}, {"min", extreme<-1>},
      {"max", extreme<1>},  {"sum", sum},           {"unique", unique},
      {"groupby", groupby}, {"batch", batch},       {"slice", slice},
  };
  return table;
}

}  // namespace netcl::text::jinja
