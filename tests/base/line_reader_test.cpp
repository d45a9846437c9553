// SPDX-License-Identifier: Apache-2.0
#include "base/line_reader.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using netcl::base::IoError;
using netcl::base::LineReader;
using netcl::base::Rng;
using netcl::base::write_file;
using netcl::tests::TempDir;

namespace {

std::vector<std::string> split_slowly(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    lines.back() += c;
    if (c == '\n') {
      lines.emplace_back();
    }
  }
  if (lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

void check(const std::string& path, const std::string& text) {
  write_file(path, text);
  LineReader reader(path);
  CHECK(reader.line_number() == 0);
  uint64_t passed = 0;
  uint64_t number = 0;
  for (std::string wanted : split_slowly(text)) {
    REQUIRE(reader.next());
    passed += wanted.size();
    const bool complete = wanted.ends_with('\n');
    REQUIRE(reader.complete() == complete);
    wanted.resize(wanted.size() - (complete ? 1 : 0));
    REQUIRE(reader.line() == wanted);
    REQUIRE(reader.line_number() == ++number);
    REQUIRE(reader.where() == path + ":" + std::to_string(number));
    REQUIRE(reader.passed_bytes() == passed);
    REQUIRE(reader.read_bytes() >= passed);
  }
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.next());
  CHECK(reader.read_bytes() == text.size());
}

}  // namespace

TEST_CASE("line reader: lines of all lengths come as they are") {
  const TempDir folder;
  const std::string path = folder.file("lines");
  using std::string_literals::operator""s;
  for (const std::string& text : {""s, "\n"s, "a"s, "a\n"s, "\n\n"s, "a\r\n\0b\n\nc"s}) {
    check(path, text);
  }
  Rng rng(5);
  for (int round = 0; round < 30; ++round) {
    std::string text;
    for (uint64_t i = 0; i < rng.below(40); ++i) {
      // Some lines are longer than what is read at once, some ends fall on its border.
      const uint64_t length =
          rng.below(4) == 0 ? (uint64_t{256} << 10) - 2 + rng.below(5) : rng.below(50);
      text.append(length, static_cast<char>('a' + rng.below(26)));
      text += '\n';
    }
    text.append(rng.below(3), 'z');
    check(path, text);
  }
}

TEST_CASE("line reader: a line longer than it may be is refused with its number") {
  const TempDir folder;
  const std::string path = folder.file("lines");
  for (const size_t most : {size_t{3}, size_t{600000}}) {
    for (const bool ends : {true, false}) {
      const std::string longest(most, 'a');
      write_file(path, "a\n" + longest + (ends ? "\n" : ""));
      LineReader fits(path, most);
      CHECK((fits.next() && fits.next() && fits.line() == longest && !fits.next()));
      write_file(path, "a\n" + longest + "a" + (ends ? "\n" : ""));
      LineReader reader(path, most);
      CHECK(reader.next());
      CHECK_THROWS_WITH(reader.next(), path + ":2: a line of more than " + std::to_string(most) +
                                           " bytes; is the input text with line ends?");
    }
  }
  LineReader endless("/dev/zero", 600000);
  CHECK_THROWS_AS(endless.next(), netcl::base::FormatError);
}

TEST_CASE("line reader: a file that is not there is named") {
  const TempDir folder;
  CHECK_THROWS_AS(LineReader(folder.file("none")), IoError);
  CHECK_THROWS_AS(LineReader(folder.path().string()), IoError);
}
