// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_translator.h"

#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "text/code_point_set.h"
#include "text/regex_classes.h"
#include "text/regex_splitter.h"
#include "text/unicode.h"

using namespace netcl;
using namespace netcl::text;

namespace {

using Parts = std::vector<std::string>;

Parts split(const std::string& pattern, const std::string& text,
            SplitBehavior behavior = SplitBehavior::kIsolated, bool invert = false,
            RegexDialect dialect = RegexDialect::kOniguruma) {
  std::vector<Piece> pieces;
  make_pcre2_splitter(pattern, behavior, invert, dialect)->split(text, pieces);
  Parts parts;
  for (const Piece& piece : pieces) {
    parts.push_back(text.substr(piece.begin, piece.end - piece.begin));
  }
  return parts;
}

// The matches alone.
Parts matches(const std::string& pattern, const std::string& text,
              RegexDialect dialect = RegexDialect::kOniguruma) {
  return split(pattern, text, SplitBehavior::kRemoved, true, dialect);
}

std::string refusal(const std::string& pattern, RegexDialect dialect = RegexDialect::kOniguruma) {
  try {
    translate_pattern(pattern, dialect);
  } catch (const base::FormatError& error) {
    return error.what();
  }
  return "accepted";
}

const RegexDialect kFancy = RegexDialect::kFancyRegex;

// Matches of a raw PCRE2 pattern on a text of code points: the oracle for PCRE2's own Unicode data.
class Pcre2Oracle {
 public:
  Pcre2Oracle(const std::string& pattern, uint32_t options) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                          options | PCRE2_UTF, &error, &offset, nullptr);
    REQUIRE(code_ != nullptr);
    pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
    data_ = pcre2_match_data_create_from_pattern(code_, nullptr);
  }
  Pcre2Oracle(const Pcre2Oracle&) = delete;
  Pcre2Oracle& operator=(const Pcre2Oracle&) = delete;
  ~Pcre2Oracle() {
    pcre2_match_data_free(data_);
    pcre2_code_free(code_);
  }

  // The code points of `text` that the pattern, which matches one character, matches.
  std::set<char32_t> members(const std::string& text) const {
    std::set<char32_t> found;
    size_t pos = 0;
    while (pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), pos,
                       PCRE2_NO_UTF_CHECK, data_, nullptr) > 0) {
      const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_);
      found.insert(decode_utf8(text, ends[0]).code_point);
      pos = ends[1];
    }
    return found;
  }

 private:
  pcre2_code* code_ = nullptr;
  pcre2_match_data* data_ = nullptr;
};

}  // namespace

TEST_CASE("pattern translator: table of translations") {
  struct Row {
    const char* source;
    const char* oniguruma;
    const char* fancy;
  };
  const Row rows[] = {
      {"abc", "abc", "abc"},
      {" ?a+", "\\x{20}?a+", "\\x{20}?a+"},
      {"\xC3\xA9\xE4\xB8\x80", "\\x{E9}\\x{4E00}", "\\x{E9}\\x{4E00}"},
      {"[a-c]|[^a-c]", "[a-c]|[\\x{0}-\\x{60}d-\\x{D7FF}\\x{E000}-\\x{10FFFF}]",
       "[a-c]|[\\x{0}-\\x{60}d-\\x{D7FF}\\x{E000}-\\x{10FFFF}]"},
      {"[cab]", "[a-c]", "[a-c]"},
      {"[]a]", "[\\x{5D}a]", "[\\x{5D}a]"},
      {"[a-]", "[\\x{2D}a]", "[\\x{2D}a]"},
      {"[-a]", "[\\x{2D}a]", "[\\x{2D}a]"},
      {"[a&&b]", "(?!)", "(?!)"},
      {"[a-z&&[^aeiou]&&[a-f]]", "[b-df]", "[b-df]"},
      {"[a[bc]d]", "[a-d]", "[a-d]"},
      {"[\\]\\\\\\-]", "[\\x{2D}\\x{5C}\\x{5D}]", "[\\x{2D}\\x{5C}\\x{5D}]"},
      {"[[:xdigit:]]", "[0-9A-Fa-f]", "[0-9A-Fa-f]"},
      {"[\\d&&[:ascii:]]", "[0-9]", "[0-9]"},
      {"\\h", "[0-9A-Fa-f]", "[0-9A-Fa-f]"},
      {"\\t\\n\\r\\x41\\x{1F642}\\u00e9", "\\x{9}\\x{A}\\x{D}A\\x{1F642}\\x{E9}",
       "\\x{9}\\x{A}\\x{D}A\\x{1F642}\\x{E9}"},
      {"\\.\\/\\'", "\\x{2E}\\x{2F}\\x{27}", "\\x{2E}\\x{2F}\\x{27}"},
      {".", "[\\x{0}-\\x{9}\\x{B}-\\x{D7FF}\\x{E000}-\\x{10FFFF}]",
       "[\\x{0}-\\x{9}\\x{B}-\\x{D7FF}\\x{E000}-\\x{10FFFF}]"},
      {"(a)(?:b)(?>c)(?<n>d)", "(?:a)(?:b)(?>c)(?:d)", "(?:a)(?:b)(?>c)(?:d)"},
      {"(?=a)(?!b)(?<=c)(?<!d)", "(?=a)(?!b)(?<=c)(?<!d)", "(?=a)(?!b)(?<=c)(?<!d)"},
      {"a(?#note)b", "ab", "ab"},
      {"a*?b+?c??d*+e++f?+", "a*?b+?c??d*+e++f?+", "a*?b+?c??d*+e++f?+"},
      {"a{2}b{2,}c{,3}d{2,3}?", "a{2}b{2,}c{0,3}d{2,3}?", "a{2}b{2,}c{0,3}d{2,3}?"},
      {"a{1,3}+", "(?:a{1,3})+", "a{1,3}+"},
      {"a{2}+", "(?:a{2})+", "a{2}+"},
      {"a{2}?", "(?:a{2})?", "a{2}?"},
      {"a{}", "a\\x{7B}\\x{7D}", "a\\x{7B}\\x{7D}"},
      {"a{x}", "a\\x{7B}x\\x{7D}", "a\\x{7B}x\\x{7D}"},
      {"(?i:s)", "(?:[Ss\\x{17F}])", "(?:[Ss\\x{17F}])"},
      {"(?i:k)k", "(?:[Kk\\x{212A}])k", "(?:[Kk\\x{212A}])k"},
      {"(?i:'t|'re)", "(?:\\x{27}[Tt]|\\x{27}[Rr][Ee])", "(?:\\x{27}[Tt]|\\x{27}[Rr][Ee])"},
      {"(?i:[a-b])", "(?:[ABab])", "(?:[ABab])"},
      {"(?i:a(?-i:b))", "(?:[Aa](?:b))", "(?:[Aa](?:b))"},
      {"x(?i)a|b", "x(?:[Aa]|[Bb])", "x[Aa]|[Bb]"},
      {"(x(?i)a)a", "(?:x(?:[Aa]))a", "(?:x[Aa])a"},
      {"\\Aa\\z", "\\Aa\\z", "\\Aa\\z"},
      {"$", "(?![^\\n])", "\\z"},
      {"", "", ""},
      {"a|", "a|", "a|"},
  };
  for (const Row& row : rows) {
    INFO(row.source);
    CHECK(translate_pattern(row.source) == row.oniguruma);
    CHECK(translate_pattern(row.source, kFancy) == row.fancy);
  }
}

TEST_CASE("pattern translator: table of refusals with their offsets") {
  struct Row {
    const char* source;
    const char* place;
    const char* what;
  };
  const Row rows[] = {
      {"ab(c", "pattern@2", "unterminated group"},
      {"ab)c", "pattern@2", "unmatched ')'"},
      {"a[bc", "pattern@1", "unterminated character class"},
      {"a[", "pattern@1", "unterminated character class"},
      {"[]", "pattern@0", "unterminated character class"},
      {"a[z-a]", "pattern@2", "wrong order"},
      {"[a-\\d]", "pattern@3", "end a range"},
      {"a[b-", "pattern@2", "unterminated range"},
      {"*a", "pattern@0", "nothing to repeat"},
      {"a|+", "pattern@2", "nothing to repeat"},
      {"(?:{2})", "pattern@3", "nothing to repeat"},
      {"^*", "pattern@1", "cannot be repeated"},
      {"(?=a)+", "pattern@5", "cannot be repeated"},
      {"a{3,2}", "pattern@1", "repeat count"},
      {"a{70000}", "pattern@2", "repeat count above 65535"},
      {"ab\\", "pattern@2", "ends in a backslash"},
      {"a\\1", "pattern@1", "\\1"},
      {"a\\k<n>", "pattern@1", "\\k"},
      {"a\\K", "pattern@1", "\\K"},
      {"\\G", "pattern@0", "\\G"},
      {"\\X", "pattern@0", "\\X"},
      {"x\\p{Greek}", "pattern@1", "'Greek'"},
      {"x\\p{Alphabetic}", "pattern@1", "'Alphabetic'"},
      {"\\p{L", "pattern@0", "unterminated property"},
      {"\\x{110000}", "pattern@0", "scalar value"},
      {"\\x{D800}", "pattern@0", "scalar value"},
      {"\\x4", "pattern@0", "hexadecimal"},
      {"\\u12", "pattern@0", "hexadecimal"},
      {"(?~a)", "pattern@0", "group"},
      {"(?(1)a)", "pattern@0", "group"},
      {"(*FAIL)", "pattern@0", "callouts"},
      {"a(?x) b", "pattern@3", "option 'x'"},
      {"(?<>a)", "pattern@0", "group name"},
      {"(?<1>a)", "pattern@3", "group name"},
      {"(?#a", "pattern@0", "comment"},
      {"(?", "pattern@0", "group"},
      {"ab\xFF", "pattern@2", "not valid UTF-8"},
      {"[[:none:]]", "pattern@1", "'none'"},
  };
  for (const Row& row : rows) {
    for (const RegexDialect dialect : {RegexDialect::kOniguruma, kFancy}) {
      INFO(row.source);
      CHECK_THAT(refusal(row.source, dialect),
                 Catch::StartsWith(std::string(row.place) + ": ") && Catch::Contains(row.what));
    }
  }
  CHECK_THAT(refusal("\\pL"), Catch::Contains("braces"));
  CHECK(refusal("\\pL", kFancy) == "accepted");
  CHECK_THAT(refusal("[[:alpha:]]"), Catch::StartsWith("pattern@1"));
  CHECK(refusal("[[:alpha:]]", kFancy) == "accepted");
  CHECK_THAT(refusal("\\xE3\\x81"), Catch::Contains("raw byte"));
  CHECK_THAT(refusal("a**", kFancy), Catch::StartsWith("pattern@2"));
  CHECK_THAT(refusal("[a--b]", kFancy), Catch::Contains("class operators"));
  CHECK_THAT(refusal("[\\w-x]", kFancy), Catch::Contains("begin a range"));
  CHECK_THAT(refusal("(?s)a"), Catch::StartsWith("pattern@2: option 's'"));
  CHECK_THAT(refusal("(?<=a+)b"), Catch::Equals("accepted"));
  CHECK_THROWS_WITH(make_pcre2_splitter("(?<=a+)b"), Catch::Contains("lookbehind"));
}

TEST_CASE("pattern translator: deep nesting is refused") {
  CHECK_THAT(refusal(std::string(100000, '(')), Catch::Contains("nested more than"));
  CHECK_THAT(refusal(std::string(100000, '[')), Catch::Contains("nested more than"));
  std::string options;
  for (int i = 0; i < 100000; ++i) {
    options += "(?i)";
  }
  CHECK_THAT(refusal(options), Catch::Contains("nested more than"));
  CHECK(translate_pattern(options, kFancy).empty());
  CHECK(refusal(std::string(150, '(') + std::string(150, ')')) == "accepted");
}

TEST_CASE("pattern translator: random patterns are translated or refused") {
  const std::vector<std::string> parts = {
      "a",    "[",   "]",  "(",       ")", "?",         "*",        "+",    "{", "}",
      "1",    ",",   "|",  "\\",      "p", "{L}",       "^",        "$",    "-", "&&",
      "(?i)", "(?:", "[^", "\\p{Lu}", ":", "[:digit:]", "\xC3\xA9", "\xFF", "s", "x41"};
  base::Rng rng(7);
  int accepted = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string pattern;
    for (uint64_t k = rng.below(9); k > 0; --k) {
      pattern += parts[rng.below(parts.size())];
    }
    for (const RegexDialect dialect : {RegexDialect::kOniguruma, kFancy}) {
      const std::string result = refusal(pattern, dialect);
      if (result == "accepted") {
        // What the translator writes is always a pattern for PCRE2.
        std::vector<Piece> pieces;
        make_pcre2_splitter(pattern, SplitBehavior::kIsolated, false, dialect)
            ->split("a1 \xC3\xA9]s", pieces);
        ++accepted;
      } else if (!result.starts_with("pattern@")) {
        FAIL(base::quote(pattern, 200) << " gives " << result);
      }
    }
  }
  CHECK(accepted > 1000);
}

TEST_CASE("pattern translator: the meaning follows the dialect") {
  // X{1,3}+ groups in Oniguruma and is possessive in fancy-regex.
  CHECK(split("\\p{N}{1,3}+", "1234567") == Parts{"1234567"});
  CHECK(matches("\\p{N}{1,3}+", "1234567", kFancy) == Parts{"123", "456", "7"});
  // Lines or text.
  CHECK(matches("^a", "a\na\n") == Parts{"a", "a"});
  CHECK(matches("^a", "a\na\n", kFancy) == Parts{"a"});
  CHECK(matches("(?m)^a", "a\na\n", kFancy) == Parts{"a", "a"});
  CHECK(matches("a$", "a\na") == Parts{"a", "a"});
  CHECK(matches("a$", "a\na", kFancy) == Parts{"a"});
  CHECK(matches("a\\Z", "aa\n") == Parts{"a"});
  CHECK(matches("a\\z", "aa\n").empty());
  CHECK(matches("(?m:a.)", "a\n") == Parts{"a\n"});
  CHECK(matches("(?m:a.)", "a\n", kFancy).empty());
  CHECK(matches("(?s:a.)", "a\n", kFancy) == Parts{"a\n"});
  // POSIX brackets: Unicode or ASCII.
  CHECK(matches("[[:digit:]]", "1\xD9\xA3") == Parts{"1", "\xD9\xA3"});
  CHECK(matches("[[:digit:]]", "1\xD9\xA3", kFancy) == Parts{"1"});
  CHECK(matches("[[:^digit:]]", "1a") == Parts{"a"});
  CHECK(matches("[[:punct:]]", "a$.") == Parts{"$", "."});
  // A property under (?i): folded by the regex crate, not by Oniguruma outside brackets.
  CHECK(matches("(?i:\\p{Lu})", "aB") == Parts{"B"});
  CHECK(matches("(?i:[\\p{Lu}])", "aB") == Parts{"a", "B"});
  CHECK(matches("(?i:\\p{Lu})", "aB", kFancy) == Parts{"a", "B"});
  CHECK(matches("(?i:[^b])", "aBb") == Parts{"a"});
  // Word boundaries and classes know all scripts.
  CHECK(matches("\\b\\w+\\b", "caf\xC3\xA9 \xE2\x85\xA7 x") ==
        Parts{"caf\xC3\xA9", "\xE2\x85\xA7", "x"});
  CHECK(matches("\\w\\B", "ab c") == Parts{"a"});
  CHECK(matches("\\R", "a\r\nb\xE2\x80\xA8") == Parts{"\r\n", "\xE2\x80\xA8"});
  CHECK(matches("\\N\\O", "a\n") == Parts{"a\n"});
  // U+180E and U+200B are not spaces, U+0085 is.
  CHECK(matches("\\s", "\xE1\xA0\x8E\xE2\x80\x8B\xC2\x85") == Parts{"\xC2\x85"});
  CHECK(matches("\\p{^L}", "a1") == Parts{"1"});
  CHECK(matches("\\P{^L}", "a1") == Parts{"a"});
  CHECK(matches("\\p{Script=Han}+", "a\xE4\xB8\x80\xE4\xB8\x81") ==
        Parts{"\xE4\xB8\x80\xE4\xB8\x81"});
  CHECK(matches("\\p{Uppercase_Letter}\\p{ lowercase letter }", "aBc") == Parts{"Bc"});
}

TEST_CASE("pattern translator: case folding is that of PCRE2 for every character with case") {
  // The text holds every character that could have case.
  std::string text;
  std::vector<char32_t> candidates;
  for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
    const CategoryMask cased = mask_of(Category::kUppercaseLetter, Category::kTitlecaseLetter) |
                               mask_of(Category::kLetterNumber) | kSymbols | kMarks;
    if (in_categories(c, cased)) {
      append_utf8(c, text);
      candidates.push_back(c);
    }
  }
  REQUIRE(candidates.size() > 2500);
  for (const char32_t c : candidates) {
    CodePointSet ours = {{c, c}};
    ours.close_over_case();
    if (ours.count() == 1 && in_categories(c, kSymbols | kMarks) && c % 16 != 0) {
      continue;  // a sample of the characters without case
    }
    std::string literal = "\\x{";
    char hex[16];
    std::snprintf(hex, sizeof hex, "%X}", static_cast<unsigned>(c));
    literal += hex;
    const std::set<char32_t> theirs = Pcre2Oracle(literal, PCRE2_CASELESS).members(text);
    std::set<char32_t> mine;
    for (const char32_t other : candidates) {
      if (ours.contains(other)) {
        mine.insert(other);
      }
    }
    if (mine != theirs) {
      FAIL_CHECK("U+" << std::hex << static_cast<unsigned>(c) << " folds to " << mine.size()
                      << " characters here and " << theirs.size() << " in PCRE2");
    }
  }
}

TEST_CASE("pattern translator: the word class is Alphabetic and more") {
  // PCRE2 10.40 and later know Alphabetic; they may know fewer characters than our tables.
  uint32_t version_size =
      static_cast<uint32_t>(pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, nullptr));
  REQUIRE(version_size > 0);
  std::string text;
  for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (c < 0xD800 || c > 0xDFFF) {
      append_utf8(c, text);
    }
  }
  const std::set<char32_t> known = Pcre2Oracle("\\P{Cn}", 0).members(text);
  const std::set<char32_t> word =
      Pcre2Oracle("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]", 0).members(text);
  const CodePointSet ours = *find_escape_class('w', RegexDialect::kOniguruma);
  for (const char32_t c : known) {
    if (ours.contains(c) != word.contains(c)) {
      FAIL_CHECK("U+" << std::hex << static_cast<unsigned>(c));
    }
  }
  CodePointSet fancy = *find_escape_class('w', kFancy);
  CHECK(fancy.count() == ours.count() + 2);
}

TEST_CASE("regex splitter: behaviours and invert as Hugging Face defines them") {
  const std::string text = "The-final--countdown";
  const std::string dash = "-";
  CHECK(split(dash, text, SplitBehavior::kRemoved) == Parts{"The", "final", "countdown"});
  CHECK(split(dash, text, SplitBehavior::kIsolated) ==
        Parts{"The", "-", "final", "-", "-", "countdown"});
  CHECK(split(dash, text, SplitBehavior::kMergedWithPrevious) ==
        Parts{"The-", "final-", "-", "countdown"});
  CHECK(split(dash, text, SplitBehavior::kMergedWithNext) ==
        Parts{"The", "-final", "-", "-countdown"});
  CHECK(split(dash, text, SplitBehavior::kContiguous) ==
        Parts{"The", "-", "final", "--", "countdown"});
  CHECK(split(dash, text, SplitBehavior::kRemoved, true) == Parts{"-", "-", "-"});
  CHECK(split(dash, text, SplitBehavior::kIsolated, true) ==
        Parts{"The", "-", "final", "-", "-", "countdown"});
  CHECK(split(dash, text, SplitBehavior::kMergedWithPrevious, true) ==
        Parts{"The", "-final", "-", "-countdown"});
  CHECK(split(dash, text, SplitBehavior::kMergedWithNext, true) ==
        Parts{"The-", "final-", "-", "countdown"});
  CHECK(split(dash, text, SplitBehavior::kContiguous, true) ==
        Parts{"The", "-", "final", "--", "countdown"});
  CHECK(split(dash, "-a-", SplitBehavior::kMergedWithPrevious) == Parts{"-", "a-"});
  CHECK(split(dash, "-a-", SplitBehavior::kMergedWithNext) == Parts{"-a", "-"});
  CHECK(split(dash, "", SplitBehavior::kIsolated).empty());
}

TEST_CASE("regex splitter: empty matches make progress") {
  CHECK(split("", "abc") == Parts{"a", "b", "c"});
  CHECK(split("x*", "axxb") == Parts{"a", "xx", "b"});
  CHECK(split("(?=b)", "abab") == Parts{"a", "ba", "b"});
  CHECK(split("\\b", "ab \xC3\xA9") == Parts{"ab", " ", "\xC3\xA9"});
  CHECK(split("", "\xFF\xC3\xA9\xFE") == Parts{"\xFF", "\xC3\xA9", "\xFE"});
  CHECK(split("a|", "ba", SplitBehavior::kRemoved) == Parts{"b"});
}

TEST_CASE("regex splitter: ill-formed bytes are one character each") {
  const std::string text = "a\xFF\xFE b\xC3 \xE2\x82z\xED\xA0\x80";
  CHECK(split("\\s", text) == Parts{"a\xFF\xFE", " ", "b\xC3", " ", "\xE2\x82z\xED\xA0\x80"});
  CHECK(matches(".", "\xE2\x82z") == Parts{"\xE2", "\x82", "z"});
  CHECK(matches("\\x{FFFD}+", "a\xFF\xFF\xEF\xBF\xBD") == Parts{"\xFF\xFF\xEF\xBF\xBD"});
  CHECK(matches("[\\p{L}\\p{N}\\p{M}\\s]", "\xFF").empty());
  // The pieces always cover the text.
  base::Rng rng(3);
  const auto splitter = make_pcre2_splitter("\\p{L}+| ?[^\\s\\p{L}]+");
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (uint64_t k = rng.below(40); k > 0; --k) {
      bytes += static_cast<char>(rng.below(4) == 0 ? 'a' : rng.below(256));
    }
    std::vector<Piece> pieces;
    splitter->split(bytes, pieces);
    size_t next = 0;
    for (const Piece& piece : pieces) {
      REQUIRE(piece.begin == next);
      REQUIRE(piece.end > piece.begin);
      next = piece.end;
    }
    REQUIRE(next == bytes.size());
  }
}

TEST_CASE("regex splitter: escaped literals match themselves alone") {
  const std::string literal = "a.*+?()[]{}|^$\\-&&#~ \xC3\xA9/";
  for (const RegexDialect dialect : {RegexDialect::kOniguruma, kFancy}) {
    CHECK(matches(escape_pattern(literal), "x" + literal + "y", dialect) == Parts{literal});
  }
}

TEST_CASE("regex splitter: a million repeats take a bounded time") {
  const std::vector<std::string> patterns = {
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lo}\\p{M}]+(?i:'s)?"
      "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lo}\\p{M}]*|.|\\s",
      "\\p{N}{1,3}+|(?:a|\\s)+|(?:[^a]{1,2})+"};
  const std::vector<std::string> units = {"a", "A", "7", " ", "\n", "^", "'", "\xCC\x81", "\xFF"};
  for (const std::string& pattern : patterns) {
    const auto splitter = make_pcre2_splitter(pattern);
    for (const std::string& unit : units) {
      std::string text;
      while (text.size() < 1000000) {
        text += unit;
      }
      std::vector<Piece> pieces;
      splitter->split(text, pieces);
      REQUIRE(!pieces.empty());
      CHECK(pieces.back().end == text.size());
    }
  }
}

TEST_CASE("regex splitter: an exponential pattern ends in a format error with the offset") {
  const auto splitter = make_pcre2_splitter("(?:a+a*)+[bd]");
  std::vector<Piece> pieces;
  CHECK_THROWS_AS(splitter->split(std::string(100, 'a') + "c", pieces), base::FormatError);
  CHECK_THROWS_WITH(splitter->split("ad\xFF" + std::string(100, 'a') + "c", pieces),
                    Catch::StartsWith("text@2: "));
  // The splitter still works afterwards.
  pieces.clear();
  splitter->split("aabc", pieces);
  CHECK(pieces == std::vector<Piece>{{0, 3}, {3, 4}});
}

TEST_CASE("regex splitter: one splitter serves several threads") {
  const auto splitter = make_pcre2_splitter("\\p{L}+|\\s+");
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text += "word ";
  }
  std::vector<Piece> expected;
  splitter->split(text, expected);
  std::vector<std::vector<Piece>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] { splitter->split(text, result); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& result : results) {
    CHECK(result == expected);
  }
}

TEST_CASE("regex splitter: matches far apart and at the end are found in calls of bounded length") {
  // Two bytes a character: calls begin between them.
  std::string gap;
  for (int i = 0; i < 3001; ++i) {
    gap += "\xC3\xA9";
  }
  CHECK(matches("b", "x" + gap + "b" + gap + "b") == Parts{"b", "b"});
  CHECK(matches("(?<=\xC3\xA9)b$", gap + "b" + gap + "b") == Parts{"b"});
  CHECK(matches("x*", gap).empty());  // empty matches are no pieces
  CHECK(matches("^\xC3\xA9|\xC3\xA9$", gap) == Parts{"\xC3\xA9", "\xC3\xA9"});
  CHECK(split("c", gap) == Parts{gap});
  for (const size_t size : {1022, 1023, 1024, 1025, 1026, 2048, 2049}) {
    CAPTURE(size);
    const std::string run(size, 'a');
    CHECK(matches("b", run + "b") == Parts{"b"});
    CHECK(matches("a(?=b)", run + "b") == Parts{"a"});
    CHECK(split("b?$", run) == Parts{run});
  }
}

TEST_CASE("regex splitter: a search whose time grows with the square of the text ends") {
  // Without a limit each takes minutes.
  const std::string run(300000, 'a');
  for (const char* pattern : {"a*b|a", "a*?b|a"}) {
    CAPTURE(pattern);
    const auto splitter = make_pcre2_splitter(pattern);
    std::vector<Piece> pieces;
    CHECK_THROWS_WITH(splitter->split(run, pieces),
                      Catch::Contains("takes longer than 6 s") && Catch::Contains("simpler"));
  }
}
