// SPDX-License-Identifier: Apache-2.0
// str() and repr() as Python has them.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "text/jinja_value.h"
#include "text/unicode.h"

namespace netcl::text::jinja {

namespace {

// Characters that repr() writes as they are. Spaces other than ' ' and unassigned code points are
// not among them.
bool is_printable(char32_t c) {
  constexpr CategoryMask kHidden = kOthers | kSeparators;
  return c == ' ' || !in_categories(c, kHidden);
}

std::string hex(char32_t c, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += kDigits[(c >> shift) & 0xF];
  }
  return text;
}

std::string escaped(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return c < 0x100 ? "\\x" + hex(c, 2) : c < 0x10000 ? "\\u" + hex(c, 4) : "\\U" + hex(c, 8);
  }
}

void append_string_repr(const Text& text, Text& out, Budget& budget) {
  budget.characters(text.size());
  const std::string& bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string::npos;
  const bool has_double = bytes.find('"') != std::string::npos;
  const char mark = has_single && !has_double ? '"' : '\'';
  out.append(std::string_view(&mark, 1), kNoMarks);
  size_t plain = 0;  // begin of what is copied as it is
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    const bool is_quoted = c.code_point == '\\' || c.code_point == static_cast<char32_t>(mark);
    if (!is_quoted && is_printable(c.code_point)) {
      at += c.byte_count;
      continue;
    }
    out.append(text, plain, at);
    if (is_quoted) {
      out.append_for("\\", text, at, at + 1);
      out.append(text, at, at + 1);
    } else {
      out.append_for(escaped(c.code_point), text, at, at + c.byte_count);
    }
    at += c.byte_count;
    plain = at;
  }
  out.append(text, plain, bytes.size());
  out.append(std::string_view(&mark, 1), kNoMarks);
}

void append_repr(const Value& value, Text& out, Budget& budget, int depth);

void append_entries(const Dict& dict, Text& out, Budget& budget, int depth) {
  out.append("{", kNoMarks);
  bool is_first = true;
  for (const auto& [key, value] : dict.entries) {
    out.append(is_first ? "" : ", ", kNoMarks);
    is_first = false;
    append_repr(key, out, budget, depth);
    out.append(": ", kNoMarks);
    append_repr(value, out, budget, depth);
  }
  out.append("}", kNoMarks);
}

void append_list(const std::vector<Value>& items, Text& out, Budget& budget, int depth) {
  bool is_first = true;
  for (const Value& item : items) {
    out.append(is_first ? "" : ", ", kNoMarks);
    is_first = false;
    append_repr(item, out, budget, depth);
  }
}

void append_namespace(Namespace& space, Text& out, Budget& budget, int depth) {
  out.append("<Namespace {", kNoMarks);
  bool is_first = true;
  for (const auto& [name, value] : space.fields) {
    out.append(is_first ? "'" : ", '", kNoMarks);
    is_first = false;
    out.append(name, kNoMarks);
    out.append("': ", kNoMarks);
    append_repr(value, out, budget, depth);
  }
  out.append("}>", kNoMarks);
}

std::string range_text(const Range& range) {
  std::string text = "range(" + int_text(range.start) + ", " + int_text(range.stop);
  return text + (range.step == 1 ? ")" : ", " + int_text(range.step) + ")");
}

void append_repr(const Value& value, Text& out, Budget& budget, int depth) {
  budget.step();
  if (depth > kMaxLevel) {
    // Only through namespaces: containers are bounded when they are made.
    throw Failure("the value to print is nested deeper than " + std::to_string(kMaxLevel));
  }
  const Marks marks = value.trusted() ? kTrusted : kNoMarks;
  switch (value.kind()) {
    case Kind::kUndefined:
      out.append("Undefined", kNoMarks);
      return;
    case Kind::kNone:
      out.append("None", marks);
      return;
    case Kind::kBool:
      out.append(value.as_bool() ? "True" : "False", marks);
      return;
    case Kind::kInt:
      out.append(int_text(value.as_int()), marks);
      return;
    case Kind::kFloat:
      out.append(float_text(value.as_float()), marks);
      return;
    case Kind::kString:
      if (value.as_string().markup) {
        out.append("Markup(", kNoMarks);
        append_string_repr(value.text(), out, budget);
        out.append(")", kNoMarks);
      } else {
        append_string_repr(value.text(), out, budget);
      }
      return;
    case Kind::kList:
      out.append("[", kNoMarks);
      append_list(value.items(), out, budget, depth + 1);
      out.append("]", kNoMarks);
      return;
    case Kind::kTuple:
      out.append("(", kNoMarks);
      append_list(value.items(), out, budget, depth + 1);
      out.append(value.items().size() == 1 ? ",)" : ")", kNoMarks);
      return;
    case Kind::kDict:
      append_entries(value.as_dict(), out, budget, depth + 1);
      return;
    case Kind::kRange:
      out.append(range_text(value.as_range()), marks);
      return;
    case Kind::kView:
      out.append(type_name(value) + "([", kNoMarks);
      append_list(elements(value, budget), out, budget, depth + 1);
      out.append("])", kNoMarks);
      return;
    case Kind::kNamespace:
      append_namespace(value.as_namespace(), out, budget, depth + 1);
      return;
    case Kind::kFunction:
      out.append("<function " + value.as_function().name + ">", kNoMarks);
      return;
    default:
      out.append("<" + type_name(value) + ">", kNoMarks);
  }
}

}  // namespace

std::string int_text(Int value) {
  UnsignedInt left = value < 0 ? -static_cast<UnsignedInt>(value) : static_cast<UnsignedInt>(value);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
    left /= 10;
  } while (left != 0);
  return value < 0 ? "-" + digits : digits;
}

std::string float_text(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  // The shortest digits that read back as the value: d[.ddd]e[+-]xx, laid out as Python does.
  char buffer[64];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string text(buffer, written.ptr);
  const size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  const bool is_negative = text[0] == '-';
  std::string digits = text.substr(is_negative ? 1 : 0, e - (is_negative ? 1 : 0));
  std::erase(digits, '.');
  const int count = static_cast<int>(digits.size());
  std::string out;
  if (exponent < -4 || exponent >= 16) {
    const std::string power = std::to_string(std::abs(exponent));
    out = digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") + "e" +
          (exponent < 0 ? "-" : "+") + (power.size() < 2 ? "0" : "") + power;
  } else if (exponent < 0) {
    out = "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  } else if (count <= exponent + 1) {
    out = digits + std::string(static_cast<size_t>(exponent) + 1 - digits.size(), '0') + ".0";
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    out = digits.substr(0, whole) + "." + digits.substr(whole);
  }
  return is_negative ? "-" + out : out;
}

Text to_repr(const Value& value, Budget& budget) {
  Text out;
  append_repr(value, out, budget, 0);
  return out;
}

Text to_str(const Value& value, Budget& budget) {
  if (value.is_string()) {
    return value.text();
  }
  return value.is_undefined() ? Text() : to_repr(value, budget);
}

}  // namespace netcl::text::jinja
