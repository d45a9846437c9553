// SPDX-License-Identifier: Apache-2.0
// Values laid out on lines of 80 characters, as Python's pprint does it.
#include <algorithm>

#include "text/jinja_chars.h"
#include "text/jinja_filters.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

constexpr size_t kLineWidth = 80;

size_t character_count(const Text& text) {
  return count_characters(text.bytes());
}

// By their own order where they have one, else by the names of their types.
bool sorts_before(const Value& left, const Value& right, Budget& budget) {
  try {
    return compare(left, right, budget) == -1;
  } catch (const Failure&) {
    if (left.is_undefined() || right.is_undefined()) {
      throw;
    }
    budget.step();  // so that it ends where the limit was what failed
    return type_name(left) < type_name(right);
  }
}

// Lists and tuples, but not those of groupby, which pprint does not look into.
bool is_laid_out(const Value& value) {
  return value.is_sequence() && !value.as_sequence().is_group;
}

// The value with the entries of all its dicts in order.
Value in_order(const Value& value, Budget& budget) {
  budget.step();
  budget.made(4 * sizeof(Value));
  if (is_laid_out(value)) {
    MemoryCharge charge;
    charge.set(value.items().size() * sizeof(Value));
    std::vector<Value> items;
    items.reserve(value.items().size());
    for (const Value& item : value.items()) {
      items.push_back(in_order(item, budget));
    }
    return value.is(Kind::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
  }
  if (!value.is(Kind::kDict)) {
    return value;
  }
  MemoryCharge charge;
  charge.set(value.as_dict().entries.size() * 2 * sizeof(Value));
  std::vector<std::pair<Value, Value>> entries = value.as_dict().entries;
  std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
    return sorts_before(a.first, b.first, budget);
  });
  Dict dict;
  for (const auto& [key, item] : entries) {
    dict.set(key, in_order(item, budget), budget);
  }
  return Value::dict(std::move(dict));
}

class Printer {
 public:
  explicit Printer(Budget& budget) : budget_(budget) {}

  // `indent` characters stand before the value on its line; `allowance` come behind it.
  void print(const Value& value, size_t indent, size_t allowance, int level) {
    const Text repr = to_repr(value, budget_);
    budget_.made(repr.size());
    const bool breaks = character_count(repr) + indent + allowance > kLineWidth;
    if (breaks && value.is(Kind::kDict) && !value.as_dict().entries.empty()) {
      print_entries(value.as_dict(), indent, allowance, level);
    } else if (breaks && is_laid_out(value)) {
      print_items(value, indent, allowance, level);
    } else if (breaks && value.is_string() && !value.as_string().markup && !value.text().empty()) {
      print_string(value.text(), indent, allowance, level);
    } else {
      out.append(repr);
    }
  }

  Text out;

 private:
  void new_line(size_t indent) {
    budget_.made(indent);
    out.append("\n" + std::string(indent, ' '), kNoMarks);
  }

  void print_entries(const Dict& dict, size_t indent, size_t allowance, int level) {
    out.append("{", kNoMarks);
    for (size_t i = 0; i < dict.entries.size(); ++i) {
      const auto& [key, value] = dict.entries[i];
      const bool is_last = i + 1 == dict.entries.size();
      const Text name = to_repr(key, budget_);
      out.append(name);
      out.append(": ", kNoMarks);
      print(value, indent + 3 + character_count(name), is_last ? allowance + 1 : 1, level + 1);
      if (!is_last) {
        out.append(",", kNoMarks);
        new_line(indent + 1);
      }
    }
    out.append("}", kNoMarks);
  }

  void print_items(const Value& value, size_t indent, size_t allowance, int level) {
    const std::vector<Value>& items = value.items();
    const bool is_list = value.is(Kind::kList);
    const std::string_view end = is_list ? "]" : items.size() == 1 ? ",)" : ")";
    out.append(is_list ? "[" : "(", kNoMarks);
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_last = i + 1 == items.size();
      print(items[i], indent + 1, is_last ? allowance + end.size() : 1, level + 1);
      if (!is_last) {
        out.append(",", kNoMarks);
        new_line(indent + 1);
      }
    }
    out.append(end, kNoMarks);
  }

  Text repr_of(const Text& text) {
    budget_.made(text.size());
    return to_repr(Value::string(text), budget_);
  }

  // Literals one below the other, broken behind line ends and, where need be, between words.
  void print_string(const Text& text, size_t indent, size_t allowance, int level) {
    if (level == 1) {
      ++indent;
      ++allowance;
    }
    const std::vector<Text> lines = split_lines(text, true, budget_);
    // Widths below zero, deep inside, leave room for nothing.
    const auto width = [&](bool is_last) {
      const size_t taken = indent + (is_last ? allowance : 0);
      return taken < kLineWidth ? kLineWidth - taken : 0;
    };
    std::vector<Text> literals;
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool is_last = i + 1 == lines.size();
      const Text repr = repr_of(lines[i]);
      if (character_count(repr) <= width(is_last)) {
        literals.push_back(repr);
      } else {
        add_words(lines[i], width(false), is_last ? allowance : 0, literals);
      }
    }
    if (literals.size() == 1) {
      out.append(literals[0]);
      return;
    }
    out.append(level == 1 ? "(" : "", kNoMarks);
    for (size_t i = 0; i < literals.size(); ++i) {
      if (i > 0) {
        new_line(indent);
      }
      out.append(literals[i]);
    }
    out.append(level == 1 ? ")" : "", kNoMarks);
  }

  // Words with the white space behind them, as many in a literal as fit.
  void add_words(const Text& line, size_t width, size_t allowance, std::vector<Text>& literals) {
    const std::string& bytes = line.bytes();
    size_t begin = 0;  // of the literal
    size_t taken = 0;  // up to here it fits
    while (taken < bytes.size()) {
      size_t end = taken;
      while (end < bytes.size() && !is_python_space(decode_utf8(bytes, end).code_point)) {
        end += decode_utf8(bytes, end).byte_count;
      }
      end = skip_space(bytes, end);
      const size_t left = end == bytes.size() ? allowance : 0;
      const size_t room = width > left ? width - left : 0;
      if (character_count(repr_of(line.slice(begin, end))) > room && taken > begin) {
        literals.push_back(repr_of(line.slice(begin, taken)));
        begin = taken;
      }
      taken = end;
    }
    if (begin < taken) {
      literals.push_back(repr_of(line.slice(begin, taken)));
    }
  }

  Budget& budget_;
};

Value pprint(Engine& engine, const Value& input, Arguments& arguments) {
  bind("pprint", arguments, {});
  Printer printer(engine.budget);
  printer.print(in_order(input, engine.budget), 0, 0, 1);
  return Value::string(std::move(printer.out));
}

}  // namespace

const FilterTable& pprint_filters() {
  static const FilterTable table = {{"pprint", pprint}};
  return table;
}

}  // namespace netcl::text::jinja
