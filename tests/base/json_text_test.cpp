// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <string>

#include "base/json_file.h"
#include "base/rng.h"
#include "support/catch.h"

using netcl::base::find_json_depth;
using netcl::base::find_json_number;
using netcl::base::find_json_string;
using netcl::base::is_json_number;
using netcl::base::Json;
using netcl::base::json_element_text;
using netcl::base::json_member_text;

namespace {

constexpr const char* kNumbers[] = {"0",    "-0", "1.10", "1e400", "-3.25E+07", "9007199254740993",
                                    "12e-3"};

// A value with blanks between its parts.
std::string random_value(netcl::base::Rng& rng, int depth) {
  const auto blank = [&] { return std::string(rng.below(2), ' '); };
  switch (rng.below(depth > 0 ? 6 : 4)) {
    case 0:
      return kNumbers[rng.below(std::size(kNumbers))];
    case 1:
      return rng.below(2) == 0 ? "null" : "true";
    case 2:
      return R"("a\"b]},{[\\")";
    case 3:
      return R"("")";
    default:
      break;
  }
  const bool is_object = rng.below(2) == 0;
  std::string text = (is_object ? "{" : "[") + blank();
  const uint64_t size = rng.below(4);
  for (uint64_t i = 0; i < size; ++i) {
    text += (i > 0 ? "," : "") + blank();
    text += is_object ? "\"k]" + std::to_string(i) + "\"" + blank() + ":" + blank() : "";
    text += random_value(rng, depth - 1) + blank();
  }
  return text + (is_object ? "}" : "]");
}

}  // namespace

TEST_CASE("json text: values are found as they stand") {
  netcl::base::Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    const std::string first = random_value(rng, 3);
    const std::string second = random_value(rng, 3);
    const std::string array = " [" + first + " ,\n" + second + "] ";
    const std::string object = "{\"x\":" + first + ", \"i\\u0064\" :\t" + second + "}";
    CAPTURE(array, object);
    REQUIRE(json_element_text(array, 0) == first);
    REQUIRE(json_element_text(array, 1) == second);
    REQUIRE(json_element_text(array, 2).empty());
    REQUIRE(json_member_text(object, "x") == first);
    REQUIRE(json_member_text(object, "id") == second);
    REQUIRE(json_member_text(object, "ID").empty());
    REQUIRE(json_member_text(array, "x").empty());
    REQUIRE(json_element_text(object, 0).empty());
  }
}

TEST_CASE("json text: no damaged text takes a search astray") {
  const std::string good = R"({"a":[1,{"b\"":"\\"}],"id":-1.5e3,"c":"]"})";
  for (size_t size = 0; size <= good.size(); ++size) {
    json_member_text(good.substr(0, size), "c");
    json_element_text("[" + good.substr(0, size), 9);
    find_json_number(good.substr(0, size), "7");
    find_json_string(good.substr(0, size), 4);
    find_json_depth(good.substr(0, size), 3);
  }
  netcl::base::Rng rng(8);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int i = 0; i < 3; ++i) {
      text[rng.below(text.size())] = "{}[]\",:\\ 1-"[rng.below(11)];
    }
    const std::string_view found = json_member_text(text, "id");
    CHECK((found.empty() ||
           (found.data() >= text.data() && found.end() <= std::string_view(text).end())));
    json_element_text(text, 2);
    find_json_number(text, "-1.5e3");
    find_json_string(text, 5);
    find_json_depth(text, 3);
  }
}

TEST_CASE("json text: the first number written so, not in strings or other numbers") {
  CHECK(find_json_number(R"(["12",112,12.0,120,-12,12])", "12") == 23);
  CHECK(find_json_number("12", "12") == 0);
  CHECK(find_json_number("[1,2]", "3") == std::string::npos);
}

TEST_CASE("json text: strings by their number, brackets by their depth") {
  const std::string text = R"({"a\\":"\"[{","b":[["c"],[{}]]})";
  CHECK(find_json_string(text, 0) == text.find(R"("a)"));
  CHECK(find_json_string(text, 1) == text.find(R"("\"[)"));
  CHECK(find_json_string(text, 2) == text.find(R"("b")"));
  CHECK(find_json_string(text, 3) == text.find(R"("c")"));
  CHECK(find_json_string(text, 4) == std::string::npos);
  CHECK(find_json_string("7", 0) == std::string::npos);
  CHECK(find_json_depth(text, 1) == 0);
  CHECK(find_json_depth(text, 2) == text.find(R"([["c)"));
  CHECK(find_json_depth(text, 3) == text.find(R"(["c)"));
  CHECK(find_json_depth(text, 4) == text.find("{}"));
  CHECK(find_json_depth(text, 5) == std::string::npos);
  CHECK(find_json_depth("[]]][[", 2) == 5);
}

TEST_CASE("json text: numbers by JSON's grammar") {
  for (const char* text : kNumbers) {
    CHECK(is_json_number(text));
  }
  for (const char* text : {"", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "1 ", "0x1", "1.e3",
                           "NaN", "--1", "1e1.5"}) {
    CAPTURE(text);
    CHECK_FALSE(is_json_number(text));
  }
}
