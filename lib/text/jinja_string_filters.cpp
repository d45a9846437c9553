// SPDX-License-Identifier: Apache-2.0
// Filters that make strings.
#include <algorithm>

#include "text/jinja_chars.h"
#include "text/jinja_filters.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"

namespace netcl::text::jinja {

namespace {

// The input as a string; markup stays markup.
Value soft(Engine& engine, const Value& input) {
  return input.is_string() ? input : Value::string(to_str(input, engine.budget));
}

// A method of strings as a filter.
Value through_method(Engine& engine, const Value& input, std::string_view name,
                     Arguments& arguments) {
  const Value text = soft(engine, input);
  return engine.call(*string_method(text, name), arguments);
}

Value string(Engine& engine, const Value& input, Arguments& arguments) {
  bind("string", arguments, {});
  return soft(engine, input);
}
Value upper(Engine& engine, const Value& input, Arguments& arguments) {
  return through_method(engine, input, "upper", arguments);
}
Value lower(Engine& engine, const Value& input, Arguments& arguments) {
  return through_method(engine, input, "lower", arguments);
}
Value capitalize(Engine& engine, const Value& input, Arguments& arguments) {
  return through_method(engine, input, "capitalize", arguments);
}
Value trim(Engine& engine, const Value& input, Arguments& arguments) {
  return through_method(engine, input, "strip", arguments);
}

// The first letter after white space, hyphens or opening brackets in upper case, the rest lower.
Value title(Engine& engine, const Value& input, Arguments& arguments) {
  bind("title", arguments, {});
  const Value text = soft(engine, input);
  const std::string& bytes = text.bytes();
  const auto splits = [&](size_t at) {
    const char32_t c = decode_utf8(bytes, at).code_point;
    return is_python_space(c) || std::u32string_view(U"-({[<").find(c) != std::u32string::npos;
  };
  Text out;
  for (size_t at = 0; at < bytes.size();) {
    const bool is_between = splits(at);
    const size_t first = at + decode_utf8(bytes, at).byte_count;
    size_t end = first;
    while (end < bytes.size() && splits(end) == is_between) {
      end += decode_utf8(bytes, end).byte_count;
    }
    engine.budget.step();
    out.append(with_case(text.text().slice(at, first), Case::kUpper, engine.budget));
    out.append(with_case(text.text().slice(first, end), Case::kLower, engine.budget));
    at = end;
  }
  return Value::string(std::move(out));
}

Value center(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("center", arguments, {"width"});
  Arguments width;
  width.positional.push_back(bound[0].value_or(Value::integer(80)));
  return through_method(engine, input, "center", width);
}

Value replace(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("replace", arguments, {"old", "new", "count"}, 2);
  const Int count = bound[2] && !bound[2]->is_none() ? index_of(*bound[2], "a count") : Int{-1};
  return Value::string(replaced(to_str(input, engine.budget),
                                to_str(*bound[0], engine.budget).bytes(),
                                to_str(*bound[1], engine.budget), count, engine.budget));
}

Value escape(Engine& engine, const Value& input, Arguments& arguments) {
  bind("escape", arguments, {});
  return Value::string(html_text(input, engine.budget), true);
}
Value forceescape(Engine& engine, const Value& input, Arguments& arguments) {
  bind("forceescape", arguments, {});
  return Value::string(html_escaped(to_str(input, engine.budget), engine.budget), true);
}
Value safe(Engine& engine, const Value& input, Arguments& arguments) {
  bind("safe", arguments, {});
  return Value::string(to_str(input, engine.budget), true);
}

Value format(Engine& engine, const Value& input, Arguments& arguments) {
  if (!arguments.named.empty() && !arguments.positional.empty()) {
    throw Failure("'format' takes positional or named arguments, not both");
  }
  Value right;
  if (arguments.named.empty()) {
    right = Value::tuple(arguments.positional);
  } else {
    Dict named;
    for (const auto& [name, value] : arguments.named) {
      named.set(Value::string(name, kNoMarks), value, engine.budget);
    }
    right = Value::dict(std::move(named));
  }
  return arithmetic("%", soft(engine, input), right, engine.budget);
}

Value indent(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("indent", arguments, {"width", "first", "blank"});
  string_of(input, "'indent'");
  Text indention;
  if (bound[0] && bound[0]->is_string()) {
    indention = bound[0]->text();
  } else {
    const Int width = bound[0] ? index_of(*bound[0], "the width") : 4;
    append_repeated(Text(" ", kNoMarks), width, indention);
  }
  Text text = input.text();
  text.append("\n", kNoMarks);
  const bool indents_blank = given_truth(bound[2], engine.budget);
  Text out;
  bool is_first = true;
  for (const Text& line : split_lines(text, false, engine.budget)) {
    engine.budget.step();
    if (!is_first) {
      out.append("\n", kNoMarks);
    }
    if (is_first ? given_truth(bound[1], engine.budget) : indents_blank || !line.empty()) {
      out.append(indention);
    }
    out.append(line);
    is_first = false;
  }
  return Value::string(std::move(out), input.as_string().markup);
}

Value truncate(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("truncate", arguments, {"length", "killwords", "end", "leeway"});
  const Int limit = bound[0] ? index_of(*bound[0], "the length") : 255;
  const Value end = bound[2].value_or(Value::string("...", kNoMarks));
  const bool has_leeway = bound[3] && !bound[3]->is_none();
  const Int leeway = has_leeway ? index_of(*bound[3], "the leeway") : 5;
  const std::optional<size_t> count = length(input);
  const std::optional<size_t> end_count = length(end);
  if (!count || !end_count || limit < static_cast<Int>(*end_count) || leeway < 0) {
    throw Failure(
        "'truncate' needs a length of at least that of its end, and a leeway of 0 or "
        "more");
  }
  if (static_cast<Int>(*count) <= limit + leeway) {
    return input;
  }
  string_of(input, "'truncate'");
  string_of(end, "'truncate'");
  const Text& text = input.text();
  const std::vector<size_t> begins = character_begins(text.bytes());
  Text out = text.slice(0, begins[static_cast<size_t>(limit) - *end_count]);
  if (!given_truth(bound[1], engine.budget)) {
    const size_t blank = out.bytes().rfind(' ');
    out = out.slice(0, std::min(blank, out.size()));
  }
  out.append(end.text());
  return Value::string(std::move(out), input.as_string().markup);
}

Value wordcount(Engine& engine, const Value& input, Arguments& arguments) {
  bind("wordcount", arguments, {});
  const Text text = to_str(input, engine.budget);
  engine.budget.characters(text.size());
  Int words = 0;
  bool is_inside = false;
  for (size_t at = 0; at < text.size();) {
    const DecodedChar c = decode_utf8(text.bytes(), at);
    const bool is_word = c.code_point == '_' || is_letter(c.code_point) || is_number(c.code_point);
    words += is_word && !is_inside ? 1 : 0;
    is_inside = is_word;
    at += c.byte_count;
  }
  return Value::integer(words);
}

// Everything but letters, digits and `plain` as percent escapes.
Text url_quoted(const Text& text, std::string_view plain, bool blank_as_plus, Budget& budget) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  budget.step(text.size() / 4);  // of bytes that are written one by one
  Text out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char byte = text.bytes()[at];
    const auto c = static_cast<unsigned char>(byte);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        plain.find(byte) != std::string_view::npos) {
      out.append(text, at, at + 1);
    } else if (c == ' ' && blank_as_plus) {
      out.append_for("+", text, at, at + 1);
    } else {
      out.append_for(std::string("%") + kDigits[c >> 4] + kDigits[c & 15], text, at, at + 1);
    }
  }
  return out;
}

// A string, or the pairs of a dict or list as a query.
Value urlencode(Engine& engine, const Value& input, Arguments& arguments) {
  bind("urlencode", arguments, {});
  const bool is_query = input.is_sequence() || input.is(Kind::kDict) || input.is(Kind::kRange) ||
                        input.is(Kind::kView) || input.is(Kind::kIterator) || input.is_undefined();
  if (!is_query) {
    return Value::string(url_quoted(to_str(input, engine.budget), "_.-~/", false, engine.budget));
  }
  Value pairs = input;
  if (input.is(Kind::kDict)) {
    Arguments none;
    pairs = engine.apply_filter("items", input, none);
  }
  Text out;
  bool is_first = true;
  for (const Value& entry : elements(pairs, engine.budget)) {
    const std::vector<Value> pair = elements(entry, engine.budget);
    if (pair.size() != 2) {
      throw Failure("'urlencode' needs a string, a dict or pairs");
    }
    out.append(is_first ? "" : "&", kNoMarks);
    is_first = false;
    out.append(url_quoted(to_str(pair[0], engine.budget), "_.-~", true, engine.budget));
    out.append("=", kNoMarks);
    out.append(url_quoted(to_str(pair[1], engine.budget), "_.-~", true, engine.budget));
  }
  return Value::string(std::move(out));
}

Value tojson(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound =
      bind("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii = given_truth(bound[0], engine.budget);
  style.sort_keys = given_truth(bound[3], engine.budget);
  if (bound[1] && !bound[1]->is_none()) {
    const Int width = bound[1]->is_string() ? 0 : index_of(*bound[1], "the indent");
    if (width > 1000) {
      throw Failure("an indent above 1000");
    }
    style.indent = bound[1]->is_string()
                       ? bound[1]->bytes()
                       : std::string(static_cast<size_t>(std::max(width, Int{0})), ' ');
    style.item_separator = ",";
  }
  if (bound[2] && !bound[2]->is_none()) {
    const std::vector<Value> pair = elements(*bound[2], engine.budget);
    if (pair.size() != 2) {
      throw Failure("'tojson' takes two separators");
    }
    style.item_separator = string_of(pair[0], "a separator");
    style.key_separator = string_of(pair[1], "a separator");
  }
  return Value::string(to_json(input, style, engine.budget));
}

}  // namespace

const FilterTable& string_filters() {
  static const FilterTable table = {
      {"string", string},
      {"upper", upper},
      {"lower", lower},
      {"capitalize", capitalize},
      {"trim", trim},
      {"title", title},
      {"center", center},
      {"replace", replace},
      {"escape", escape},
      {"e", escape},
      {"forceescape", forceescape},
      {"safe", safe},
      {"format", format},
      {"indent", indent},
      {"truncate", truncate},
      {"wordcount", wordcount},
      {"urlencode", urlencode},
      {"tojson", tojson},
  };
  return table;
}

}  // namespace netcl::text::jinja
