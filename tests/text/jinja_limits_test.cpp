// SPDX-License-Identifier: Apache-2.0
// Templates that would take for ever, or all memory, or overflow the stack.
#include <string>

#include "jinja_render.h"
#include "support/catch.h"
#include "text/jinja_filters.h"

using Catch::Matchers::Contains;
using netcl::tests::error_of;
using netcl::tests::render;
using netcl::text::JinjaOptions;

namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

// Low enough that a test takes no time.
JinjaOptions small_limits() {
  JinjaOptions options;
  options.limits.steps = 200'000;
  options.limits.made_bytes = 100'000'000;
  options.limits.output_bytes = 1'000'000;
  return options;
}

std::string small_error(const std::string& source) {
  return error_of(source, "{}", small_limits());
}

}  // namespace

TEST_CASE("jinja limits: nested source ends while it is parsed") {
  CHECK_THAT(error_of("{{ " + repeated("(", 100'000) + repeated(")", 100'000) + "}}"),
             Contains("nested deeper than 200 levels"));
  CHECK_THAT(error_of("{{ " + repeated("[", 100'000) + repeated("]", 100'000) + "}}"),
             Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeated("{1:", 100'000) + repeated("}", 100'000) + "}}"),
             Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeated("-", 100'000) + "1 }}"), Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeated("not ", 100'000) + "1 }}"), Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeated("f(", 100'000) + repeated(")", 100'000) + "}}"),
             Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeated("1 if 1 else ", 100'000) + "1 }}"),
             Contains("nested deeper"));
  CHECK_THAT(error_of("{{ 1" + repeated(" + 1", 100'000) + " }}"), Contains("operations in a row"));
  CHECK_THAT(error_of("{{ x" + repeated(".a", 100'000) + " }}"), Contains("operations in a row"));
  CHECK_THAT(error_of("{{ x" + repeated("|e", 100'000) + " }}"), Contains("operations in a row"));
  CHECK_THAT(error_of(repeated("{% if 1 %}", 100'000)), Contains("nested deeper"));
  CHECK_THAT(error_of(repeated("{% for x in y %}", 100'000)), Contains("nested deeper"));
  CHECK_THAT(error_of("{% set " + repeated("(", 100'000) + repeated(")", 100'000) + "%}"),
             Contains("nested deeper"));
  // What is long without being nested is fine.
  CHECK(render("{{ 1" + repeated(" ~ 1", 10'000) + " }}").size() == 10'001);
  CHECK(render("{% if 0 %}" + repeated("{% elif 0 %}", 10'000) + "{% else %}x{% endif %}") == "x");
}

TEST_CASE("jinja limits: loops and recursion end") {
  const std::string loops = "{% for a in range(90000) %}{% for b in range(90000) %}";
  const std::string ends = "{% endfor %}{% endfor %}";
  CHECK_THAT(small_error(loops + ends), Contains("more than 200000 steps"));
  CHECK_THAT(small_error(loops + "x" + ends), Contains("more than 200000 steps"));
  CHECK_THAT(error_of("{{ range(10**9) | list }}"), Contains("more than 100000 numbers"));
  CHECK_THAT(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
             Contains("nested deeper than 1000 levels"));
  CHECK_THAT(error_of("{% macro a(x) %}{% for i in [1] %}{% filter upper %}{% if 1 %}"
                      "{% set y %}{{ [(1 ~ (a(x)))] }}{% endset %}{% endif %}{% endfilter %}"
                      "{% endfor %}{% endmacro %}{{ a(1) }}"),
             Contains("nested deeper than 1000 levels"));
  CHECK_THAT(error_of("{% macro m() %}{{ caller() }}{% endmacro %}"
                      "{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% endmacro %}{{ n() }}"),
             Contains("nested deeper than 1000 levels"));
  CHECK_THAT(error_of("{% for x in [[]] recursive %}{{ loop([x]) }}{% endfor %}"),
             Contains("nested deeper"));
}

TEST_CASE("jinja limits: strings and lists stay small") {
  CHECK_THAT(error_of("{{ 'x' * 10**9 }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ 'x' * 10**30 }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ 10**10**10 }}"), Contains("more than 127 bits"));
  CHECK_THAT(error_of("{{ 'x'.ljust(10**9) }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ 'x'.center(10**30) }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ '%999999999d' % 1 }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ '{:999999999}'.format(1) }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ 'a\\nb' | indent(10**9) }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ '\\t'.expandtabs(10**9) }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(error_of("{{ '1'.zfill(10**9) }}"), Contains("beyond 256 MiB"));
  CHECK_THAT(small_error("{{ [1] * 10**9 }}"), Contains("more than"));
  CHECK_THAT(small_error("{% set ns = namespace(s='x') %}{% for i in range(40) %}"
                         "{% set ns.s = ns.s ~ ns.s %}{% endfor %}"),
             Contains("bytes"));
  CHECK_THAT(small_error("{% set ns = namespace(s='x' * 999999, l=[]) %}{% for i in range(9999) %}"
                         "{% set ns.l = ns.l + [ns.s ~ i] %}{% endfor %}"),
             Contains("bytes of strings and lists"));
  CHECK_THAT(small_error("{% for i in range(90000) %}{{ 'x' * 100 }}{% endfor %}"),
             Contains("beyond 1000000 bytes"));
  CHECK_THAT(small_error("{% set s %}{% for i in range(90000) %}{{ 'x' * 100 }}{% endfor %}"
                         "{% endset %}"),
             Contains("beyond 1000000 bytes"));
}

TEST_CASE("jinja limits: going through long strings is paid for") {
  const std::string s = "{% set s = 'a' * 900000 %}";
  const std::string many = "{% for i in range(90000) %}";
  for (const char* expression :
       {"s[i]", "s[1:i]", "s[::-1]", "s | length", "s.find('b')", "s.rfind('b')", "'b' in s",
        "s.count('b')", "s.isalpha()", "s is lower", "s == s ~ ''", "s.strip('a')"}) {
    CAPTURE(expression);
    CHECK_THAT(small_error(s + many + "{% if " + expression + " %}{% endif %}{% endfor %}"),
               Contains("more than"));
  }
  CHECK_THAT(small_error("{{ ('a,' * 300000).split(',') | length }}"), Contains("200000 steps"));
  CHECK_THAT(small_error("{{ ('a,' * 300000).rsplit(',') | length }}"), Contains("200000 steps"));
  CHECK_THAT(small_error("{{ ('a ' * 300000).split() | length }}"), Contains("200000 steps"));
  CHECK_THAT(small_error("{{ ('a\n' * 300000).splitlines() | length }}"), Contains("200000 steps"));
  CHECK_THAT(small_error("{{ ('\n' * 300000) | indent }}"), Contains("200000 steps"));
  CHECK_THAT(small_error("{{ ('a ' * 300000) | wordwrap(1) }}"), Contains("more than"));
  CHECK_THAT(small_error("{{ ('a' * 900000) | list | length }}"), Contains("200000 steps"));
  // Searching takes no more than linear time.
  const std::string hard = "'a' * 2000000 ~ 'b'";
  CHECK(render(s + "{{ s.find(" + hard + ") }}{{ (s * 4).find(" + hard + ") }}") == "-1-1");
  CHECK(render(s + "{{ (s * 4).rfind('b' ~ 'a' * 2000000) }}") == "-1");
  CHECK(render(s + "{{ (" + hard + ") in s * 4 }}{{ (s * 4).count(" + hard + ") }}") == "False0");
  CHECK(render(s + "{{ (s * 4).split(" + hard + ") | length }}") == "1");
  CHECK(render(s + "{{ (s * 4).rsplit('b' ~ 'a' * 2000000) | length }}") == "1");
  CHECK(render(s + "{{ s.strip('b' * 900000 ~ 'a') }}") == "");
  // So does where pieces of several origins come from.
  CHECK_THAT(error_of("{{ ('a' ~ u) * 10**7 }}", R"({"u":"b"})"),
             Contains("pieces of the template and of others"));
}

TEST_CASE("jinja limits: each filter pays for the length of its string in steps") {
  namespace jinja = netcl::text::jinja;
  JinjaOptions options;
  options.limits.steps = 14'000;
  for (const jinja::FilterTable* table :
       {&jinja::string_filters(), &jinja::list_filters(), &jinja::order_filters(),
        &jinja::number_filters(), &jinja::html_filters(), &jinja::pprint_filters()}) {
    for (const auto& entry : *table) {
      CAPTURE(entry.first);
      CHECK_THAT(error_of("{% set x = ('a' * 900000) | " + std::string(entry.first) + " %}", "{}",
                          options),
                 Contains("more than 14000 steps"));
    }
  }
  // What looks at each character pays more, also where the string is not the input itself.
  options.limits.steps = 50'000;
  const std::string s = "{% set s = 'a' * 900000 %}{% set b = ' ' * 900000 %}{% set x = ";
  for (const char* expression : {"s | upper",
                                 "s | lower",
                                 "s | title",
                                 "s | capitalize",
                                 "s | wordcount",
                                 "s | urlencode",
                                 "{s: s} | urlencode",
                                 "s | e",
                                 "[s] | join | forceescape",
                                 "b | trim",
                                 "b.rstrip()",
                                 "b.strip(' ')",
                                 "s | replace('a', 'b')",
                                 "s.replace('', 'b')",
                                 "s | tojson",
                                 "[s] | tojson",
                                 "{s: 1} | tojson",
                                 "[s] | string",
                                 "{s: 1} | string",
                                 "s | pprint",
                                 "s.upper()",
                                 "s.swapcase()",
                                 "s.casefold()",
                                 "s.title()",
                                 "s.isalpha()",
                                 "s.islower()",
                                 "s.istitle()",
                                 "s.isidentifier()",
                                 "s is lower",
                                 "s.split(None, 1)",
                                 "s.splitlines()",
                                 "s.expandtabs()",
                                 "s.count('a')",
                                 "[s] | sort",
                                 "[s] | min",
                                 "[s] | unique | list",
                                 "{s: 1} | dictsort",
                                 "[s, s] | map('upper') | list",
                                 "{'a': s} | xmlattr",
                                 "'%.3s' % s",
                                 "'%r' % s",
                                 "'{:.3}'.format(s)",
                                 "'{!r}'.format(s)",
                                 "s.startswith((s[:-1] ~ 'b',) * 9)"}) {
    CAPTURE(expression);
    CHECK_THAT(error_of(s + expression + " %}", "{}", options), Contains("more than 50000 steps"));
  }
  CHECK_THAT(error_of("{% set s = 'a' * 900000 %}{% for i in range(9) %}{% set x = '%s' % s %}"
                      "{% set x = s % {} %}{% set x = '{}'.format(s) %}{% endfor %}",
                      "{}", options),
             Contains("more than 50000 steps"));
}

TEST_CASE("jinja limits: values at one time take bounded memory") {
  JinjaOptions options;
  options.limits.memory_bytes = 8'000'000;
  const auto holds_too_much = [&](const std::string& source) {
    CAPTURE(source);
    CHECK_THAT(error_of(source, R"({"u":"b"})", options),
               Contains("the template holds more than 8000000 bytes of values at one time"));
  };
  const std::string rows =
      "{% set ns = namespace(l=[]) %}{% set r = range(9998) | list %}"
      "{% for i in range(999) %}{% set ns.l = ns.l + [";
  const std::string end = "] %}{% endfor %}";
  for (const char* chars :
       {"list", "list | length", "map('upper') | list", "batch(1) | list", "slice(9) | list",
        "sort", "groupby('x', default=1)", "reverse | list", "select | list",
        "join('abcdefghij' * 30)", "wordwrap(1)", "pprint", "indent(1000)"}) {
    holds_too_much("{{ 'a\n' * 99999 ~ '' }}{{ ('a\n' * 99999) | " + std::string(chars) + " }}");
  }
  for (const char* method : {"split()", "rsplit()", "split('a')", "splitlines()", "find('b', 1)",
                             "replace('', 'abc' * 30)", "expandtabs() * 99", "center(9 * 10**6)"}) {
    holds_too_much("{{ ('a\n' * 600000)." + std::string(method) + " }}");
  }
  for (const char* piece : {"'x' * 99999 ~ i",
                            "('a' ~ u) * 9999",
                            "r + [i]",
                            "[1] * 9999",
                            "r[1:]",
                            "r[::-1]",
                            "r | map('string') | list",
                            "dict(r | batch(2))",
                            "{'a': r[:]}",
                            "dict(r | batch(2)).items() | list",
                            "cycler(*r)",
                            "[1] | map('default', *r)",
                            "r | select('in', r[:])",
                            "r | tojson",
                            "r | string",
                            "r | join",
                            "r | batch(2) | list",
                            "r | groupby(0, default=i)",
                            "r | slice(999) | list",
                            "r | sort",
                            "r | reverse | list",
                            "(r ~ i) | upper",
                            "'%9999d' % i",
                            "'{:9999}'.format(i)",
                            "i | string | center(99999)"}) {
    holds_too_much(rows + piece + end);
  }
  holds_too_much("{% for i in range(99999) %}{% set n = namespace(a=i) %}{% endfor %}");
  holds_too_much("{% for i in range(99999) %}{% macro m() %}{% endmacro %}{% endfor %}");
  holds_too_much("{% for i in ('a' * 99999) | map('upper') %}{{ loop.length }}{% endfor %}");
  holds_too_much("{% macro m() %}{{ m(*varargs) }}{% endmacro %}{{ m(*range(9999)) }}");
  holds_too_much(
      "{% macro m() %}{{ 'x' * 99999 }}{% set y %}{{ m() }}{% endset %}{% endmacro %}"
      "{{ m() }}");
  holds_too_much("{% for x in [[1]] recursive %}{{ 'x' * 99999 }}{{ loop([x]) }}{% endfor %}");
  // What is let go of does not count: far more than the limit in all, never more at one time.
  CHECK(render("{% for i in range(999) %}{% set x = 'a' * 99999 ~ i %}{% endfor %}ok", "{}",
               options) == "ok");
  CHECK(render("{% set ns = namespace(l=1) %}{% for i in range(99) %}"
               "{% set ns.l = ('a' * 9999) | list %}{% endfor %}{{ ns.l | length }}",
               "{}", options) == "9999");
  // The variables count too, and say which one it was.
  CHECK_THAT(error_of("x", "{\"v\":\"" + repeated("x", 9'000'000) + "\"}", options),
             Contains("variable 'v': the template holds more than"));
}

TEST_CASE("jinja limits: values are not nested deeply") {
  const std::string many = "{% for i in range(9999) %}";
  CHECK_THAT(
      error_of("{% set ns = namespace(l=[]) %}" + many + "{% set ns.l = [ns.l] %}{% endfor %}"),
      Contains("nested deeper than 400 levels"));
  CHECK_THAT(
      error_of("{% set ns = namespace(l={}) %}" + many + "{% set ns.l = {1: ns.l} %}{% endfor %}"),
      Contains("nested deeper than 400 levels"));
  CHECK_THAT(error_of("{% set ns = namespace(l=[1]) %}" + many +
                      "{% set ns.l = ns.l | map('e') %}{% endfor %}{{ ns.l | list }}"),
             Contains("nested deeper than 400 levels"));
  CHECK_THAT(error_of("{% set ns = namespace(l=1) %}" + many +
                      "{% for x in [ns.l] %}{% set ns.l = loop %}{% endfor %}{% endfor %}"),
             Contains("nested deeper than 400 levels"));
  // Elements that are shared double at each level.
  CHECK_THAT(small_error("{% set ns = namespace(a=[], b=[]) %}{% for i in range(99) %}"
                         "{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}"
                         "{{ ns.a == ns.b }}"),
             Contains("more than 200000 steps"));
  CHECK_THAT(small_error("{% set ns = namespace(a=[]) %}{% for i in range(99) %}"
                         "{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}"),
             Contains("more than 200000 steps"));
}

TEST_CASE("jinja limits: values that refer to themselves are freed and not printed for ever") {
  CHECK(render("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me.me is defined }}") ==
        "True");
  CHECK_THAT(error_of("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}"),
             Contains("nested deeper"));
  CHECK(render("{% macro m() %}{{ m.name }}{% endmacro %}{% set ns = namespace(m=m) %}"
               "{{ ns.m() }}") == "m");
  CHECK(render("{% for x in [1] recursive %}{% set y = loop %}{{ loop.changed(loop) }}"
               "{% endfor %}") == "True");
  CHECK(render("{% set ns = namespace(m=1) %}{% for i in range(3000) %}{% set old = ns.m %}"
               "{% macro m() %}{{ old }}{% endmacro %}{% set ns.m = m %}{% endfor %}ok") == "ok");
}
