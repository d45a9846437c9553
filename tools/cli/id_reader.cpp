// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <functional>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/line_reader.h"
#include "cli/documents.h"
#include "cli/id_format.h"
#include "cli/json_line.h"
#include "text/id_file.h"

namespace netcl::cli {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 16;
constexpr size_t kMaxDigits = 4096;  // leading zeros included
// Of blanks alone; what begins with more of them is text.
constexpr size_t kMostLookedAt = size_t{1} << 20;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

[[noreturn]] void refuse_id(const std::string& where, const std::string& shown, uint64_t position,
                            const std::string& why) {
  throw base::FormatError(where + ": id " + shown + " at position " + std::to_string(position) +
                          " " + why);
}

// Bytes of the input as they arrive; the first ones can be looked at before the format is known.
class ByteSource {
 public:
  ByteSource(const std::string& path, const std::function<void(uint64_t)>& on_read)
      : reader_(path), on_read_(on_read) {}
  const std::string& where() const { return reader_.path(); }

  // The next bytes, empty at the end.
  std::string_view next() {
    if (!pending_.empty()) {
      current_ = std::move(pending_);
      pending_.clear();
      return current_;
    }
    current_.resize(kChunkBytes);
    current_.resize(read({current_.data(), current_.size()}));
    return current_;
  }
  // The first byte that is no blank, which stays to be read; '\0' when there is none in the first
  // megabyte.
  char first_byte() {
    for (;;) {
      const auto found = std::find_if_not(pending_.begin(), pending_.end(), is_blank);
      if (found != pending_.end()) {
        return *found;
      }
      const size_t used = pending_.size();
      pending_.resize(used + kChunkBytes);
      const size_t got = read({pending_.data() + used, kChunkBytes});
      pending_.resize(used + got);
      if (got == 0 || pending_.size() >= kMostLookedAt) {
        return '\0';
      }
    }
  }
  std::string_view looked_at() const { return pending_; }
  std::string all() {
    std::string bytes;
    for (std::string_view part = next(); !part.empty(); part = next()) {
      bytes += part;
      if (bytes.size() > base::kMostPipedBytes) {
        throw base::FormatError(where() + ": JSON of more than " +
                                std::to_string(base::kMostPipedBytes) +
                                " bytes, which is read as a whole; jsonl is read line by line");
      }
    }
    return bytes;
  }

 private:
  size_t read(std::span<char> bytes) {
    const size_t got = reader_.read(bytes);
    if (on_read_) {
      on_read_(got);
    }
    return got;
  }

  base::ChunkReader reader_;
  const std::function<void(uint64_t)>& on_read_;
  std::string pending_;
  std::string current_;
};

// Splits text into ids; a number may be cut by the border of two parts.
class TextParser {
 public:
  TextParser(std::string source, IdSink& sink) : source_(std::move(source)), sink_(sink) {}

  void push(std::string_view part) {
    for (const char c : part) {
      if (c == '\n') {
        end_line();
      } else {
        begin_line();
        if (c == ' ' || c == '\t' || c == '\r') {
          end_number();
        } else {
          number_ += c;
          if (number_.size() > kMaxDigits) {
            refuse_id(where(), base::quote(number_), position_, "does not end");
          }
        }
      }
    }
    hand_on();
  }
  void finish() {
    if (in_line_) {
      end_line();
    }
  }

 private:
  void begin_line() {
    if (!in_line_) {
      in_line_ = true;
      ++line_;
      position_ = 0;
      sink_.begin(where());
    }
  }
  void end_line() {
    begin_line();
    end_number();
    hand_on();
    sink_.end();
    in_line_ = false;
  }
  void end_number() {
    if (number_.empty()) {
      return;
    }
    uint32_t id = 0;
    const char* end = number_.data() + number_.size();
    const std::from_chars_result result = std::from_chars(number_.data(), end, id);
    const size_t sign = number_[0] == '-' ? 1 : 0;
    const bool is_number = number_.size() > sign &&
                           std::all_of(number_.begin() + static_cast<ptrdiff_t>(sign),
                                       number_.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number) {
      refuse_id(where(), base::quote(number_), position_,
                "is no number; text ids are decimal numbers with blanks between them, and raw "
                "numbers need --format u16 or u32");
    }
    if (result.ec != std::errc() || result.ptr != end) {
      refuse_id(where(), number_.substr(0, 60), position_,
                "is out of range; ids are 0 to 4294967295");
    }
    ids_.push_back(id);
    ++position_;
    number_.clear();
  }
  void hand_on() {
    if (!ids_.empty()) {
      sink_.ids(ids_);
      ids_.clear();
    }
  }
  std::string where() const { return base::at_line(source_, line_); }

  std::string source_;
  IdSink& sink_;
  bool in_line_ = false;
  uint64_t line_ = 0;
  uint64_t position_ = 0;
  std::string number_;
  std::vector<uint32_t> ids_;
};

// Finds the text that a value was made from, where it has to be shown: it takes a search.
using FindText = std::function<std::string_view()>;

// `find_text` finds the array: a refused number is shown as it stands there.
std::vector<uint32_t> ids_of_array(const base::Json& array, const FindText& find_text,
                                   const std::string& where) {
  std::vector<uint32_t> ids;
  ids.reserve(array.size());
  for (const base::Json& value : array) {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX) {
      const std::string_view element = base::json_element_text(find_text(), ids.size());
      const bool is_whole =
          value.is_number() && element.find_first_of(".eE") == std::string_view::npos;
      refuse_id(where, std::string(element.substr(0, 60)), ids.size(),
                is_whole ? "is out of range; ids are 0 to 4294967295" : "is no whole number");
    }
    ids.push_back(value.get<uint32_t>());
  }
  return ids;
}

void hand_on_document(std::span<const uint32_t> ids, const std::string& where, IdSink& sink) {
  sink.begin(where);
  sink.ids(ids);
  sink.end();
}

// [1,2] or {"ids":[1,2]}
void read_json_row(const base::Json& value, const FindText& find_text, const std::string& where,
                   IdSink& sink) {
  if (value.is_object()) {
    const base::Json& ids = base::require_field(value, "ids", where);
    if (!ids.is_array()) {
      throw base::FormatError(where + ": field 'ids' is no array");
    }
    const auto find_ids = [&] { return base::json_member_text(find_text(), "ids"); };
    hand_on_document(ids_of_array(ids, find_ids, where), where, sink);
  } else if (value.is_array()) {
    hand_on_document(ids_of_array(value, find_text, where), where, sink);
  } else {
    throw base::FormatError(where + ": " + base::quote(base::to_text(value)) +
                            " is no list of ids; expected [1,2,3] or {\"ids\":[1,2,3]}");
  }
}

void read_json(ByteSource& source, IdSink& sink) {
  const std::string text = source.all();
  const base::Json value = parse_json_line(text, source.where()).value;
  const bool rows = value.is_array() && !value.empty() && !value[0].is_primitive();
  if (!rows) {
    read_json_row(
        value, [&] { return std::string_view(text); }, source.where(), sink);
    return;
  }
  size_t row = 0;
  for (const base::Json& ids : value) {
    read_json_row(
        ids, [&] { return base::json_element_text(text, row); },
        source.where() + ": row " + std::to_string(row), sink);
    ++row;
  }
}

void read_jsonl(ByteSource& source, IdSink& sink) {
  std::string buffer;
  uint64_t line_number = 0;
  for (bool at_end = false; !at_end;) {
    const std::string_view part = source.next();
    at_end = part.empty();
    size_t searched = buffer.size();
    buffer += part;
    size_t begin = 0;
    for (;;) {
      const size_t end = buffer.find('\n', std::max(begin, searched));
      const bool complete = end != std::string::npos;
      if (!complete && !(at_end && begin < buffer.size())) {
        break;
      }
      const size_t stop = complete ? end : buffer.size();
      const std::string where = base::at_line(source.where(), ++line_number);
      const std::string_view line = std::string_view(buffer).substr(begin, stop - begin);
      read_json_row(
          parse_json_line(line, where).value, [&] { return line; }, where, sink);
      begin = complete ? end + 1 : stop;
      searched = begin;
    }
    buffer.erase(0, begin);
    if (buffer.size() > base::kMostPipedBytes) {
      base::refuse_long_line(base::at_line(source.where(), line_number + 1), base::kMostPipedBytes);
    }
    sink.pause();
  }
}

void read_npy(ByteSource& source, IdSink& sink) {
  text::NpyIdReader reader(source.where());
  std::vector<uint32_t> ids;
  sink.begin(source.where());
  for (std::string_view part = source.next(); !part.empty(); part = source.next()) {
    ids.clear();
    reader.push(part, ids);
    sink.ids(ids);
    sink.pause();
  }
  reader.finish();
  sink.end();
}

void read_text(ByteSource& source, IdSink& sink) {
  TextParser parser(source.where(), sink);
  for (std::string_view part = source.next(); !part.empty(); part = source.next()) {
    parser.push(part);
    sink.pause();
  }
  parser.finish();
}

void read_raw(ByteSource& source, size_t id_bytes, IdSink& sink) {
  std::string buffer;
  std::vector<uint32_t> ids;
  uint64_t offset = 0;
  sink.begin(source.where());
  for (std::string_view part = source.next(); !part.empty(); part = source.next()) {
    buffer += part;
    ids.clear();
    for (size_t at = 0; at + id_bytes <= buffer.size(); at += id_bytes) {
      uint32_t id = 0;
      for (size_t i = id_bytes; i-- > 0;) {
        id = id << 8 | static_cast<unsigned char>(buffer[at + i]);
      }
      ids.push_back(id);
    }
    buffer.erase(0, ids.size() * id_bytes);
    offset += ids.size() * id_bytes;
    sink.ids(ids);
    sink.pause();
  }
  if (!buffer.empty()) {
    throw base::FormatError(base::at_byte(source.where(), offset) + ": " +
                            std::to_string(buffer.size()) + " bytes are left over; each id has " +
                            std::to_string(id_bytes));
  }
  sink.end();
}

IdFormat guess_format(ByteSource& source, const std::string& path) {
  const std::pair<std::string_view, IdFormat> known[] = {{".npy", IdFormat::kNpy},
                                                         {".json", IdFormat::kJson},
                                                         {".jsonl", IdFormat::kJsonl},
                                                         {".txt", IdFormat::kText}};
  for (const auto& [name, format] : known) {
    if (base::has_extension(path, name)) {
      return format;
    }
  }
  const char first = source.first_byte();
  return first == text::kNpyMagic[0] ? IdFormat::kNpy
         : first == '['              ? IdFormat::kJson
         : first == '{'              ? IdFormat::kJsonl
                                     : IdFormat::kText;
}

}  // namespace

void read_ids(const std::string& path, IdFormat format, IdSink& sink,
              const std::function<void(uint64_t)>& on_read) {
  ByteSource source(path, on_read);
  if (format == IdFormat::kAuto) {
    format = guess_format(source, path);
  }
  if (path != "-" && format != IdFormat::kU16 && format != IdFormat::kU32) {
    source.first_byte();
    refuse_compressed(source.looked_at(), path, "");
  }
  switch (format) {
    case IdFormat::kJson:
      return read_json(source, sink);
    case IdFormat::kJsonl:
      return read_jsonl(source, sink);
    case IdFormat::kNpy:
      return read_npy(source, sink);
    case IdFormat::kU16:
      return read_raw(source, 2, sink);
    case IdFormat::kU32:
      return read_raw(source, 4, sink);
    case IdFormat::kText:
    case IdFormat::kAuto:
      return read_text(source, sink);
  }
}

}  // namespace netcl::cli
