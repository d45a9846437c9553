// SPDX-License-Identifier: Apache-2.0
#include "text/counts_file.h"

#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace netcl::text {

using base::FormatError;
using base::quote;

namespace {

constexpr std::string_view kSumMark = "~~";
constexpr std::string_view kBytesKey = "~~bytes";
constexpr std::string_view kDocumentsKey = "~~documents";
constexpr std::string_view kPiecesKey = "~~pieces";
constexpr std::string_view kWordsKey = "~~words";

void append_line(std::string_view key, uint64_t number, std::string& out) {
  out += key;
  out += '\t';
  out += std::to_string(number);
  out += '\n';
}

}  // namespace

CountsWriter::CountsWriter(Write write, std::string_view header_line)
    : write_(std::move(write)), line_(header_line) {
  line_ += '\n';
  write_(line_);
}

void CountsWriter::add(std::string_view word, uint64_t count) {
  NETCL_CHECK(!word.empty() && count >= 1 && word > previous_);
  NETCL_CHECK(count <= kMostCount - totals_.pieces);
  previous_ = word;
  totals_.pieces += count;
  ++totals_.words;
  line_.clear();
  append_escaped(word, line_);
  append_line("", count, line_);
  write_(line_);
}

void CountsWriter::finish(uint64_t bytes, uint64_t documents) {
  line_.clear();
  append_line(kBytesKey, bytes, line_);
  append_line(kDocumentsKey, documents, line_);
  append_line(kPiecesKey, totals_.pieces, line_);
  append_line(kWordsKey, totals_.words, line_);
  write_(line_);
}

CountsHeader read_counts_header(base::LineReader& lines) {
  constexpr size_t kMembers = 3;
  const std::string line_one = base::at_line(lines.path(), 1);
  if (!lines.next()) {
    throw FormatError(lines.path() + ": is empty; counts are written by bpe-train --counts-out");
  }
  if (const base::CompressedKind* kind = base::find_compressed_kind(lines.line())) {
    throw FormatError(lines.path() + ": is " + kind->name + "-compressed; use '" + kind->command +
                      " " + lines.path() + " | bpe-train --from-counts - ...'");
  }
  const base::Json object =
      parse_header_line(lines.line(), kCountsMagic, kCountsVersion, "--counts-out", line_one);
  CountsHeader header = parse_counts_header_json(object, line_one);
  if (object.size() != kMembers) {
    throw FormatError(line_one + ": has options that this program does not know");
  }
  return header;
}

CountsReader::Fields CountsReader::split_line() const {
  const std::string_view line = lines_.line();
  const size_t tab = line.find('\t');
  if (!lines_.complete()) {
    throw FormatError(lines_.where() + ": ends in the middle of a line; the file is cut off");
  }
  if (tab == std::string_view::npos) {
    throw FormatError(lines_.where() + ": " + quote(line) + " is not a word, a tab and a count");
  }
  return {line.substr(0, tab), line.substr(tab + 1)};
}

bool CountsReader::next() {
  if (!lines_.next()) {
    throw FormatError(lines_.where() + ": ends without the line " + std::string(kWordsKey) +
                      "; the file is cut off");
  }
  if (lines_.line().starts_with(kSumMark)) {
    read_sums();
    return false;
  }
  const Fields fields = split_line();
  std::swap(previous_, word_);
  word_.clear();
  if (fields.key.empty() || !append_unescaped(fields.key, word_)) {
    throw FormatError(lines_.where() + ": " + quote(fields.key) +
                      (fields.key.empty() ? " is an empty word" : " is not an escaped word"));
  }
  if (word_ <= previous_) {
    throw FormatError(lines_.where() + ": " + quote(fields.key) +
                      " does not come after the word before it; words ascend by their bytes");
  }
  count_ = parse_count(fields.number, 1, lines_.where());
  if (count_ > kMostCount - totals_.pieces) {
    throw FormatError(lines_.where() + ": the counts add up to more than 2^63 - 1");
  }
  totals_.pieces += count_;
  ++totals_.words;
  return true;
}

// Bytes and documents are taken as they are; the others must be those of the lines read.
void CountsReader::read_sums() {
  const auto read = [&](std::string_view key) {
    const Fields fields = split_line();
    if (fields.key != key) {
      throw FormatError(lines_.where() + ": " + quote(fields.key) + " stands where " +
                        std::string(key) + " should");
    }
    return parse_count(fields.number, 0, lines_.where());
  };
  const auto read_next = [&](std::string_view key) {
    if (!lines_.next()) {
      throw FormatError(lines_.where() + ": ends without the line " + std::string(key) +
                        "; the file is cut off");
    }
    return read(key);
  };
  const auto check = [&](uint64_t stated, uint64_t found, const std::string& what) {
    if (stated != found) {
      throw FormatError(lines_.where() + ": states " + std::to_string(stated) + " " + what +
                        ", but the lines above have " + std::to_string(found) +
                        "; the file is damaged");
    }
  };
  totals_.bytes = read(kBytesKey);
  totals_.documents = read_next(kDocumentsKey);
  check(read_next(kPiecesKey), totals_.pieces, "pieces");
  check(read_next(kWordsKey), totals_.words, "words");
}

void require_end(base::LineReader& lines) {
  if (lines.next()) {
    throw FormatError(lines.where() + ": " + quote(lines.line()) +
                      " stands behind the end of the counts");
  }
}

}  // namespace netcl::text
