// SPDX-License-Identifier: Apache-2.0
// The texts of tokenizer_compare.h.
#include "text/tokenizer_compare.h"

namespace netcl::text {

namespace {

// Greetings and short sentences, a script a line.
constexpr std::string_view kScripts =
    "Hello world! It's 10 o'clock, don't you think? I'LL SAY WE'VE TIME'S UP.\n"
    "na\u00EFve fa\u00E7ade \u00C6sir \u00D8l stra\u00DFe \u0130stanbul \u017Fecret 'S '\u017F "
    "'Ll\n"
    "\u0391\u03B2\u03B3\u03AC \u03BA\u03CC\u03C3\u03BC\u03B5 "
    "\u03A3\u03AF\u03C3\u03C5\u03C6\u03BF\u03C2\n"
    "\u041F\u0440\u0438\u0432\u0435\u0442, \u043C\u0438\u0440! \u0419\u043E\u0436\u0438\u043A "
    "\u0401\u043B\u043A\u0430\n"
    "\u0532\u0561\u0580\u0587 \u0561\u0577\u056D\u0561\u0580\u0570 "
    "\u10D2\u10D0\u10DB\u10D0\u10E0\u10EF\u10DD\u10D1\u10D0\n"
    "\u05E9\u05DC\u05D5\u05DD \u05E2\u05D5\u05DC\u05DD \u05E9\u05C1\u05B8\u05DC\u05D5\u05B9\u05DD\n"
    "\u0645\u0631\u062D\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060C "
    "\u0633\u064E\u0644\u0627\u0645 \u0661\u0662\u0663\u0664 \u06F1\u06F2\n"
    "\u0928\u092E\u0938\u094D\u0924\u0947 \u0926\u0941\u0928\u093F\u092F\u093E "
    "\u0967\u0968\u0969\u0964\n"
    "\u09A8\u09AE\u09B8\u09CD\u0995\u09BE\u09B0 \u0A38\u0A24\u0A3F "
    "\u0AA8\u0AAE\u0AB8\u0ACD\u0AA4\u0AC7\n"
    "\u0BB5\u0BA3\u0B95\u0BCD\u0B95\u0BAE\u0BCD \u0C28\u0C2E\u0C38\u0C4D\u0C15\u0C3E\u0C30\u0C02 "
    "\u0CA8\u0CAE\u0CB8\u0CCD\u0C95\u0CBE\u0CB0\n"
    "\u0D28\u0D2E\u0D38\u0D4D\u0D15\u0D3E\u0D30\u0D02 "
    "\u0D86\u0DBA\u0DD4\u0DB6\u0DDD\u0DC0\u0DB1\u0DCA\n"
    "\u0E2A\u0E27\u0E31\u0E2A\u0E14\u0E35\u0E0A\u0E32\u0E27\u0E42\u0E25\u0E01 "
    "\u0EAA\u0EB0\u0E9A\u0EB2\u0E8D\u0E94\u0EB5\n"
    "\u1019\u1004\u103A\u1039\u1002\u101C\u102C\u1015\u102B "
    "\u1787\u17C6\u179A\u17B6\u1794\u179F\u17BD\u179A\n"
    "\u0F56\u0F40\u0FB2\u0F0B\u0F64\u0F72\u0F66\u0F0B \u12A5\u1295\u12F0\u121D\u1295 "
    "\u13A3\u13CF\u13F2\n"
    "\u4F60\u597D\uFF0C\u4E16\u754C\uFF01\u6771\u4EAC\u90FD\u306B\u4F4F\u3093\u3067\u3044\u307E"
    "\u3059\u3002\u30AB\u30BF\u30AB\u30CA\u30FC \uFF76\uFF85\n"
    "\uC548\uB155\uD558\uC138\uC694 \uC138\uACC4 \u1112\u1161\u11AB\u1100\u1173\u11AF\n"
    "\u1820\u1821\u1822 \u2D30\u2D31\u2D33 \uA000\uA001 \U00010330\U00010331 \U00012000 "
    "\U0001D400\U0001D7CE\n"
    "Vi\u1EC7t Nam \u01C5 \u02B0 \u2160\u2161 \u00B2\u00B3 \u00BD \u2460 \uFF11\uFF12\uFF13 "
    "\U00020000\U0002A6DF\n";

constexpr std::string_view kCode =
    "#include <cstdio>\n\nint main(int argc, char** argv) {\n\tfor (auto i = 0; i < 1'000; ++i) "
    "{\r\n"
    "        std::printf(\"%d\\n\", a[i] >> 2);  // done\n    }\n\treturn 0x7fff'ffff;\n}\n"
    "def f(x):\n    return {'key': [1, 2.5e-3, None], **kw} if x != \"\" else lambda: ...\n"
    "<a href=\"https://example.org/p?q=1&r=%20#top\">link</a> /usr/lib/x86_64/ C:\\dir\\file.txt\n"
    "SELECT * FROM t WHERE id=12345678901234567890 AND name LIKE '%abc%';--\n\n\n"
    "snake_case camelCase PascalCase SCREAMING_CASE kebab-case HTTPServer iPhone12Pro x2y3z\n"
    "a+b=c; x^2 ~y !z @user #tag $5.00 50% & | \\ / ?! ... --- === *** ___ ``` [[]] {{}} (()) "
    "<<>>\n";

constexpr std::string_view kBlanks =
    " a  b   c    d\t\te \t f\n g\n\n h \n \n i\r\nj\r\n\r\nk\r \rl "
    "\u00A0m\u00A0\u00A0n\u2003o\u2028p"
    "\u3000q\u1680r\u200Bs\uFEFFt\u0085u\x0B\x0Cv\x1Cw          x                                "
    "                                                        y\n\n\n\n\n\n\n\nz\t\t\t\t\t\t\t\t ";

constexpr std::string_view kDigits =
    "1 12 123 1234 12345 123456 1234567 3.14159 1,000,000 -7 +8 1e10 0x1F 2024-02-29T23:59:60Z "
    "a1b22c333d4444 \u0661\u0662\u0663\u0664\u0665 \u0967\u0968\u0969 \u00BC\u00BD \u2077 "
    "\U0001D7D8\U0001D7D9\U0001D7DA\U0001D7DB 192.168.0.1 +49(0)30/123-45";

constexpr std::string_view kEmojiAndMarks =
    "\U0001F600\U0001F601 \U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 "
    "\U0001F1E9\U0001F1EA \u2764\uFE0F \U0001F44D\U0001F3FD 1\uFE0F\u20E3 \u263A "
    "\u20AC\u00A3\u00A5 "
    "e\u0301 \u00E9 A\u030A \u212B \u1E9B\u0323 q\u0307\u0323 q\u0323\u0307 \uFB01 \u2126 \u00C5 "
    "\u0958 \u0915\u093C \uAC00 \u1100\u1161 \u0344 a\u0315\u0300\u05AE\u0062 \u2260 =\u0338 "
    "\u00A8 \u3392 \u2FA1 \uF900 \u0387 \u1FEF \u2000 \u0340\u0341 \u0F73 \u0F75\u0F80";

// Every byte, unfinished characters, surrogates, overlong forms, bytes past U+10FFFF.
constexpr std::string_view kNoUtf8 =
    "a\xFF"
    "b \xC3( \xE2\x82 \xF0\x9F\x98 \xED\xA0\x80 \xC0\xAF \xF4\x90\x80\x80 \xF8\x88 \x80\x81 "
    "caf\xE9 \xFE\xFF\n\xFF\xFF\xFF\xE4\xBD word\xE4 word";

std::string all_bytes() {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {
    text += static_cast<char>(byte);
  }
  return text;
}

// Long runs of one character or word, where merges overlap.
std::string runs() {
  std::string text;
  for (const std::string_view unit :
       {"a", "ab", "A",  " ",  "\n",     "\r\n",   "\t",     "0",          "-",    "=",     "_",
        "!", "^",  " a", "ha", "\u4E00", "\u3042", "\u00E9", "\U0001F600", "the ", "\u0301"}) {
    for (int i = 0; i < 67; ++i) {
      text += unit;
    }
    text += "x";
  }
  return text;
}

}  // namespace

const std::vector<NamedText>& comparison_texts() {
  static const std::string bytes = all_bytes();
  static const std::string long_runs = runs();
  static const std::vector<NamedText> texts = {
      {"empty text", ""},
      {"sample of scripts", kScripts},
      {"sample of code", kCode},
      {"sample of white space", kBlanks},
      {"sample of digits", kDigits},
      {"sample of emoji and marks", kEmojiAndMarks},
      {"sample of bytes that are no UTF-8", kNoUtf8},
      {"sample of all bytes", bytes},
      {"sample of runs", long_runs},
  };
  return texts;
}

}  // namespace netcl::text
