// SPDX-License-Identifier: Apache-2.0
#include "text/regex_classes.h"

#include <array>
#include <string>

namespace netcl::text {

namespace {

struct NamedMask {
  std::string_view short_name;  // normalised: lower case, no separators
  std::string_view long_name;
  CategoryMask mask;
};

constexpr CategoryMask kCasedLetters =
    mask_of(Category::kUppercaseLetter, Category::kTitlecaseLetter);
constexpr CategoryMask kAllCategories = (CategoryMask{1} << kCategoryCount) - 1;

// Short and long names of General_Category values (PropertyValueAliases.txt).
constexpr std::array kCategoryNames = {
    NamedMask{"l", "letter", kLetters},
    NamedMask{"l&", "casedletter", kCasedLetters},
    NamedMask{"lc", "casedletter", kCasedLetters},
    NamedMask{"lu", "uppercaseletter", mask_of(Category::kUppercaseLetter)},
    NamedMask{"ll", "lowercaseletter", mask_of(Category::kLowercaseLetter)},
    NamedMask{"lt", "titlecaseletter", mask_of(Category::kTitlecaseLetter)},
    NamedMask{"lm", "modifierletter", mask_of(Category::kModifierLetter)},
    NamedMask{"lo", "otherletter", mask_of(Category::kOtherLetter)},
    NamedMask{"m", "mark", kMarks},
    NamedMask{"mn", "nonspacingmark", mask_of(Category::kNonspacingMark)},
    NamedMask{"mc", "spacingmark", mask_of(Category::kSpacingMark)},
    NamedMask{"me", "enclosingmark", mask_of(Category::kEnclosingMark)},
    NamedMask{"n", "number", kNumbers},
    NamedMask{"nd", "decimalnumber", mask_of(Category::kDecimalNumber)},
    NamedMask{"nl", "letternumber", mask_of(Category::kLetterNumber)},
    NamedMask{"no", "othernumber", mask_of(Category::kOtherNumber)},
    NamedMask{"p", "punctuation", kPunctuation},
    NamedMask{"pc", "connectorpunctuation", mask_of(Category::kConnectorPunctuation)},
    NamedMask{"pd", "dashpunctuation", mask_of(Category::kDashPunctuation)},
    NamedMask{"ps", "openpunctuation", mask_of(Category::kOpenPunctuation)},
    NamedMask{"pe", "closepunctuation", mask_of(Category::kClosePunctuation)},
    NamedMask{"pi", "initialpunctuation", mask_of(Category::kInitialPunctuation)},
    NamedMask{"pf", "finalpunctuation", mask_of(Category::kFinalPunctuation)},
    NamedMask{"po", "otherpunctuation", mask_of(Category::kOtherPunctuation)},
    NamedMask{"s", "symbol", kSymbols},
    NamedMask{"sm", "mathsymbol", mask_of(Category::kMathSymbol)},
    NamedMask{"sc", "currencysymbol", mask_of(Category::kCurrencySymbol)},
    NamedMask{"sk", "modifiersymbol", mask_of(Category::kModifierSymbol)},
    NamedMask{"so", "othersymbol", mask_of(Category::kOtherSymbol)},
    NamedMask{"z", "separator", kSeparators},
    NamedMask{"zs", "spaceseparator", mask_of(Category::kSpaceSeparator)},
    NamedMask{"zl", "lineseparator", mask_of(Category::kLineSeparator)},
    NamedMask{"zp", "paragraphseparator", mask_of(Category::kParagraphSeparator)},
    NamedMask{"c", "other", kOthers},
    NamedMask{"cc", "control", mask_of(Category::kControl)},
    NamedMask{"cf", "format", mask_of(Category::kFormat)},
    NamedMask{"cn", "unassigned", mask_of(Category::kUnassigned)},
    NamedMask{"co", "privateuse", mask_of(Category::kPrivateUse)},
    NamedMask{"cs", "surrogate", mask_of(Category::kSurrogate)},
    NamedMask{"any", "any", kAllCategories},
    NamedMask{"assigned", "assigned", kAllCategories & ~mask_of(Category::kUnassigned)},
};

std::string normalized(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') {
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    }
  }
  return result;
}

CodePointSet hex_digits() {
  return {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
}

// Alphabetic, Mark, Decimal_Number and Connector_Punctuation. Alphabetic is Letter, Letter_Number
// and Other_Alphabetic; of the latter only these circled and squared letters are not marks.
CodePointSet word(RegexDialect dialect) {
  CodePointSet set = CodePointSet::of_categories(
      kLetters | kMarks | mask_of(Category::kDecimalNumber) | mask_of(Category::kLetterNumber) |
      mask_of(Category::kConnectorPunctuation));
  set.unite({{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}});
  if (dialect == RegexDialect::kFancyRegex) {
    set.unite({{0x200C, 0x200D}});  // Join_Control
  }
  return set;
}

std::optional<CodePointSet> ascii_bracket(std::string_view name) {
  if (name == "alnum") {
    return CodePointSet{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};
  }
  if (name == "alpha") {
    return CodePointSet{{'A', 'Z'}, {'a', 'z'}};
  }
  if (name == "ascii") {
    return CodePointSet{{0, 0x7F}};
  }
  if (name == "blank") {
    return CodePointSet{{'\t', '\t'}, {' ', ' '}};
  }
  if (name == "cntrl") {
    return CodePointSet{{0, 0x1F}, {0x7F, 0x7F}};
  }
  if (name == "digit") {
    return CodePointSet{{'0', '9'}};
  }
  if (name == "graph") {
    return CodePointSet{{'!', '~'}};
  }
  if (name == "lower") {
    return CodePointSet{{'a', 'z'}};
  }
  if (name == "print") {
    return CodePointSet{{' ', '~'}};
  }
  if (name == "punct") {
    return CodePointSet{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}};
  }
  if (name == "space") {
    return CodePointSet{{'\t', '\r'}, {' ', ' '}};
  }
  if (name == "upper") {
    return CodePointSet{{'A', 'Z'}};
  }
  if (name == "word") {
    return CodePointSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  }
  if (name == "xdigit") {
    return hex_digits();
  }
  return std::nullopt;
}

// Definitions of Oniguruma 6.9.9 and later for Unicode encodings.
std::optional<CodePointSet> unicode_bracket(std::string_view name) {
  if (name == "ascii") {
    return CodePointSet{{0, 0x7F}};
  }
  if (name == "blank") {
    CodePointSet set = CodePointSet::of_categories(mask_of(Category::kSpaceSeparator));
    set.unite({{'\t', '\t'}});
    return set;
  }
  if (name == "cntrl") {
    return CodePointSet::of_categories(mask_of(Category::kControl));
  }
  if (name == "digit") {
    return CodePointSet::of_categories(mask_of(Category::kDecimalNumber));
  }
  if (name == "graph" || name == "print") {
    CodePointSet set = CodePointSet::white_space();
    set.unite(CodePointSet::of_categories(mask_of(Category::kControl) |
                                          mask_of(Category::kSurrogate) |
                                          mask_of(Category::kUnassigned)));
    set.complement();
    if (name == "print") {
      set.unite(CodePointSet::of_categories(mask_of(Category::kSpaceSeparator)));
    }
    return set;
  }
  if (name == "punct") {
    return CodePointSet::of_categories(kPunctuation | kSymbols);
  }
  if (name == "space") {
    return CodePointSet::white_space();
  }
  if (name == "word") {
    return word(RegexDialect::kOniguruma);
  }
  if (name == "xdigit") {
    return hex_digits();
  }
  return std::nullopt;
}

}  // namespace

std::optional<CodePointSet> find_property(std::string_view name, RegexDialect dialect) {
  std::string key = normalized(name);
  for (const std::string_view prefix : {"generalcategory=", "gc="}) {
    if (key.starts_with(prefix)) {
      key.erase(0, prefix.size());
    }
  }
  for (const NamedMask& named : kCategoryNames) {
    if (key == named.short_name || key == named.long_name) {
      return CodePointSet::of_categories(named.mask);
    }
  }
  if (key == "han" || key == "hani" || key == "script=han" || key == "script=hani" ||
      key == "sc=han" || key == "sc=hani") {
    return CodePointSet::han();
  }
  if (key == "ascii") {
    return CodePointSet{{0, 0x7F}};
  }
  if (key == "whitespace" || key == "wspace") {
    return CodePointSet::white_space();
  }
  // Oniguruma takes the names of POSIX brackets too, with its Punctuation for punct.
  if (dialect == RegexDialect::kOniguruma && key != "punct") {
    return unicode_bracket(key);
  }
  if (key == "punct") {
    return CodePointSet::of_categories(kPunctuation);
  }
  return std::nullopt;
}

std::optional<CodePointSet> find_posix_bracket(std::string_view name, RegexDialect dialect) {
  return dialect == RegexDialect::kOniguruma ? unicode_bracket(name) : ascii_bracket(name);
}

std::optional<CodePointSet> find_escape_class(char letter, RegexDialect dialect) {
  std::optional<CodePointSet> set;
  switch (letter) {
    case 'd':
    case 'D':
      set = CodePointSet::of_categories(mask_of(Category::kDecimalNumber));
      break;
    case 's':
    case 'S':
      set = CodePointSet::white_space();
      break;
    case 'w':
    case 'W':
      set = word(dialect);
      break;
    case 'h':
    case 'H':
      set = hex_digits();
      break;
    default:
      return std::nullopt;
  }
  if (letter >= 'A' && letter <= 'Z') {
    set->complement();
  }
  return set;
}

}  // namespace netcl::text
