// SPDX-License-Identifier: Apache-2.0
#include "core/npy_header.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.h"

namespace netcl::core {

namespace {

using base::at_byte;
using base::FormatError;
using base::quote;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kDataAlignment = 64;

struct NpyType {
  std::string_view code;  // of a descr without byte order
  DType dtype;
};

constexpr std::array<NpyType, 12> kTypes = {{{"f8", DType::kF64},
                                             {"f4", DType::kF32},
                                             {"f2", DType::kF16},
                                             {"i8", DType::kI64},
                                             {"i4", DType::kI32},
                                             {"i2", DType::kI16},
                                             {"i1", DType::kI8},
                                             {"u8", DType::kU64},
                                             {"u4", DType::kU32},
                                             {"u2", DType::kU16},
                                             {"u1", DType::kU8},
                                             {"b1", DType::kBool}}};

std::string_view kind_name(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects (a pickle)";
    case 'c':
      return "complex numbers";
    case 'S':
    case 'a':
    case 'U':
    case 'T':
      return "strings";
    case 'V':
      return "raw or structured records";
    case 'M':
    case 'm':
      return "times";
    case 'f':
    case 'i':
    case 'u':
    case 'b':
      return "numbers of that size";
    default:
      return "this type";
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Parser of the one dictionary in a header: keys in any order, either kind of quotes, blanks
// anywhere, a comma after the last entry or none.
class DictParser {
 public:
  // `start` is the place of dict[0] in the file.
  DictParser(std::string_view dict, size_t start, std::string_view where)
      : text_(dict), start_(start), where_(where) {}

  NpyHeader parse() {
    expect('{', "the dictionary");
    while (!take('}')) {
      entry();
      if (!take(',') && peek() != '}') {
        fail("expected ',' or '}' after an entry");
      }
    }
    skip_blanks();
    if (at_ != text_.size()) {
      fail("text after the dictionary: " + quote(text_.substr(at_), 20));
    }
    require(has_descr_, "descr");
    require(has_order_, "fortran_order");
    require(has_shape_, "shape");
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(at_byte(where_, start_ + at_) + ": header: " + what);
  }

  void require(bool has, const char* key) const {
    if (!has) {
      fail(std::string("key '") + key + "' is missing; needed are descr, fortran_order and shape");
    }
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  // The next character that is not blank, NUL at the end.
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c, const char* what) {
    if (!take(c)) {
      fail(std::string("expected '") + c + "' of " + what + ", found " +
           (at_ < text_.size() ? quote(text_.substr(at_, 1)) : std::string("the end")));
    }
  }

  std::string_view string_literal(const char* what) {
    const char mark = peek();
    if (mark != '\'' && mark != '"') {
      fail(std::string("expected a quoted string as ") + what);
    }
    const size_t begin = at_ + 1;
    const size_t end = text_.find(mark, begin);
    if (end == std::string_view::npos) {
      fail(std::string("the string of ") + what + " does not end");
    }
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  void once(bool& seen, std::string_view key) const {
    if (seen) {
      fail("key " + quote(key) + " appears twice");
    }
    seen = true;
  }

  void entry() {
    const size_t key_at = (skip_blanks(), at_);
    const std::string_view key = string_literal("a key");
    expect(':', "an entry");
    if (key == "descr") {
      once(has_descr_, key);
      descr();
    } else if (key == "fortran_order") {
      once(has_order_, key);
      fortran_order();
    } else if (key == "shape") {
      once(has_shape_, key);
      shape();
    } else {
      at_ = key_at;
      fail("unknown key " + quote(key) + "; allowed are descr, fortran_order and shape");
    }
  }

  void descr() {
    if (peek() == '[' || peek() == '(') {
      fail("structured dtype; allowed are plain numbers and bool");
    }
    skip_blanks();
    const size_t descr_at = at_;
    const std::string_view whole = string_literal("descr");
    std::string_view code = whole;
    char order = '=';
    if (!code.empty() && (code[0] == '<' || code[0] == '>' || code[0] == '=' || code[0] == '|')) {
      order = code[0];
      code.remove_prefix(1);
    }
    constexpr bool kNativeBig = std::endian::native == std::endian::big;
    header_.big_endian = order == '>' || (order != '<' && kNativeBig);
    for (const NpyType& type : kTypes) {
      if (type.code == code) {
        header_.dtype = type.dtype;
        return;
      }
    }
    at_ = descr_at;
    fail("dtype " + quote(whole, 30) + ": " + std::string(kind_name(code.empty() ? ' ' : code[0])) +
         " cannot be read; allowed are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1");
  }

  void fortran_order() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        header_.fortran_order = value;
        return;
      }
    }
    fail("fortran_order must be True or False");
  }

  void shape() {
    expect('(', "shape");
    std::vector<int64_t> dims;
    bool comma = true;
    while (!take(')')) {
      if (!comma) {
        fail("expected ',' or ')' in shape");
      }
      if (dims.size() == Shape::kMaxRank) {
        fail("shape has more than " + std::to_string(Shape::kMaxRank) + " axes");
      }
      dims.push_back(axis());
      comma = take(',');
    }
    if (dims.size() == 1 && !comma) {
      fail("shape is a number; one axis is written (" + std::to_string(dims[0]) + ",)");
    }
    try {
      header_.shape = Shape(std::span<const int64_t>(dims));
    } catch (const FormatError& error) {
      fail(error.what());
    }
  }

  int64_t axis() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '-') {
      fail("shape has a negative axis");
    }
    const size_t begin = at_;
    int64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      const int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) {
        fail("shape has an axis beyond 64 bits");
      }
      value = value * 10 + digit;
      ++at_;
    }
    if (at_ == begin) {
      fail("expected a number of shape");
    }
    if (text_[begin] == '0' && at_ - begin > 1) {
      fail("a number of shape starts with 0");
    }
    if (at_ < text_.size() && text_[at_] == 'L') {
      ++at_;  // a long integer of Python 2
    }
    return value;
  }

  std::string_view text_;
  size_t start_;
  std::string_view where_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

std::string wrong_magic_hint(std::string_view bytes) {
  const auto starts = [&](std::string_view magic) {
    return bytes.substr(0, magic.size()) == magic;
  };
  if (starts("PK\x03\x04")) {
    return "this is a zip archive (.npz?); save one array with numpy.save";
  }
  if (starts("\x1F\x8B")) {
    return "this is gzip data; give the output of 'gzip -dc FILE' on standard input";
  }
  if (starts("\x28\xB5\x2F\xFD")) {
    return "this is zstd data; give the output of 'zstd -dc FILE' on standard input";
  }
  if (starts(std::string_view("\xFD"
                              "7zXZ\0",
                              6))) {
    return "this is xz data; give the output of 'xz -dc FILE' on standard input";
  }
  return "an .npy file starts with \\x93NUMPY";
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, std::string_view where) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    const bool cut = bytes.size() < kMagic.size() && kMagic.substr(0, bytes.size()) == bytes;
    throw FormatError(at_byte(where, 0) + ": not an .npy file; " +
                      (cut ? "it ends within the magic" : wrong_magic_hint(bytes)));
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  if (bytes.size() < kMagic.size() + 2) {
    throw FormatError(at_byte(where, bytes.size()) + ": the file ends before its version");
  }
  const size_t major = byte(6);
  const size_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw FormatError(at_byte(where, 6) + ": .npy version " + std::to_string(major) + "." +
                      std::to_string(minor) + " is unknown; allowed are 1.0, 2.0 and 3.0");
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t dict_start = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < dict_start) {
    throw FormatError(at_byte(where, bytes.size()) + ": the file ends before its header");
  }
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= byte(8 + i) << (8 * i);
  }
  if (length > bytes.size() - dict_start) {
    throw FormatError(at_byte(where, 8) + ": header of " + std::to_string(length) +
                      " bytes, but the file has only " + std::to_string(bytes.size() - dict_start) +
                      " more");
  }
  NpyHeader header = DictParser(bytes.substr(dict_start, length), dict_start, where).parse();
  header.data_start = dict_start + length;
  return header;
}

std::string npy_header_bytes(DType dtype, const Shape& shape) {
  std::string_view code;
  for (const NpyType& type : kTypes) {
    if (type.dtype == dtype) {
      code = type.code;
    }
  }
  NETCL_CHECK(!code.empty());
  std::string dict = std::string("{'descr': '") + (dtype_size(dtype) == 1 ? '|' : '<');
  dict.append(code).append("', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < shape.rank(); ++i) {
    dict.append(i == 0 ? "" : " ").append(std::to_string(shape[i]));
    dict.append(i + 1 < shape.rank() || shape.rank() == 1 ? "," : "");
  }
  dict += "), }";
  // As NumPy does: blanks that let the first axis grow to 21 digits in place.
  if (shape.rank() > 0) {
    dict.append(21 - std::to_string(shape[0]).size(), ' ');
  }
  const size_t prefix = kMagic.size() + 4;
  const size_t end = (prefix + dict.size() + 1 + kDataAlignment - 1) / kDataAlignment;
  dict.append(end * kDataAlignment - prefix - dict.size() - 1, ' ');
  dict += '\n';
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return bytes + dict;
}

}  // namespace netcl::core
