// SPDX-License-Identifier: Apache-2.0
// The hand-written scanners against PCRE2 running the same pattern, and against known pieces.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "hostile_text.h"
#include "support/catch.h"
#include "text/pre_splitter.h"
#include "text/regex_splitter.h"
#include "text/unicode.h"

using namespace netcl;
using namespace netcl::text;

namespace {

const std::vector<std::string> kPatternNames = {"gpt2", "cl100k", "o200k", "qwen2"};

// A scanner and its oracle.
class Comparison {
 public:
  explicit Comparison(const std::string& name)
      : scanner_(make_named_splitter(name)), oracle_(make_pcre2_splitter(scanner_->pattern())) {}

  // The text is checked with its first difference shown.
  void check(const std::string& text) {
    ours_.clear();
    theirs_.clear();
    scanner_->split(text, ours_);
    oracle_->split(text, theirs_);
    if (ours_ != theirs_) {
      FAIL(scanner_->name() << " on " << base::quote(text, 400) << ": scanner " << show(ours_)
                            << ", PCRE2 " << show(theirs_));
    }
  }

 private:
  static std::string show(const std::vector<Piece>& pieces) {
    std::string out;
    for (const Piece& piece : pieces) {
      out += std::to_string(piece.end) + ' ';
    }
    return out;
  }

  std::shared_ptr<const PreSplitter> scanner_;
  std::shared_ptr<const PreSplitter> oracle_;
  std::vector<Piece> ours_;
  std::vector<Piece> theirs_;
};

std::vector<std::string> pieces_of(const PreSplitter& splitter, const std::string& text) {
  std::vector<Piece> pieces;
  splitter.split(text, pieces);
  std::vector<std::string> parts;
  for (const Piece& piece : pieces) {
    parts.push_back(text.substr(piece.begin, piece.end - piece.begin));
  }
  return parts;
}

using Parts = std::vector<std::string>;

// Up to 12 symbols. A third of the strings draw from few of them, so that longer runs meet.
std::string random_text(base::Rng& rng) {
  const uint64_t count = kSymbolsOfText.size();
  const uint64_t spread = rng.below(3) == 0 ? 4 : count;
  const uint64_t offset = rng.below(count);
  std::string text;
  for (uint64_t k = 1 + rng.below(12); k > 0; --k) {
    text += kSymbolsOfText[(offset + rng.below(spread)) % count];
  }
  return text;
}

}  // namespace

// PCRE2 judges every code point of a short property run, and a sample of a long one (unassigned,
// private use, ideographs, syllables): a class of the pattern never ends inside a run. The others
// must be split as their judged neighbour with the same number of bytes is.
TEST_CASE("scanner: every code point splits as PCRE2 splits it in each context") {
  const std::string name = GENERATE(from_range(kPatternNames));
  Comparison comparison(name);
  const auto scanner = make_named_splitter(name);
  std::vector<Piece> judged;
  std::vector<Piece> pieces;
  size_t judged_bytes = 0;
  for (const PropertyRun& run : property_runs()) {
    for (char32_t c = run.first; c <= run.last; ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) {
        continue;
      }
      const std::string encoded = encode_utf8(c);
      const std::string text = contexts_of(encoded);
      const bool is_border = c - run.first < 64 || run.last - c < 64 || c % 256 < 2 ||
                             run.last - run.first < 256 || encoded.size() != judged_bytes;
      pieces.clear();
      scanner->split(text, pieces);
      if (is_border) {
        comparison.check(text);
        judged = pieces;
        judged_bytes = encoded.size();
      } else if (pieces != judged) {
        FAIL(name << ": code point " << static_cast<unsigned>(c) << " splits unlike its run");
      }
    }
  }
}

TEST_CASE("scanner: random strings split as PCRE2 splits them") {
  const std::string name = GENERATE(from_range(kPatternNames));
  Comparison comparison(name);
  base::Rng rng(20261130);
  for (int i = 0; i < 200000; ++i) {
    comparison.check(random_text(rng));
  }
}

// tiktoken now writes its patterns with possessive quantifiers. That of gpt2 is the same split;
// that of cl100k differs for a text that ends in a newline and other white space.
TEST_CASE("scanner: the possessive spelling of a pattern gives the same pieces") {
  const auto gpt2 = make_named_splitter("gpt2");
  const auto cl100k = make_named_splitter("cl100k");
  const auto possessive = [](const std::string& pattern) {
    return make_pcre2_splitter(pattern, SplitBehavior::kIsolated, false, RegexDialect::kFancyRegex);
  };
  const auto gpt2_possessive = possessive(
      R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)");
  const auto cl100k_possessive = possessive(
      R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+)"
      R"(|\s++$|\s*[\r\n]|\s+(?!\S)|\s)");
  base::Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random_text(rng) + "x";
    INFO(base::quote(text, 400));
    REQUIRE(pieces_of(*gpt2, text) == pieces_of(*gpt2_possessive, text));
    REQUIRE(pieces_of(*cl100k, text) == pieces_of(*cl100k_possessive, text));
  }
  CHECK(pieces_of(*cl100k_possessive, "a\n ") == Parts{"a", "\n "});
}

TEST_CASE("scanner: all short strings over the decisive characters split as PCRE2 splits them") {
  // One character for each way a rule can tell characters apart; every string up to length 5.
  const std::vector<std::string> alphabet = {"s", "L",  "\u4E00", "\u0301", "1",
                                             " ", "\n", "\t",     ".",      "'"};
  const std::string name = GENERATE(from_range(kPatternNames));
  Comparison comparison(name);
  std::string text;
  for (int length = 1; length <= 5; ++length) {
    std::vector<size_t> digits(static_cast<size_t>(length), 0);
    while (true) {
      text.clear();
      for (const size_t digit : digits) {
        text += alphabet[digit];
      }
      comparison.check(text);
      size_t k = 0;
      while (k < digits.size() && ++digits[k] == alphabet.size()) {
        digits[k++] = 0;
      }
      if (k == digits.size()) {
        break;
      }
    }
  }
}

TEST_CASE("scanner: blanks before a newline or a word") {
  struct Row {
    const char* text;
    Parts gpt2;
    Parts cl100k;
  };
  const Row rows[] = {
      {"a\n\nb", {"a", "\n", "\n", "b"}, {"a", "\n\n", "b"}},
      {"x \n y", {"x", " \n", " y"}, {"x", " \n", " y"}},
      {"  \n\n  z", {"  \n\n ", " z"}, {"  \n\n", " ", " z"}},
      {"end \n\n\n", {"end", " \n\n\n"}, {"end", " \n\n\n"}},
      {"p   q", {"p", "  ", " q"}, {"p", "  ", " q"}},
      {"a//\n\nb /", {"a", "//", "\n", "\n", "b", " /"}, {"a", "//\n\n", "b", " /"}},
      {"a\n ", {"a", "\n "}, {"a", "\n", " "}},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(pieces_of(*make_named_splitter("gpt2"), row.text) == row.gpt2);
    CHECK(pieces_of(*make_named_splitter("cl100k"), row.text) == row.cl100k);
    CHECK(pieces_of(*make_named_splitter("o200k"), row.text) == row.cl100k);
    CHECK(pieces_of(*make_named_splitter("qwen2"), row.text) == row.cl100k);
  }
}

TEST_CASE("scanner: digits marks contractions and case") {
  const auto gpt2 = make_named_splitter("gpt2");
  const auto cl100k = make_named_splitter("cl100k");
  const auto o200k = make_named_splitter("o200k");
  const auto qwen2 = make_named_splitter("qwen2");
  const Parts digits = {"202", "612", "03", " ", "7", " ", "77", " ", "777", " ", "777", "7"};
  CHECK(pieces_of(*cl100k, "20261203 7 77 777 7777") == digits);
  CHECK(pieces_of(*o200k, "20261203 7 77 777 7777") == digits);
  CHECK(pieces_of(*qwen2, "12 3") == Parts{"1", "2", " ", "3"});
  CHECK(pieces_of(*gpt2, "20261203 7 77") == Parts{"20261203", " 7", " 77"});
  const std::string numbers = "\u00BD\u00B2\u2167\u0663\u0664";
  CHECK(pieces_of(*cl100k, numbers) == Parts{"\u00BD\u00B2\u2167", "\u0663\u0664"});
  const std::string marks = "e\u0301x n\u0303";
  CHECK(pieces_of(*cl100k, marks) == Parts{"e", "\u0301x", " n", "\u0303"});
  CHECK(pieces_of(*o200k, marks) == Parts{"e\u0301x", " n\u0303"});
  const std::string contractions = "DON'T don't I'LL it'\u017F";
  CHECK(pieces_of(*gpt2, contractions) ==
        Parts{"DON", "'", "T", " don", "'t", " I", "'", "LL", " it", "'", "\u017F"});
  CHECK(pieces_of(*cl100k, contractions) ==
        Parts{"DON", "'T", " don", "'t", " I", "'LL", " it", "'\u017F"});
  CHECK(pieces_of(*o200k, contractions) == Parts{"DON'T", " don't", " I'LL", " it'\u017F"});
  CHECK(pieces_of(*o200k, "getHTTPResponse fooBar") == Parts{"get", "HTTPResponse", " foo", "Bar"});
  CHECK(pieces_of(*cl100k, "getHTTPResponse fooBar") == Parts{"getHTTPResponse", " fooBar"});
}

TEST_CASE("scanner: an ill-formed byte is one other character") {
  for (const std::string& name : kPatternNames) {
    INFO(name);
    CHECK(pieces_of(*make_named_splitter(name), "a \xFF\xFE b") == Parts{"a", " \xFF\xFE", " b"});
    CHECK(pieces_of(*make_named_splitter(name), "").empty());
    CHECK(pieces_of(*make_named_splitter(name), std::string(1, '\0')) ==
          Parts{std::string(1, '\0')});
  }
}

TEST_CASE("scanner: a million repeats of anything takes a bounded time") {
  // A quadratic rule would take hours at this length; ctest's limit then ends the test.
  const std::vector<std::string> units = {
      "a",    "A",   "7",      " ",    "\n", "\t",        "^",  "'",      "/",      "'s",
      "\r\n", " \n", "\u0301", "\xFF", "aA", "A\xCC\x81", " a", "\u4E00", "\u3000", "A'"};
  for (const std::string& name : kPatternNames) {
    const auto scanner = make_named_splitter(name);
    for (const std::string& unit : units) {
      std::string text;
      while (text.size() < 1000000) {
        text += unit;
      }
      for (const std::string& tail : {std::string(), std::string("x"), std::string(" x")}) {
        std::vector<Piece> pieces;
        scanner->split(text + tail, pieces);
        REQUIRE(!pieces.empty());
        CHECK(pieces.back().end == text.size() + tail.size());
      }
    }
  }
}

TEST_CASE("scanner: next_ends goes on from any border, however few ends it may write") {
  base::Rng rng(3);
  for (const std::string& name : kPatternNames) {
    const auto scanner = make_named_splitter(name);
    CHECK(scanner->covers_text());
    for (int i = 0; i < 2000; ++i) {
      const std::string text = random_text(rng);
      std::vector<Piece> pieces;
      scanner->split(text, pieces);
      for (size_t first = 0; first <= pieces.size(); ++first) {
        for (const size_t room : {size_t{0}, size_t{1}, size_t{3}, size_t{256}}) {
          std::vector<size_t> ends(room);
          const size_t begin = first == 0 ? 0 : pieces[first - 1].end;
          const size_t count = scanner->next_ends(text, begin, ends);
          REQUIRE(count == std::min(room, pieces.size() - first));
          for (size_t k = 0; k < count; ++k) {
            REQUIRE(ends[k] == pieces[first + k].end);
          }
        }
      }
    }
  }
  const auto regex = make_regex_splitter("a+");
  std::vector<size_t> ends(1);
  CHECK(!regex->covers_text());
  CHECK_THROWS_AS(regex->next_ends("a", 0, ends), std::logic_error);
}

TEST_CASE("scanner: names and aliases") {
  CHECK(splitter_names() == std::vector<std::string_view>{"gpt2", "r50k", "p50k", "cl100k", "o200k",
                                                          "llama3", "qwen2"});
  for (const std::string_view name : splitter_names()) {
    CHECK(make_named_splitter(name)->name() == name);
  }
  CHECK(make_named_splitter("llama3")->pattern() == make_named_splitter("cl100k")->pattern());
  CHECK_THROWS_AS(make_named_splitter("gpt5"), base::UsageError);
  CHECK_THROWS_WITH(make_named_splitter("gpt5"), Catch::Contains("cl100k"));
  const std::string cl100k = make_named_splitter("cl100k")->pattern();
  CHECK(make_regex_splitter(cl100k)->name() == "cl100k");
  CHECK(make_regex_splitter(cl100k, SplitBehavior::kRemoved, true)->name() == "cl100k");
  CHECK(make_regex_splitter(cl100k, SplitBehavior::kRemoved)->name().empty());
  CHECK(make_regex_splitter(cl100k + "|x")->name().empty());
}
