// SPDX-License-Identifier: Apache-2.0
// The operator % of strings.
#include <algorithm>
#include <cmath>

#include "text/jinja_chars.h"
#include "text/jinja_number_format.h"
#include "text/jinja_operators.h"

namespace netcl::text::jinja {

namespace {

class PercentFormatter {
 public:
  PercentFormatter(const Text& format, const Value& right, Budget& budget)
      : format_(format), right_(right), budget_(budget) {}

  Text run() {
    const std::string& bytes = format_.bytes();
    budget_.step(1 + bytes.size() / 64);
    for (;;) {
      const size_t sign = std::min(bytes.find('%', at_), bytes.size());
      out_.append(format_, at_, sign);
      if (sign == bytes.size()) {
        break;
      }
      at_ = sign + 1;
      convert(sign);
    }
    // What has items may hold more than the format names.
    const bool has_items = right_.is(Kind::kDict) || right_.is(Kind::kList) ||
                           right_.is(Kind::kRange) || right_.is_undefined();
    const bool is_used_up =
        right_.is(Kind::kTuple) ? next_ >= right_.items().size() : next_ > 0 || has_items;
    if (!is_used_up) {
      throw Failure("not all arguments are used by the format");
    }
    return std::move(out_);
  }

 private:
  char take() {
    if (at_ >= format_.size()) {
      throw Failure("the format ends within a conversion");
    }
    return format_.bytes()[at_++];
  }

  const Value& argument() {
    if (right_.is(Kind::kTuple)) {
      if (next_ >= right_.items().size()) {
        throw Failure("the format needs more arguments");
      }
      return right_.items()[next_++];
    }
    if (next_++ > 0) {
      throw Failure("the format needs more arguments");
    }
    return right_;
  }

  const Value& keyed_argument() {
    const size_t end = format_.bytes().find(')', at_);
    if (!right_.is(Kind::kDict) || end == std::string::npos) {
      throw Failure("a format with names needs a dict");
    }
    const std::string key = format_.bytes().substr(at_, end - at_);
    at_ = end + 1;
    const Value* found = right_.as_dict().find(key);
    if (found == nullptr) {
      throw Failure("the dict has no key for the format");
    }
    next_ = 1;
    return *found;
  }

  Int star_or_number() {
    if (at_ < format_.size() && format_.bytes()[at_] == '*') {
      ++at_;
      return index_of(argument(), "a width or precision");
    }
    return read_number(format_.bytes(), at_);
  }

  void convert(size_t sign) {
    FormatSpec spec;
    const Value* keyed = nullptr;
    char c = take();
    if (c == '(') {
      keyed = &keyed_argument();
      c = take();
    }
    bool is_left = false;
    bool is_zero = false;
    for (; c == '-' || c == '+' || c == ' ' || c == '#' || c == '0'; c = take()) {
      is_left |= c == '-';
      is_zero |= c == '0';
      spec.alternate |= c == '#';
      spec.sign = c == '+' || (c == ' ' && spec.sign == '\0') ? c : spec.sign;
    }
    --at_;
    spec.width = star_or_number();
    if (spec.width < 0) {
      is_left = true;
      spec.width = -spec.width;
    }
    c = take();
    if (c == '.') {
      spec.precision = static_cast<int>(std::clamp(star_or_number(), Int{0}, Int{1} << 20));
      c = take();
    }
    if (c == 'l' || c == 'h' || c == 'L') {
      c = take();
    }
    spec.align = is_left ? '<' : '>';
    if (c == '%') {
      out_.append_for("%", format_, sign, at_);
      return;
    }
    spec.type = c;
    append(keyed != nullptr ? *keyed : argument(), is_zero && !is_left, spec);
  }

  void append(const Value& value, bool pads_with_zeros, FormatSpec spec) {
    const Marks marks = value.trusted() ? kTrusted : kNoMarks;
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a': {
        Text text = spec.type == 's' ? to_str(value, budget_) : to_repr(value, budget_);
        budget_.step(text.size() / 64);
        append_padded(spec.precision ? first_characters(text, *spec.precision, budget_) : text,
                      spec, out_);
        return;
      }
      case 'c':
        append_character(value, spec);
        return;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        NumberText number = format_integer(integer(value, spec.type), normalized(spec));
        if (const auto digits = static_cast<size_t>(spec.precision.value_or(0));
            number.digits.size() < digits) {
          number.digits.insert(0, digits - number.digits.size(), '0');
        }
        append_number(number, pads_with_zeros, spec, marks);
        return;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        append_number(format_float(float_of(value), spec), pads_with_zeros, spec, marks);
        return;
      default:
        throw Failure(std::string("unknown conversion '%") + spec.type + "'");
    }
  }

  static FormatSpec normalized(FormatSpec spec) {
    spec.type = spec.type == 'i' || spec.type == 'u' ? 'd' : spec.type;
    return spec;
  }

  static Int integer(const Value& value, char type) {
    if (value.is(Kind::kFloat) && (type == 'd' || type == 'i' || type == 'u')) {
      if (!std::isfinite(value.as_float()) || std::fabs(value.as_float()) > 1e38) {
        throw Failure("the number does not fit an integer");
      }
      return static_cast<Int>(value.as_float());
    }
    return index_of(value, std::string("the argument of '%") + type + "'");
  }

  void append_number(const NumberText& number, bool pads_with_zeros, FormatSpec spec, Marks marks) {
    if (pads_with_zeros) {
      spec.align = '=';
      spec.fill = "0";
    }
    append_padded(number, spec, marks, out_);
  }

  void append_character(const Value& value, const FormatSpec& spec) {
    if (value.is_string() && count_characters(value.bytes()) == 1) {
      append_padded(value.text(), spec, out_);
      return;
    }
    const Int code = index_of(value, "the argument of '%c'");
    if (code < 0 || code > static_cast<Int>(kMaxCodePoint) || (code >= 0xD800 && code < 0xE000)) {
      throw Failure("'%c' needs the number of a character");
    }
    append_padded(Text(encode_utf8(static_cast<char32_t>(code)), kNoMarks), spec, out_);
  }

  const Text& format_;
  const Value& right_;
  Budget& budget_;
  Text out_;
  size_t at_ = 0;
  size_t next_ = 0;  // argument
};

}  // namespace

Text format_percent(const Text& format, const Value& right, Budget& budget) {
  return PercentFormatter(format, right, budget).run();
}

}  // namespace netcl::text::jinja
