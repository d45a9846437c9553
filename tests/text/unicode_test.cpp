// SPDX-License-Identifier: Apache-2.0
#include "text/unicode.h"

#include <string>
#include <vector>

#include "base/file.h"
#include "base/json_file.h"
#include "support/catch.h"
#include "support/skip.h"
#include "text/code_point_set.h"
#include "text/regex_classes.h"

using namespace netcl;
using namespace netcl::text;

namespace {

bool is_scalar_value(char32_t c) {
  return c <= kMaxCodePoint && (c < 0xD800 || c > 0xDFFF);
}

// Table 3-7 of the Unicode standard, row by row: the oracle of the decoder.
size_t well_formed_length(const std::string& s, size_t i) {
  struct Row {
    int lead_first, lead_last, second_first, second_last, length;
  };
  const Row rows[] = {
      {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
      {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
      {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
  const auto byte = [&](size_t k) {
    return k < s.size() ? static_cast<int>(static_cast<unsigned char>(s[k])) : -1;
  };
  for (const Row& row : rows) {
    if (byte(i) < row.lead_first || byte(i) > row.lead_last) {
      continue;
    }
    for (int k = 1; k < row.length; ++k) {
      const int low = k == 1 ? row.second_first : 0x80;
      const int high = k == 1 ? row.second_last : 0xBF;
      if (byte(i + static_cast<size_t>(k)) < low || byte(i + static_cast<size_t>(k)) > high) {
        return 0;
      }
    }
    return static_cast<size_t>(row.length);
  }
  return 0;
}

}  // namespace

TEST_CASE("unicode: every scalar value encodes and decodes to itself") {
  std::string bytes;
  for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (!is_scalar_value(c)) {
      continue;
    }
    bytes.clear();
    append_utf8(c, bytes);
    const DecodedChar decoded = decode_utf8(bytes, 0);
    const bool same =
        decoded.well_formed && decoded.code_point == c && decoded.byte_count == bytes.size();
    if (!same || !is_valid_utf8(bytes)) {
      FAIL("code point " << static_cast<unsigned>(c));
    }
  }
}

TEST_CASE("unicode: decoding agrees with the table of well-formed sequences") {
  // Every lead byte with every pair of interesting following bytes, cut at every length.
  const std::vector<int> followers = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F,
                                      0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xF4, 0xFF};
  for (int lead = 0; lead < 256; ++lead) {
    for (const int a : followers) {
      for (const int b : followers) {
        for (const int c : {0x7F, 0x80, 0xBF, 0xC0}) {
          std::string s;
          for (const int byte : {lead, a, b, c}) {
            s += static_cast<char>(byte);
          }
          for (size_t length = 1; length <= s.size(); ++length) {
            const std::string cut = s.substr(0, length);
            const size_t expected = well_formed_length(cut, 0);
            const DecodedChar decoded = decode_utf8(cut, 0);
            const bool ok = expected > 0 ? decoded.well_formed && decoded.byte_count == expected
                                         : !decoded.well_formed && decoded.byte_count == 1 &&
                                               decoded.code_point == kReplacementCharacter;
            if (!ok) {
              FAIL("bytes " << lead << ' ' << a << ' ' << b << ' ' << c << " cut to " << length);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("unicode: the first ill-formed byte is found at any place") {
  const std::string good = "abcdefgh\xC3\xA9xyz\xE4\xB8\x80\xF0\x9F\x99\x82 tail of the text";
  REQUIRE(is_valid_utf8(good));
  REQUIRE(is_valid_utf8(""));
  for (size_t i = 0; i <= good.size(); ++i) {
    if (i < good.size() && (static_cast<unsigned char>(good[i]) & 0xC0) == 0x80) {
      continue;  // inside a character
    }
    std::string bad = good;
    bad.insert(i, 1, '\xFF');
    CHECK(find_ill_formed(bad) == i);
    CHECK(find_ill_formed(bad, i + 1) == bad.size());
  }
}

TEST_CASE("unicode: white space is the 25 code points of the property") {
  std::vector<char32_t> spaces;
  for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (is_space(c)) {
      spaces.push_back(c);
    }
  }
  const std::vector<char32_t> expected = {0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,
                                          0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
                                          0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028,
                                          0x2029, 0x202F, 0x205F, 0x3000};
  CHECK(spaces == expected);
}

TEST_CASE("unicode: categories of chosen characters") {
  CHECK(category('A') == Category::kUppercaseLetter);
  CHECK(category('a') == Category::kLowercaseLetter);
  CHECK(category(0x01C5) == Category::kTitlecaseLetter);
  CHECK(category(0x02B0) == Category::kModifierLetter);
  CHECK(category(0x4E00) == Category::kOtherLetter);
  CHECK(category(0x0301) == Category::kNonspacingMark);
  CHECK(category(0x2167) == Category::kLetterNumber);
  CHECK(category(0x00BD) == Category::kOtherNumber);
  CHECK(category(0x0378) == Category::kUnassigned);
  CHECK(category(0x105C0) == Category::kOtherLetter);  // new in Unicode 16.0
  CHECK(category(0x10940) == Category::kUnassigned);   // new in Unicode 17.0
  CHECK(category(kReplacementCharacter) == Category::kOtherSymbol);
  CHECK(category(0xE000) == Category::kPrivateUse);
  CHECK(category(0xD800) == Category::kSurrogate);
  CHECK(category(0x110000) == Category::kUnassigned);
  CHECK(is_han(0x3007));
  CHECK_FALSE(is_han(0x3042));
}

TEST_CASE("unicode: property runs cover all code points once") {
  char32_t next = 0;
  for (const PropertyRun& run : property_runs()) {
    REQUIRE(run.first == next);
    REQUIRE(run.last >= run.first);
    next = run.last + 1;
  }
  CHECK(next == kMaxCodePoint + 1);
}

TEST_CASE("unicode: classes equal those the reference engines see") {
  const std::string shared = tests::shared_dir();
  if (shared.empty()) {
    return tests::skip("no shared test data");
  }
  const std::string path = shared + "/unicode/classes_by_engine.json";
  const base::FileBytes file = base::FileBytes::open(path);
  const base::Json classes = base::parse_json(file.view(), path);
  CodePointSet fold_s = {{'s', 's'}};
  fold_s.close_over_case();
  CodePointSet fold_others = {{'t', 't'}, {'r', 'r'}, {'e', 'e'}, {'v', 'v'},
                              {'m', 'm'}, {'l', 'l'}, {'d', 'd'}};
  fold_others.close_over_case();
  int compared = 0;
  for (const auto& [name, by_engine] : classes.items()) {
    CodePointSet ours;
    if (name == "\\s") {
      ours = CodePointSet::white_space();
    } else if (name == "(?i:s)") {
      ours = fold_s;
    } else if (name == "(?i:t|r|e|v|m|l|d)") {
      ours = fold_others;
    } else {
      INFO(name);
      REQUIRE(name.starts_with("\\p{"));
      const auto set = find_property(name.substr(3, name.size() - 4), RegexDialect::kOniguruma);
      REQUIRE(set.has_value());
      ours = *set;
    }
    // Surrogates are not characters of any text, so engines differ in naming them.
    CodePointSet scalar_values = {{0, 0xD7FF}, {0xE000, kMaxCodePoint}};
    ours.intersect(scalar_values);
    for (const char* engine : {"tiktoken_wasm", "hf_native"}) {
      CodePointSet theirs;
      for (const auto& range : by_engine.at(engine)) {
        theirs.unite({{range.at(0).get<char32_t>(), range.at(1).get<char32_t>()}});
      }
      INFO(name << " as seen by " << engine);
      CHECK(ours.ranges() == theirs.ranges());
      ++compared;
    }
  }
  CHECK(compared == 30);
}

TEST_CASE("code point set: operations agree with membership") {
  const CodePointSet a = {{5, 9}, {20, 20}, {10, 12}, {30, 40}};
  CHECK(a.ranges() == std::vector<CodePointSet::Range>{{5, 12}, {20, 20}, {30, 40}});
  const CodePointSet b = {{0, 6}, {12, 33}, {kMaxCodePoint, kMaxCodePoint}};
  CodePointSet both = a;
  both.intersect(b);
  CodePointSet either = a;
  either.unite(b);
  CodePointSet neither = either;
  neither.complement();
  for (const char32_t c : {0u, 4u, 5u, 6u, 7u, 12u, 13u, 20u, 29u, 30u, 33u, 34u, 41u, 0x10FFFFu}) {
    INFO(static_cast<unsigned>(c));
    CHECK(both.contains(c) == (a.contains(c) && b.contains(c)));
    CHECK(either.contains(c) == (a.contains(c) || b.contains(c)));
    CHECK(neither.contains(c) == !either.contains(c));
  }
  CodePointSet all = CodePointSet::all();
  all.complement();
  CHECK(all.empty());
  CHECK(CodePointSet::all().count() == 0x110000);
}
