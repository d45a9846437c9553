// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <charconv>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json_file.h"
#include "cli/id_format.h"
#include "cli/output_name.h"
#include "text/id_file.h"
#include "text/unicode.h"

namespace netcl::cli {

namespace {

// Numbers with a separator between them, also across the parts of a row.
class IdText {
 public:
  explicit IdText(char separator) : separator_(separator) {}
  void append(std::string& line, const IdRow& row) {
    empty_ = empty_ || row.begins;
    std::array<char, 12> digits;
    for (const uint32_t id : row.ids) {
      if (!empty_) {
        line += separator_;
      }
      empty_ = false;
      const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
      line.append(digits.data(), static_cast<size_t>(end - digits.data()));
    }
  }

 private:
  char separator_;
  bool empty_ = true;
};

class TextWriter : public IdWriter {
 public:
  explicit TextWriter(base::OutputFile& out) : out_(out) {}
  void write(const IdRow& row) override {
    line_.clear();
    if (row.has_pieces) {
      for (size_t i = 0; i < row.ids.size(); ++i) {
        line_ += std::to_string(row.ids[i]) + "\t" + row.pieces[i] + "\n";
      }
    } else {
      ids_.append(line_, row);
    }
    if (row.ends) {
      line_ += '\n';
    }
    out_.write(line_);
  }

 private:
  base::OutputFile& out_;
  IdText ids_{' '};
  std::string line_;
};

class JsonWriter : public IdWriter {
 public:
  JsonWriter(base::OutputFile& out, bool many) : out_(out), many_(many) {}
  void write(const IdRow& row) override {
    line_.clear();
    if (row.begins) {
      line_ = !many_ ? "[" : rows_ == 0 ? "[[" : ",\n[";
      ++rows_;
    }
    ids_.append(line_, row);
    if (row.ends) {
      line_ += ']';
    }
    out_.write(line_);
  }
  void finish() override { out_.write(!many_ ? "\n" : rows_ == 0 ? "[]\n" : "]\n"); }

 private:
  base::OutputFile& out_;
  bool many_;
  uint64_t rows_ = 0;
  IdText ids_{','};
  std::string line_;
};

class JsonlWriter : public IdWriter {
 public:
  explicit JsonlWriter(base::OutputFile& out) : out_(out) {}
  void write(const IdRow& row) override {
    line_ = row.begins ? "{\"ids\":[" : "";
    ids_.append(line_, row);
    if (row.ends) {
      end_row(row);
    }
    out_.write(line_);
  }

 private:
  void end_row(const IdRow& row) {
    line_ += ']';
    if (row.has_pieces) {
      line_ += ",\"pieces\":[";
      for (size_t i = 0; i < row.pieces.size(); ++i) {
        line_ += (i > 0 ? "," : "") + row.pieces[i];
      }
      line_ += ']';
    }
    if (!row.id_json.empty()) {
      line_ += ",\"id\":" + std::string(row.id_json);
    }
    line_ += "}\n";
  }

  base::OutputFile& out_;
  IdText ids_{','};
  std::string line_;
};

class NpyIdWriter : public IdWriter {
 public:
  explicit NpyIdWriter(base::OutputFile& out) : writer_(out, text::NpyNumber::kU32) {}
  void write(const IdRow& row) override { writer_.write(row.ids); }
  void finish() override { writer_.finish(); }

 private:
  text::NpyWriter writer_;
};

class RawWriter : public IdWriter {
 public:
  RawWriter(base::OutputFile& out, std::string where, size_t bytes)
      : out_(out), where_(std::move(where)), bytes_(bytes) {}
  void write(const IdRow& row) override {
    static_assert(std::endian::native == std::endian::little);
    if (bytes_ == sizeof(uint32_t)) {
      out_.write(std::as_bytes(row.ids));
      return;
    }
    narrow_.clear();
    for (const uint32_t id : row.ids) {
      if (id > 0xFFFF) {
        throw base::FormatError(where_ + ": id " + std::to_string(id) + " at position " +
                                std::to_string(written_) +
                                " does not fit 16 bits; use --format u32");
      }
      narrow_.push_back(static_cast<uint16_t>(id));
      ++written_;
    }
    out_.write(std::as_bytes(std::span<const uint16_t>(narrow_)));
  }

 private:
  base::OutputFile& out_;
  std::string where_;
  size_t bytes_;
  uint64_t written_ = 0;
  std::vector<uint16_t> narrow_;
};

}  // namespace

std::vector<Choice<IdFormat>> id_format_choices(bool with_auto) {
  std::vector<Choice<IdFormat>> choices;
  if (with_auto) {
    choices.push_back({"auto", IdFormat::kAuto});
  }
  choices.insert(choices.end(), {{"text", IdFormat::kText},
                                 {"json", IdFormat::kJson},
                                 {"jsonl", IdFormat::kJsonl},
                                 {"npy", IdFormat::kNpy},
                                 {"u16", IdFormat::kU16},
                                 {"u32", IdFormat::kU32}});
  return choices;
}

bool is_binary(IdFormat format) {
  return format == IdFormat::kNpy || format == IdFormat::kU16 || format == IdFormat::kU32;
}

IdFormat id_format_of_name(const std::string& path) {
  for (const Choice<IdFormat>& choice : id_format_choices(false)) {
    if (choice.value != IdFormat::kText &&
        base::has_extension(path, "." + std::string(choice.name))) {
      return choice.value;
    }
  }
  check_output_name(path, "without --format the name says what is written",
                    {".txt", ".json", ".jsonl", ".npy", ".u16", ".u32"});
  return IdFormat::kText;
}

void check_id_output_name(const std::string& path, IdFormat format) {
  const auto check = [&](const char* what, std::initializer_list<std::string_view> allowed) {
    check_output_name(path, what, allowed);
  };
  switch (format) {
    case IdFormat::kText:
      return check("--format text writes text", {".txt"});
    case IdFormat::kJson:
      return check("--format json writes JSON", {".json"});
    case IdFormat::kJsonl:
      return check("--format jsonl writes JSON lines", {".jsonl", ".ndjson"});
    case IdFormat::kNpy:
      return check("--format npy writes a NumPy array", {".npy"});
    case IdFormat::kU16:
      return check("--format u16 writes bare numbers", {".u16", ".bin"});
    case IdFormat::kU32:
      return check("--format u32 writes bare numbers", {".u32", ".bin"});
    case IdFormat::kAuto:
      break;
  }
}

std::string piece_json(std::string_view bytes) {
  if (text::is_valid_utf8(bytes)) {
    return base::to_text(std::string(bytes));
  }
  std::string hex;
  for (const char c : bytes) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return "{\"hex\":\"" + hex + "\"}";
}

std::unique_ptr<IdWriter> make_id_writer(IdFormat format, base::OutputFile& out,
                                         const std::string& where, bool many) {
  switch (format) {
    case IdFormat::kJson:
      return std::make_unique<JsonWriter>(out, many);
    case IdFormat::kJsonl:
      return std::make_unique<JsonlWriter>(out);
    case IdFormat::kNpy:
      return std::make_unique<NpyIdWriter>(out);
    case IdFormat::kU16:
      return std::make_unique<RawWriter>(out, where, 2);
    case IdFormat::kU32:
      return std::make_unique<RawWriter>(out, where, 4);
    case IdFormat::kText:
    case IdFormat::kAuto:
      break;
  }
  return std::make_unique<TextWriter>(out);
}

}  // namespace netcl::cli
