// SPDX-License-Identifier: Apache-2.0
// str.format().
#include <algorithm>
#include <cmath>

#include "text/jinja_chars.h"
#include "text/jinja_engine.h"
#include "text/jinja_number_format.h"
#include "text/jinja_operators.h"

namespace netcl::text::jinja {

namespace {

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

FormatSpec parse_spec(const std::string& text) {
  FormatSpec spec;
  size_t at = 0;
  const size_t fill = text.empty() ? 0 : decode_utf8(text, 0).byte_count;
  if (fill > 0 && fill < text.size() && is_align(text[fill])) {
    spec.fill = text.substr(0, fill);
    spec.align = text[fill];
    at = fill + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    at = 1;
  }
  const auto sees = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != std::string_view::npos;
  };
  if (sees("+- ")) {
    spec.sign = text[at] == '-' ? '\0' : text[at];
    spec.has_sign = true;
    ++at;
  }
  if (sees("#")) {
    spec.alternate = true;
    ++at;
  }
  if (sees("0")) {
    spec.fill = spec.align == '\0' ? "0" : spec.fill;
    spec.align = spec.align == '\0' ? '=' : spec.align;
    ++at;
  }
  spec.width = read_number(text, at);
  if (sees(",_")) {
    spec.grouping = text[at++];
  }
  if (sees(".")) {
    const size_t digits = ++at;
    spec.precision = static_cast<int>(std::min(read_number(text, at), Int{1} << 20));
    if (at == digits) {
      throw Failure("a format specification lacks its precision");
    }
  }
  if (at < text.size()) {
    spec.type = text[at++];
  }
  if (at != text.size()) {
    throw Failure("the format specification is not valid");
  }
  return spec;
}

class BraceFormatter {
 public:
  BraceFormatter(const Text& format, Arguments& arguments, Engine& engine)
      : format_(format), arguments_(arguments), engine_(engine) {}

  Text run() {
    Text out;
    format(0, format_.size(), 0, out);
    return out;
  }

 private:
  [[noreturn]] static void refuse(const char* what) {
    throw Failure(std::string("the format ") + what);
  }

  void format(size_t begin, size_t end, int depth, Text& out) {
    const std::string& bytes = format_.bytes();
    for (size_t at = begin; at < end;) {
      const size_t brace = std::min(bytes.find_first_of("{}", at), end);
      out.append(format_, at, brace);
      if (brace == end) {
        return;
      }
      if (brace + 1 < end && bytes[brace + 1] == bytes[brace]) {
        out.append(format_, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      if (bytes[brace] == '}') {
        refuse("has a '}' without '{'");
      }
      const size_t close = field_end(brace + 1, end);
      field(brace + 1, close, depth, out);
      at = close + 1;
    }
  }

  // The brace that closes the field which begins at `begin`.
  size_t field_end(size_t begin, size_t end) const {
    int open = 1;
    for (size_t at = begin; at < end; ++at) {
      open += format_.bytes()[at] == '{' ? 1 : format_.bytes()[at] == '}' ? -1 : 0;
      if (open == 0) {
        return at;
      }
    }
    refuse("has a '{' without '}'");
  }

  void field(size_t begin, size_t end, int depth, Text& out) {
    if (depth > 1) {
      refuse("is nested too deeply");
    }
    const std::string body = format_.bytes().substr(begin, end - begin);
    const size_t name_end = std::min(body.find_first_of(":!"), body.size());
    Value value = lookup(body.substr(0, name_end));
    size_t at = name_end;
    if (at < body.size() && body[at] == '!') {
      const char conversion = at + 1 < body.size() ? body[at + 1] : '\0';
      if (conversion != 's' && conversion != 'r' && conversion != 'a') {
        refuse("has an unknown conversion after '!'");
      }
      value = Value::string(conversion == 's' ? to_str(value, engine_.budget)
                                              : to_repr(value, engine_.budget));
      at += 2;
      if (at < body.size() && body[at] != ':') {
        refuse("lacks ':' after a conversion");
      }
    }
    Text spec;
    if (at < body.size()) {
      format(begin + at + 1, end, depth + 1, spec);
    }
    append(value, spec.bytes(), out);
  }

  Value lookup(const std::string& name) {
    const size_t first = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, first));
    for (size_t at = first; at < name.size();) {
      if (name[at] == '.') {
        const size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        value = get_attribute(value, name.substr(at + 1, end - at - 1), engine_);
        at = end;
        continue;
      }
      const size_t close = name.find(']', at);
      if (name[at] != '[' || close == std::string::npos) {
        refuse("has a field name that is not valid");
      }
      const std::string key = name.substr(at + 1, close - at - 1);
      const bool is_number =
          !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
      size_t digits = 0;
      value = get_item(
          value,
          is_number ? Value::integer(read_number(key, digits)) : Value::string(key, kNoMarks),
          engine_);
      at = close + 1;
    }
    return value;
  }

  Value argument(const std::string& name) {
    if (name.empty() || name.find_first_not_of("0123456789") == std::string::npos) {
      size_t at = 0;
      const Int index = name.empty() ? next_++ : read_number(name, at);
      if (index >= static_cast<Int>(arguments_.positional.size())) {
        refuse("needs more arguments");
      }
      return arguments_.positional[static_cast<size_t>(index)];
    }
    for (const auto& [key, value] : arguments_.named) {
      if (key == name) {
        return value;
      }
    }
    throw Failure("the format has no argument '" + name.substr(0, 60) + "'");
  }

  void append(const Value& value, const std::string& spec_text, Text& out) {
    if (spec_text.empty()) {
      out.append(to_str(value, engine_.budget));
      return;
    }
    FormatSpec spec = parse_spec(spec_text);
    if (spec.type == 'n' && value.is_number() && spec.grouping == '\0') {
      spec.type = value.is_integral() ? 'd' : 'g';  // what it is in the C locale
    }
    const Marks marks = value.trusted() ? kTrusted : kNoMarks;
    constexpr std::string_view kFloatTypes = "eEfFgG%";
    const bool wants_float =
        spec.type != '\0' && kFloatTypes.find(spec.type) != std::string_view::npos;
    if (value.is_string()) {
      if ((spec.type != '\0' && spec.type != 's') || spec.align == '=' || spec.has_sign ||
          spec.alternate || spec.grouping != '\0') {
        refuse("does not fit a string");
      }
      engine_.budget.step(value.bytes().size() / 64);
      append_padded(spec.precision ? first_characters(value.text(), *spec.precision, engine_.budget)
                                   : value.text(),
                    spec, out);
    } else if (value.is(Kind::kFloat) || (value.is_integral() && wants_float)) {
      if (spec.type != '\0' && !wants_float) {
        refuse("does not fit a float");
      }
      append_padded(format_float(float_of(value), spec), spec, marks, out);
    } else if (value.is_integral()) {
      if (spec.type == 'c') {
        append_character(value, spec, out);
        return;
      }
      constexpr std::string_view kIntegerTypes = "bdoxX";
      if ((spec.type != '\0' && kIntegerTypes.find(spec.type) == std::string_view::npos) ||
          spec.precision) {
        refuse("does not fit an integer");
      }
      append_padded(format_integer(value.as_int(), spec), spec, marks, out);
    } else {
      throw Failure("a value of type " + type_name(value) + " takes no format specification");
    }
  }

  // The character of a number.
  void append_character(const Value& value, FormatSpec spec, Text& out) {
    const Int code = value.as_int();
    if (spec.has_sign || spec.alternate || spec.precision || spec.grouping != '\0' || code < 0 ||
        code > static_cast<Int>(kMaxCodePoint) || (code >= 0xD800 && code < 0xE000)) {
      refuse("does not fit the number of a character");
    }
    spec.align = spec.align == '\0' || spec.align == '=' ? '>' : spec.align;
    append_padded(Text(encode_utf8(static_cast<char32_t>(code)), kNoMarks), spec, out);
  }

  const Text& format_;
  Arguments& arguments_;
  Engine& engine_;
  Int next_ = 0;
};

}  // namespace

Text format_braces(const Text& format, Arguments& arguments, Engine& engine) {
  return BraceFormatter(format, arguments, engine).run();
}

}  // namespace netcl::text::jinja
