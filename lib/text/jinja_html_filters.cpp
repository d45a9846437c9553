// SPDX-License-Identifier: Apache-2.0
// Filters for web pages and mails, which no prompt needs: those that are simple, and a clear word
// for the rest.
#include "text/jinja_filters.h"
#include "text/jinja_operators.h"
#include "text/jinja_str.h"
#include "text/jinja_wrap.h"

namespace netcl::text::jinja {

namespace {

Value wordwrap(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound =
      bind("wordwrap", arguments, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  string_of(input, "'wordwrap'");
  const Int width = bound[0] ? index_of(*bound[0], "the width") : 79;
  const Text separator = bound[2] && !bound[2]->is_none()
                             ? (string_of(*bound[2], "'wordwrap'"), bound[2]->text())
                             : Text("\n", kNoMarks);
  WrapStyle style;
  style.breaks_long_words = given_truth(bound[1], engine.budget, true);
  style.breaks_on_hyphens = given_truth(bound[3], engine.budget, true);
  // What markup joins, it escapes.
  const bool is_markup = bound[2] && bound[2]->is_string() && bound[2]->as_string().markup;
  Text out;
  bool is_first = true;
  for (const Text& paragraph : split_lines(input.text(), false, engine.budget)) {
    if (width < 1) {
      throw Failure("'wordwrap' needs a width of at least 1");
    }
    style.width = static_cast<size_t>(std::min(width, Int{1} << 40));
    if (!is_first) {
      out.append(separator);
    }
    is_first = false;
    bool is_first_line = true;
    for (const Text& line : wrapped(paragraph, style, engine.budget)) {
      if (!is_first_line) {
        out.append(separator);
      }
      is_first_line = false;
      out.append(is_markup ? html_escaped(line, engine.budget) : line);
    }
    engine.budget.made(paragraph.size() + separator.size());
  }
  return Value::string(std::move(out), is_markup);
}

// The entries of a dict as attributes of an element.
Value xmlattr(Engine& engine, const Value& input, Arguments& arguments) {
  const Bound bound = bind("xmlattr", arguments, {"autospace"});
  if (!input.is(Kind::kDict)) {
    throw Failure(input.is_undefined() ? input.undefined_message()
                                       : "'xmlattr' needs a dict, not " + type_name(input));
  }
  Text out;
  for (const auto& [key, value] : input.as_dict().entries) {
    engine.budget.step();
    if (value.is_none() || value.is_undefined()) {
      continue;
    }
    if (string_of(key, "'xmlattr'").find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      throw Failure("'xmlattr': a character that no attribute's name may have");
    }
    out.append(out.empty() ? "" : " ", kNoMarks);
    out.append(html_text(key, engine.budget));
    out.append("=\"", kNoMarks);
    out.append(html_text(value, engine.budget));
    out.append("\"", kNoMarks);
  }
  Text spaced(given_truth(bound[0], engine.budget, true) && !out.empty() ? " " : "", kNoMarks);
  spaced.append(out);
  return Value::string(std::move(spaced));
}

Value refuse_random(Engine&, const Value&, Arguments&) {
  throw Failure("'random' is not there: a prompt must not depend on chance");
}

Value refuse_html(Engine&, const Value&, Arguments&) {
  throw Failure("'striptags' and 'urlize' are not there: they are for web pages");
}

}  // namespace

const FilterTable& html_filters() {
  static const FilterTable table = {
      {"wordwrap", wordwrap},     {"xmlattr", xmlattr},    {"random", refuse_random},
      {"striptags", refuse_html}, {"urlize", refuse_html},
  };
  return table;
}

}  // namespace netcl::text::jinja
