// SPDX-License-Identifier: Apache-2.0
#include "text/id_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace netcl::text {

namespace {

// Room for two axes of 20 digits each, so that a header never changes its length.
constexpr size_t kHeaderBytes = 128;

std::string host_order() {
  return std::endian::native == std::endian::little ? "<" : ">";
}

[[noreturn]] void throw_spool(const char* action) {
  throw base::IoError("temporary file for the .npy output: " + std::string(action) + ": " +
                      std::strerror(errno));
}

// What the header of a .npy file says.
struct NpyHeader {
  std::string type;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
  size_t data_begin = 0;
};

// Reader of the header's Python dictionary: {'descr': '<u4', 'fortran_order': False, 'shape': (3,)}
// with keys in any order, blanks anywhere and either kind of quotes.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, size_t begin, const std::string& where)
      : text_(text), begin_(begin), where_(where) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    const auto once = [&](bool& seen, const char* key) {
      if (seen) {
        fail("key '" + std::string(key) + "' appears twice");
      }
      seen = true;
    };
    expect('{');
    while (!take('}')) {
      const std::string key = read_string();
      expect(':');
      if (key == "descr") {
        once(has_type, "descr");
        if (peek() != '\'' && peek() != '"') {
          fail("'descr' is no text, so the array holds records, not integers");
        }
        header.type = read_string();
      } else if (key == "fortran_order") {
        once(has_order, "fortran_order");
        header.fortran_order = read_bool();
      } else if (key == "shape") {
        once(has_shape, "shape");
        header.shape = read_shape();
      } else {
        fail("unknown key " + base::quote(key));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) {
      fail("text after the dictionary");
    }
    if (!has_type || !has_order || !has_shape) {
      fail("'descr', 'fortran_order' and 'shape' must all be there");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw base::FormatError(base::at_byte(where_, begin_ + at_) + ": .npy header: " + what);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) {
      fail(std::string("'") + c + "' expected");
    }
  }
  std::string read_string() {
    const char mark = peek();
    if (mark != '\'' && mark != '"') {
      fail("a quoted text expected");
    }
    const size_t end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) {
      fail("a quoted text does not end");
    }
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool read_bool() {
    skip_blanks();
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, std::pair{std::string_view("False"), false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("True or False expected");
  }
  std::vector<uint64_t> read_shape() {
    std::vector<uint64_t> shape;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      uint64_t axis = 0;
      const char* end = text_.data() + text_.size();
      const std::from_chars_result result = std::from_chars(text_.data() + at_, end, axis);
      if (result.ec != std::errc()) {
        fail("an axis length expected");
      }
      at_ = static_cast<size_t>(result.ptr - text_.data());
      shape.push_back(axis);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  size_t begin_;
  const std::string& where_;
  size_t at_ = 0;
};

// The greatest length of a header: NumPy itself reads none above 10,000 bytes unless told to.
constexpr uint64_t kMostHeaderBytes = uint64_t{1} << 20;

// The header at the begin of `bytes`; nothing when more of them are needed and may come (`at_end`
// false).
std::optional<NpyHeader> parse_header(std::string_view bytes, bool at_end,
                                      const std::string& where) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto wait = [&]() -> std::optional<NpyHeader> {
    if (at_end) {
      throw base::FormatError(base::at_byte(where, bytes.size()) + ": .npy header is cut off");
    }
    return std::nullopt;
  };
  const std::string_view magic = bytes.substr(0, kNpyMagic.size());
  if (!kNpyMagic.starts_with(magic) || (at_end && magic != kNpyMagic)) {
    throw base::FormatError(base::at_byte(where, 0) + ": not a .npy file; its first bytes are " +
                            base::quote(bytes.substr(0, 8)));
  }
  if (bytes.size() < 10) {
    return wait();
  }
  const unsigned major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    throw base::FormatError(base::at_byte(where, 6) + ": .npy version " + std::to_string(major) +
                            "." + std::to_string(byte(7)) + "; known are 1.0, 2.0 and 3.0");
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t begin = 8 + length_bytes;
  if (bytes.size() < begin) {
    return wait();
  }
  uint64_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= uint64_t{byte(8 + i)} << (8 * i);
  }
  if (length > kMostHeaderBytes) {
    throw base::FormatError(base::at_byte(where, 8) + ": .npy header of " + std::to_string(length) +
                            " bytes; it may have " + std::to_string(kMostHeaderBytes));
  }
  if (length > bytes.size() - begin) {
    if (!at_end) {
      return std::nullopt;
    }
    throw base::FormatError(base::at_byte(where, 8) + ": .npy header of " + std::to_string(length) +
                            " bytes, but " + std::to_string(bytes.size() - begin) + " follow");
  }
  NpyHeader header = NpyHeaderReader(bytes.substr(begin, length), begin, where).read();
  header.data_begin = begin + length;
  return header;
}

// How one element of the array is stored.
struct ElementType {
  bool big_endian = false;
  bool is_signed = false;
  size_t bytes = 0;
};

ElementType parse_type(const std::string& type, const std::string& where) {
  ElementType element;
  const bool order_known =
      type.size() == 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos;
  if (order_known && (type[1] == 'u' || type[1] == 'i') &&
      std::string_view("1248").find(type[2]) != std::string_view::npos) {
    element.big_endian = type[0] == '>' || (type[0] == '=' && host_order() == ">");
    element.is_signed = type[1] == 'i';
    element.bytes = static_cast<size_t>(type[2] - '0');
    if (type[0] != '|' || element.bytes == 1) {
      return element;
    }
  }
  throw base::FormatError(where + ": array of type " + base::quote(type) +
                          "; ids must be integers such as '<u4' or '<i8'");
}

}  // namespace

// Takes the header off kept_ as soon as it is whole.
void NpyIdReader::read_header(bool at_end) {
  const std::optional<NpyHeader> header = parse_header(kept_, at_end, where_);
  if (!header) {
    return;
  }
  const ElementType element = parse_type(header->type, where_);
  if (header->shape.size() != 1) {
    std::string shape;
    for (const uint64_t axis : header->shape) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(axis);
    }
    throw base::FormatError(where_ + ": array of shape (" + shape +
                            "); ids must have exactly one axis");
  }
  has_header_ = true;
  big_endian_ = element.big_endian;
  is_signed_ = element.is_signed;
  element_bytes_ = element.bytes;
  data_begin_ = header->data_begin;
  count_ = header->shape[0];
  kept_.erase(0, header->data_begin);
}

void NpyIdReader::push(std::string_view bytes, std::vector<uint32_t>& ids) {
  if (has_header_ && kept_.empty()) {
    append_ids(bytes, ids);
    return;
  }
  kept_ += bytes;
  if (!has_header_) {
    read_header(false);
  }
  if (has_header_) {
    const std::string arrived = std::move(kept_);
    kept_.clear();
    append_ids(arrived, ids);
  }
}

// Keeps what is left of a number that is not complete; none is kept so far.
void NpyIdReader::append_ids(std::string_view bytes, std::vector<uint32_t>& ids) {
  const size_t whole = bytes.size() / element_bytes_;
  const size_t taken = std::min<uint64_t>(whole, count_ - done_);
  for (size_t i = 0; i < taken; ++i) {
    uint64_t value = 0;
    for (size_t k = 0; k < element_bytes_; ++k) {
      const size_t at = big_endian_ ? k : element_bytes_ - 1 - k;
      value = value << 8 | static_cast<unsigned char>(bytes[i * element_bytes_ + at]);
    }
    const bool negative = is_signed_ && (value >> (8 * element_bytes_ - 1)) != 0;
    if (negative || value > UINT32_MAX) {
      // Sign extension of the narrow types, for the message.
      const uint64_t extended =
          element_bytes_ == 8 || !negative ? value : value | ~uint64_t{0} << (8 * element_bytes_);
      throw base::FormatError(
          where_ + ": id " +
          (negative ? std::to_string(static_cast<int64_t>(extended)) : std::to_string(value)) +
          " at position " + std::to_string(done_ + i) +
          " is out of range; ids are 0 to 4294967295");
    }
    ids.push_back(static_cast<uint32_t>(value));
  }
  done_ += taken;
  kept_ = bytes.substr(taken * element_bytes_);
  if (done_ == count_ && !kept_.empty()) {
    throw base::FormatError(base::at_byte(where_, data_begin_ + count_ * element_bytes_) +
                            ": more data than " + std::to_string(count_) + " numbers of " +
                            std::to_string(element_bytes_) + " bytes");
  }
}

void NpyIdReader::finish() {
  if (!has_header_) {
    read_header(true);
  }
  if (done_ != count_ || !kept_.empty()) {
    throw base::FormatError(base::at_byte(where_, data_begin_) + ": " +
                            std::to_string(done_ * element_bytes_ + kept_.size()) +
                            " bytes of data for " + std::to_string(count_) + " numbers of " +
                            std::to_string(element_bytes_) + " bytes");
  }
}

std::vector<uint32_t> parse_npy_ids(std::string_view bytes, const std::string& where) {
  std::vector<uint32_t> ids;
  NpyIdReader reader(where);
  reader.push(bytes, ids);
  reader.finish();
  return ids;
}

NpyWriter::NpyWriter(base::OutputFile& out, NpyNumber number, uint64_t columns)
    : out_(out), number_(number), columns_(columns) {
  if (out_.seekable()) {
    out_.write(header(0));
  } else {
    spool_.reset(std::tmpfile());
    if (spool_ == nullptr) {
      throw_spool("cannot create");
    }
  }
}

std::string NpyWriter::header(uint64_t count) const {
  const std::string shape =
      columns_ == 0 ? std::to_string(count) + ","
                    : std::to_string(count / columns_) + ", " + std::to_string(columns_);
  std::string dictionary = "{'descr': '" + host_order() +
                           (number_ == NpyNumber::kU32 ? "u4" : "u8") +
                           "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t length = kHeaderBytes - 10;
  NETCL_CHECK(dictionary.size() < length);
  dictionary.resize(length - 1, ' ');
  std::string bytes(kNpyMagic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(length);
  bytes += '\x00';
  return bytes + dictionary + '\n';
}

void NpyWriter::append(std::string_view bytes) {
  if (spool_ == nullptr) {
    out_.write(bytes);
  } else if (!bytes.empty() &&
             std::fwrite(bytes.data(), 1, bytes.size(), spool_.get()) != bytes.size()) {
    throw_spool("cannot write");
  }
}

void NpyWriter::write(std::span<const uint32_t> numbers) {
  NETCL_CHECK(number_ == NpyNumber::kU32);
  append({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  count_ += numbers.size();
}

void NpyWriter::write(std::span<const uint64_t> numbers) {
  NETCL_CHECK(number_ == NpyNumber::kU64);
  append({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  count_ += numbers.size();
}

void NpyWriter::finish() {
  NETCL_CHECK(columns_ == 0 || count_ % columns_ == 0);
  if (spool_ == nullptr) {
    out_.overwrite(0, header(count_));
    return;
  }
  if (std::fflush(spool_.get()) != 0 || std::fseek(spool_.get(), 0, SEEK_SET) != 0) {
    throw_spool("cannot rewind");
  }
  out_.write(header(count_));
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const size_t got = std::fread(buffer.data(), 1, buffer.size(), spool_.get());
    if (got == 0) {
      break;
    }
    out_.write(std::string_view(buffer.data(), got));
  }
  if (std::ferror(spool_.get()) != 0) {
    throw_spool("cannot read back");
  }
  spool_.reset();
}

}  // namespace netcl::text
