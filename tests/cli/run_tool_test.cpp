// SPDX-License-Identifier: Apache-2.0
#include "cli/run_tool.h"

#include <limits>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "cli/progress_report.h"
#include "cli/tool_app.h"
#include "support/catch.h"

using namespace netcl;

namespace {

// Parses `words` as the options of a tool that has one of each kind.
struct ParsedTool {
  bool flag = false;
  std::string text;
  std::vector<std::string> texts;
  std::vector<std::string> files;
  uint64_t number = 7;
  int64_t signed_number = 0;
  double real = 0;
  int choice = 0;

  explicit ParsedTool(const std::vector<std::string>& words) {
    cli::ToolApp app("tool", "A tool.");
    app.take_files(files, "[FILES...]", "FILES  input");
    app.add_switch("--flag", flag, "A switch");
    app.add_text("-t,--text", text, "TEXT", "A text");
    app.add_texts("--each", texts, "TOK", "Texts");
    app.add_integer("--number", number, 1, 100, "A number");
    app.add_signed_integer("--signed", signed_number, -5, 5, "A number");
    app.add_real("--real", real, 0, 1, "A number");
    app.add_choice<int>("--choice", choice, {{"one", 1}, {"two", 2}}, "A word");
    std::vector<const char*> argv{"tool"};
    for (const std::string& word : words) {
      argv.push_back(word.c_str());
    }
    app.parse_arguments(static_cast<int>(argv.size()), argv.data());
  }
};

std::string usage_error_of(const std::vector<std::string>& words) {
  try {
    ParsedTool tool(words);
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("run_action: every kind of failure has its exit code", "[cli]") {
  const auto code = [](auto thrown) {
    return cli::run_action("tool", [&]() -> int { throw thrown; });
  };
  CHECK(cli::run_action("tool", [] { return 0; }) == 0);
  CHECK(cli::run_action("tool", [] { return 1; }) == 1);
  CHECK(code(base::UsageError("x")) == 2);
  CHECK(code(base::FormatError("x")) == 3);
  CHECK(code(base::IoError("x")) == 4);
  CHECK(code(base::DeviceError("x")) == 5);
  CHECK(code(std::bad_alloc()) == 5);
  CHECK(code(std::logic_error("x")) == 70);
  CHECK(code(42) == 70);
}

TEST_CASE("tool app: values arrive as they were typed", "[cli]") {
  const ParsedTool tool({"--flag", "-t", "x y", "--number", "100", "--signed", "-5", "--real=0.25",
                         "--choice", "two", "a", "-", "--", "-b"});
  CHECK(tool.flag);
  CHECK(tool.text == "x y");
  CHECK(tool.number == 100);
  CHECK(tool.signed_number == -5);
  CHECK(tool.real == 0.25);
  CHECK(tool.choice == 2);
  CHECK(tool.files == std::vector<std::string>{"a", "-", "-b"});
}

TEST_CASE("tool app: brackets and braces are no lists", "[cli]") {
  const ParsedTool tool({"--each", "[PAD]", "--each={}", "--each", "a,b", "--each", "--flag",
                         "--each", "", "[f].txt", "[g]"});
  CHECK(tool.texts == std::vector<std::string>{"[PAD]", "{}", "a,b", "--flag", ""});
  CHECK_FALSE(tool.flag);
  CHECK(tool.files == std::vector<std::string>{"[f].txt", "[g]"});
}

TEST_CASE("tool app: a bad number names the option and the range", "[cli]") {
  for (const char* bad : {"", "x", "1x", " 1", "1 ", "+1", "1.5", "0x10", "1e1", "--flag", "nan"}) {
    INFO(bad);
    CHECK(usage_error_of({"--number", bad}).find("--number: ") == 0);
    CHECK(usage_error_of({"--number", bad}).find("is not a whole number") != std::string::npos);
  }
  for (const char* bad : {"0", "101", "-1", "-99999999999999999999", "18446744073709551616"}) {
    CHECK(usage_error_of({"--number", bad}) ==
          std::string("--number: ") + bad + " is out of range; allowed is 1 to 100");
  }
  CHECK(usage_error_of({"--signed", "6"}) == "--signed: 6 is out of range; allowed is -5 to 5");
  CHECK(usage_error_of({"--real", "nan"}) == "--real: nan is out of range; allowed is 0 to 1");
  CHECK(usage_error_of({"--real", "0.5f"}) == "--real: '0.5f' is not a number");
}

TEST_CASE("tool app: mistakes are answered in one line", "[cli]") {
  CHECK(usage_error_of({"--txt", "x"}) == "unknown option '--txt' (did you mean --text?)");
  CHECK(usage_error_of({"--numb", "x"}) == "unknown option '--numb' (did you mean --number?)");
  CHECK(usage_error_of({"--completely-different"}) == "unknown option '--completely-different'");
  CHECK(usage_error_of({"-z"}) == "unknown option '-z'");
  CHECK(usage_error_of({"--text"}) == "--text needs a value");
  CHECK(usage_error_of({"--text=", "x"}) == "--text has an empty value after '='");
  CHECK(usage_error_of({"-t", "a", "--text", "b"}) == "--text: given 2 times; give it once");
  CHECK(usage_error_of({"--choice", "three"}) ==
        "--choice: 'three' is not known; allowed is one|two");
  CHECK(usage_error_of({""}) == "empty file name; '-' is standard input");
  CHECK(usage_error_of({"--flag=maybe"}) == "--flag takes no value");
}

TEST_CASE("progress: percent never passes 100 and reaches it only at the end", "[cli]") {
  CHECK(cli::percent_done(0, 10) == 0);
  CHECK(cli::percent_done(5, 10) == 50);
  CHECK(cli::percent_done(999999, 1000000) == 99);
  CHECK(cli::percent_done(10, 10) == 100);
  CHECK(cli::percent_done(11, 10) == 100);
  const uint64_t huge = std::numeric_limits<uint64_t>::max();
  CHECK(cli::percent_done(huge - 1, huge) == 99);
}

TEST_CASE("progress: numbers and times are short", "[cli]") {
  CHECK(cli::short_number(0) == "0");
  CHECK(cli::short_number(999.4) == "999");
  CHECK(cli::short_number(999.6) == "1.0 k");
  CHECK(cli::short_number(99940) == "99.9 k");
  CHECK(cli::short_number(99960) == "100 k");
  CHECK(cli::short_number(999600) == "1.0 M");
  CHECK(cli::short_number(1.8e19) == "18.0 E");
  CHECK(cli::short_time(0) == "0:00");
  CHECK(cli::short_time(59.1) == "1:00");
  CHECK(cli::short_time(3599) == "59:59");
  CHECK(cli::short_time(3599.5) == "1:00:00");
  CHECK(cli::short_time(36e5 + 1).empty());
  CHECK(cli::short_time(-1).empty());
  CHECK(cli::short_time(std::numeric_limits<double>::quiet_NaN()).empty());
}

TEST_CASE("progress: the bar has rates and the time left where they are known", "[cli]") {
  base::Progress count{"count", "bytes", 250000000, 1000000000, "words", 60000000};
  CHECK(cli::progress_line(count, 0, 0) == "count [####............] 25 % of 1.0 GB");
  CHECK(cli::progress_line(count, 205e6, 52.3e6) ==
        "count [####............] 25 % of 1.0 GB, 205 MB/s, 52.3 M words/s, 0:04 left");
  count.total = 0;
  CHECK(cli::progress_line(count, 205e6, 52.3e6) == "count 250 MB, 205 MB/s, 52.3 M words/s");
  const base::Progress merge{"merge", "merges", 1000, 1000};
  CHECK(cli::progress_line(merge, 12345, 0) ==
        "merge [################] 100 % of 1.0 k merges, 12.3 k merges/s");
  CHECK(cli::progress_line({"encode", "bytes", 1, 9}, 0, 0) ==
        "encode [#...............] 11 % of 9 B");
}

TEST_CASE("outputs: the same file twice is refused", "[cli]") {
  CHECK_NOTHROW(cli::refuse_same_outputs({"-", "", "", "a", "b"}));
  CHECK_NOTHROW(cli::refuse_same_outputs({"/dev/null", "/dev/null"}));
  CHECK_THROWS_AS(cli::refuse_same_outputs({"-", "-"}), base::UsageError);
  CHECK_THROWS_AS(cli::refuse_same_outputs({"a", "./a"}), base::UsageError);
}
