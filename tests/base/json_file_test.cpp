// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"

#include <chrono>
#include <string>

#include "base/error.h"
#include "support/catch.h"

using netcl::base::FormatError;
using netcl::base::parse_json;

TEST_CASE("json: what is not JSON is refused with the byte") {
  const auto refused = [](std::string_view text) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_json(text, "f.json"), FormatError);
  };
  refused("");
  refused("{");
  refused("[1,]");
  refused("{\"a\":1} x");
  refused("\xEF\xBB\xBF{}");
  refused("\"\\ud83d!\"");        // lone surrogate
  refused("\"\\uDE42\\uD83D\"");  // surrogates in the wrong order
  refused("\"a\tb\"");            // raw control byte
  refused("\"\xFF\"");            // not UTF-8
  refused("{\"a\":1,\"a\":2}");   // duplicate key
  refused("{\"x\":{\"a\":1,\"a\":2}}");
  refused("nul");
  refused("1e999999");  // out of the range of a double
  refused(std::string(10000, '['));
  refused(std::string(600, '[') + std::string(600, ']'));
  refused(std::string_view("{}\0{}", 5));  // NUL does not end the text
  refused(std::string_view("{\"a\0\":1}", 8));
  CHECK_THROWS_WITH(parse_json("[1, x]", "f.json"), Catch::Matchers::StartsWith("f.json@4: "));
}

TEST_CASE("json: duplicate keys and too deep nesting are refused with the byte") {
  const auto check = [](const std::string& text, size_t byte, const std::string& what) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_json(text, "f"), "f@" + std::to_string(byte) + ": " + what);
  };
  check(R"({"a":1,"a":2})", 7, "duplicate JSON key 'a'");
  // The second one is meant, whatever strings lie before it and however it is written.
  check(R"({"\"a\":":["a","\\",{"a":"a"}], "a" :{}, "\u0061":0, "\"a\":":0})", 41,
        "duplicate JSON key 'a'");
  check(R"([{"a":"b"},{"b":"a","c":{"b":1,"d":"b","b":2}}])", 39, "duplicate JSON key 'b'");
  check(R"({"a":1,"a" 2})", 7, "duplicate JSON key 'a'");
  const std::string deep = std::string(512, '[') + std::string(512, ']');
  CHECK_NOTHROW(parse_json(deep, "f"));
  check("[" + deep + "]", 512, "JSON nested deeper than 512 levels");
  check(R"([" [[[ ",)" + deep + "]", 520, "JSON nested deeper than 512 levels");
  check("[[],{}," + deep + "]", 518, "JSON nested deeper than 512 levels");
  check(std::string(100'000, '['), 512, "JSON nested deeper than 512 levels");
}

TEST_CASE("json: values and key order survive") {
  const auto value = parse_json(R"({"z":1,"a":["\ud83d\ude42","a\u0000b",1.5,null,true]})", "f");
  CHECK(value["a"][0] == "\xF0\x9F\x99\x82");
  CHECK(value["a"][1].get<std::string>() == std::string("a\0b", 3));
  CHECK(netcl::base::to_text(value) ==
        "{\"z\":1,\"a\":[\"\xF0\x9F\x99\x82\",\"a\\u0000b\",1.5,null,true]}");
  // equal keys in different objects are no duplicates
  CHECK(parse_json(R"([{"a":1},{"a":{"a":2}}])", "f").size() == 2);
}

TEST_CASE("json: integers beyond 64 bits are rounded, or refused where they must stay exact") {
  using netcl::base::BigIntegers;
  for (const char* text :
       {"18446744073709551616", "-9223372036854775809", "[1,1000000000000000000000000000000]"}) {
    CAPTURE(text);
    CHECK_NOTHROW(parse_json(text, "f"));
    CHECK_THROWS_WITH(parse_json(text, "f", BigIntegers::kRefuse),
                      Catch::Matchers::EndsWith(" has more than 64 bits"));
  }
  CHECK_THROWS_WITH(
      parse_json(R"({"18446744073709551616":"-18446744073709551616","a":[1,18446744073709551616]})",
                 "f", BigIntegers::kRefuse),
      "f@55: field 'a[1]': the integer 18446744073709551616 has more than 64 bits");
  CHECK(parse_json("1e30", "f", BigIntegers::kRefuse) == 1e30);
  CHECK(parse_json("1.5", "f", BigIntegers::kRefuse) == 1.5);
  CHECK(parse_json("18446744073709551615", "f", BigIntegers::kRefuse) == 18446744073709551615u);
  CHECK(parse_json("-9223372036854775808", "f", BigIntegers::kRefuse) == INT64_MIN);
}

TEST_CASE("json: missing or mistyped fields are named") {
  const auto value = parse_json(R"({"n":1,"s":"x","big":18446744073709551615})", "f");
  CHECK(netcl::base::require_int(value, "n", "f") == 1);
  CHECK(netcl::base::require_string(value, "s", "f") == "x");
  CHECK_THROWS_WITH(netcl::base::require_int(value, "s", "f"),
                    "f: field 's': expected an integer, found string");
  CHECK_THROWS_AS(netcl::base::require_int(value, "big", "f"), FormatError);
  CHECK_THROWS_AS(netcl::base::require_bool(value, "n", "f"), FormatError);
  CHECK_THROWS_WITH(netcl::base::require_field(value, "q", "f"), "f: field 'q' is missing");
  CHECK_THROWS_AS(netcl::base::require_field(parse_json("[]", "f"), "q", "f"), FormatError);
}

TEST_CASE("json: a message is one short line whatever the input holds") {
  const std::string text = "[\"" + std::string(100000, 'x') + "\x1B[31m\n";
  try {
    parse_json(text, "f.json");
    FAIL("accepted");
  } catch (const FormatError& error) {
    const std::string message = error.what();
    CHECK(message.size() < 300);
    CHECK(message.find_first_of("\n\x1B") == std::string::npos);
  }
}

TEST_CASE("json: many elements or keys take no quadratic time") {
  constexpr size_t kCount = 200'000;
  std::string rows = "[";
  std::string fields = "{";
  for (size_t i = 0; i < kCount; ++i) {
    rows += i == 0 ? "{\"a\":[]}" : ",{\"a\":[]}";
    fields += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
  }
  const auto start = std::chrono::steady_clock::now();
  CHECK(parse_json(rows + "]", "f").size() == kCount);
  CHECK(parse_json(fields + "}", "f").size() == kCount);
  // Quadratic it takes a minute.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}
