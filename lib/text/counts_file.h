// SPDX-License-Identifier: Apache-2.0
// Reading and writing files of counted pre-tokens (counts_format.h) as a stream: memory for the
// longest line alone, whatever the number of lines.
#ifndef NETCL_TEXT_COUNTS_FILE_H_
#define NETCL_TEXT_COUNTS_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/line_reader.h"
#include "text/counts_format.h"

namespace netcl::text {

// Writes the lines of a file, in pieces that `write` is called with.
class CountsWriter {
 public:
  using Write = std::function<void(std::string_view)>;

  // Writes `header_line` (make_header_line()) and its line end.
  CountsWriter(Write write, std::string_view header_line);

  // The next word, not empty, greater by bytes than the one before; a count of at least 1. A word
  // out of order is a bug of the caller's.
  void add(std::string_view word, uint64_t count);

  // Writes the sums; nothing may follow.
  void finish(uint64_t bytes, uint64_t documents);

 private:
  Write write_;
  std::string line_;
  std::string previous_;
  CountsTotals totals_;
};

// The header of a counts file at its beginning. Throws FormatError, IoError.
CountsHeader read_counts_header(base::LineReader& lines);

// Reads words and sums from where `lines` stands, behind a header line. `lines` must outlive it.
class CountsReader {
 public:
  explicit CountsReader(base::LineReader& lines) : lines_(lines) {}

  // Goes to the next word; false when the sums were read and are those of the lines read. Throws
  // FormatError with the line: no tab, an empty or wrongly escaped word, a word not greater than
  // the one before, a count outside 1 to 2^63 - 1, a sum beyond that, sums that are not those of
  // the lines, an end without them; IoError.
  bool next();

  // Bytes of the word that next() went to, until the following call; and its occurrences.
  std::string_view word() const { return word_; }
  uint64_t count() const { return count_; }
  // Of the file; complete when next() gave false.
  const CountsTotals& totals() const { return totals_; }

 private:
  // Splits the present line, which must be whole, at its tab.
  struct Fields {
    std::string_view key;
    std::string_view number;
  };
  Fields split_line() const;
  void read_sums();

  base::LineReader& lines_;
  std::string word_;
  std::string previous_;
  uint64_t count_ = 0;
  CountsTotals totals_;
};

// Throws FormatError when lines follow.
void require_end(base::LineReader& lines);

}  // namespace netcl::text

#endif  // NETCL_TEXT_COUNTS_FILE_H_
