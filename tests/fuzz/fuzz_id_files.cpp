// SPDX-License-Identifier: Apache-2.0
// The first byte chooses an id format, the rest is a file of it, or an error of the input; the ids
// read are read again as text and as JSON lines.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/id_format.h"
#include "memory_file.h"

namespace {

using namespace netcl;

class Rows final : public cli::IdSink {
 public:
  void begin(const std::string& where) override {
    NETCL_CHECK(!open_ && !where.empty());
    open_ = true;
    rows_.emplace_back();
  }
  void ids(std::span<const uint32_t> ids) override {
    NETCL_CHECK(open_);
    rows_.back().insert(rows_.back().end(), ids.begin(), ids.end());
  }
  void end() override {
    NETCL_CHECK(open_);
    open_ = false;
  }
  const std::vector<std::vector<uint32_t>>& rows() const {
    NETCL_CHECK(!open_);
    return rows_;
  }

  std::string text(std::string_view begin, std::string_view separator, std::string_view end) const {
    std::string out;
    for (const std::vector<uint32_t>& row : rows_) {
      out += begin;
      for (size_t i = 0; i < row.size(); ++i) {
        out += i == 0 ? "" : separator;
        out += std::to_string(row[i]);
      }
      out += end;
    }
    return out;
  }

 private:
  std::vector<std::vector<uint32_t>> rows_;
  bool open_ = false;
};

Rows read(std::string_view bytes, cli::IdFormat format) {
  const fuzz::MemoryFile file(bytes);
  Rows rows;
  cli::read_ids(file.path(), format, rows);
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using cli::IdFormat;
  constexpr IdFormat kFormats[] = {IdFormat::kAuto,  IdFormat::kText, IdFormat::kJson,
                                   IdFormat::kJsonl, IdFormat::kNpy,  IdFormat::kU16,
                                   IdFormat::kU32};
  if (size == 0) {
    return 0;
  }
  try {
    const Rows rows = read({reinterpret_cast<const char*>(data) + 1, size - 1},
                           kFormats[data[0] % std::size(kFormats)]);
    NETCL_CHECK(read(rows.text("", " ", "\n"), IdFormat::kText).rows() == rows.rows());
    NETCL_CHECK(read(rows.text("{\"ids\":[", ",", "]}\n"), IdFormat::kJsonl).rows() == rows.rows());
  } catch (const base::FormatError&) {
  }
  return 0;
}
