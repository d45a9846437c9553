// SPDX-License-Identifier: Apache-2.0
// JSON text of values, byte for byte as Python's json.dumps writes it.
#include <algorithm>
#include <cmath>

#include "text/jinja_engine.h"
#include "text/unicode.h"

namespace netcl::text::jinja {

namespace {

std::string hex4(uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    text += kDigits[(unit >> shift) & 0xF];
  }
  return text;
}

// The escape of a character, empty when it stands for itself.
std::string json_escape(char32_t c, bool ascii) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      break;
  }
  if (c >= 0x10000 && ascii) {
    return hex4(0xD800 + ((c - 0x10000) >> 10)) + hex4(0xDC00 + ((c - 0x10000) & 0x3FF));
  }
  return c < 0x20 || (ascii && c > 0x7E) ? hex4(c) : "";
}

void append_json_string(const Text& text, bool ascii, Text& out, Budget& budget) {
  budget.characters(text.size());
  const std::string& bytes = text.bytes();
  out.append("\"", kNoMarks);
  size_t plain = 0;
  for (size_t at = 0; at < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, at);
    const size_t end = at + c.byte_count;
    if (const std::string escape = json_escape(c.code_point, ascii); !escape.empty()) {
      out.append(text, plain, at);
      out.append_for(escape, text, at, end);
      plain = end;
    }
    at = end;
  }
  out.append(text, plain, bytes.size());
  out.append("\"", kNoMarks);
}

std::string float_json(double value) {
  return std::isnan(value)   ? "NaN"
         : std::isinf(value) ? (value < 0 ? "-Infinity" : "Infinity")
                             : float_text(value);
}

class Writer {
 public:
  Writer(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {}

  void write(const Value& value, int depth) {
    budget_.step();
    const Marks marks = value.trusted() ? kTrusted : kNoMarks;
    switch (value.kind()) {
      case Kind::kNone:
        out.append("null", marks);
        return;
      case Kind::kBool:
        out.append(value.as_bool() ? "true" : "false", marks);
        return;
      case Kind::kInt:
        out.append(int_text(value.as_int()), marks);
        return;
      case Kind::kFloat:
        out.append(float_json(value.as_float()), marks);
        return;
      case Kind::kString:
        append_json_string(value.text(), style_.ascii, out, budget_);
        return;
      case Kind::kList:
      case Kind::kTuple:
        write_items(value.items(), depth);
        return;
      case Kind::kDict:
        write_entries(value.as_dict(), depth);
        return;
      default:
        throw Failure("a value of type " + type_name(value) + " cannot be written as JSON");
    }
  }

  Text out;

 private:
  void write_items(const std::vector<Value>& items, int depth) {
    if (items.empty()) {
      out.append("[]", kNoMarks);
      return;
    }
    out.append("[", kNoMarks);
    for (size_t i = 0; i < items.size(); ++i) {
      separate(i, depth + 1);
      write(items[i], depth + 1);
    }
    end_line(depth);
    out.append("]", kNoMarks);
  }

  void write_entries(const Dict& dict, int depth) {
    if (dict.entries.empty()) {
      out.append("{}", kNoMarks);
      return;
    }
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) {
      entries.push_back(&entry);
    }
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        return compare(a->first, b->first, budget_) == -1;
      });
    }
    out.append("{", kNoMarks);
    for (size_t i = 0; i < entries.size(); ++i) {
      separate(i, depth + 1);
      append_json_string(key_text(entries[i]->first), style_.ascii, out, budget_);
      out.append(style_.key_separator, kNoMarks);
      write(entries[i]->second, depth + 1);
    }
    end_line(depth);
    out.append("}", kNoMarks);
  }

  static Text key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::kString:
        return key.text();
      case Kind::kNone:
        return {"null", kNoMarks};
      case Kind::kBool:
        return {key.as_bool() ? "true" : "false", kNoMarks};
      case Kind::kInt:
        return {int_text(key.as_int()), kNoMarks};
      case Kind::kFloat:
        return {float_json(key.as_float()), kNoMarks};
      default:
        throw Failure("a key of type " + type_name(key) + " cannot be written as JSON");
    }
  }

  void separate(size_t index, int depth) {
    if (index > 0) {
      out.append(style_.item_separator, kNoMarks);
    }
    end_line(depth);
  }

  void end_line(int depth) {
    if (style_.indent) {
      out.append("\n", kNoMarks);
      for (int i = 0; i < depth; ++i) {
        out.append(*style_.indent, kNoMarks);
      }
    }
  }

  const JsonStyle& style_;
  Budget& budget_;
};

}  // namespace

Text to_json(const Value& value, const JsonStyle& style, Budget& budget) {
  Writer writer(style, budget);
  writer.write(value, 0);
  return std::move(writer.out);
}

}  // namespace netcl::text::jinja
