// SPDX-License-Identifier: Apache-2.0
// Texts on which split patterns go wrong.
#ifndef NETCL_TESTS_TEXT_HOSTILE_TEXT_H_
#define NETCL_TESTS_TEXT_HOSTILE_TEXT_H_

#include <string>
#include <vector>

namespace netcl {

// All contexts of one character in one text. The full stops and newlines between them keep one
// context from reaching into the next.
inline std::string contexts_of(const std::string& c) {
  return "a" + c + "b.\nA" + c + "B.\n " + c + "." + c + c + "1\n'" + c + ".\n'" + c + "e.\n'r" +
         c + "." + c + "'s\n  " + c + "\n" + c + "A.\t" + c + "\n " + c + "a" + c;
}

// Letters of each category, digits of several scripts, marks, apostrophes, every kind of space,
// controls, characters around the classes' borders, and ill-formed bytes.
// clang-format off
inline const std::vector<std::string> kSymbolsOfText = {
    "a", "s", "t", "re", "ve", "m", "ll", "d", "l", "e", "r", "v", "x", "A", "S", "T", "RE", "vE",
    "M", "LL", "D", "L", "'", "'", "'s", "'LL", "'Re", "\u017F", "'\u017F", "\u212A", "\u00DF",
    "\u00E9", "\u00C9", "\u01C5", "\u02B0", "\u00AA", "\u4E00", "\u3042", "\u0301", "\u0903",
    "\u20DD", "0", "1", "23", "456", "\u00BD", "\u2167", "\u0663", " ", " ", "  ", "\t", "\n",
    "\n\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u00A0", "\u1680", "\u2003", "\u2028", "\u2029",
    "\u202F", "\u3000", "\u180E", "\u200B", "\uFEFF", std::string(1, '\0'), "\x1C", "\x1F", ".",
    ",", "!", "/", "//", "-", "_", "$", "^", "\u2019", "\u20AC", "\U0001F642", "\U0001D400",
    "\U000105C0", "\U00010940", "\U000E0001", "\uE000", "\xFF", "\x80", "\xC3", "\xE2\x82",
    "\xF0\x9F\x99", "\xED\xA0\x80", "\xC0\xAF", "\xF4\x90\x80\x80",
};
// clang-format on

}  // namespace netcl

#endif  // NETCL_TESTS_TEXT_HOSTILE_TEXT_H_
